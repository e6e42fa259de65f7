// SPDX-License-Identifier: Apache-2.0
// Atomic functions: blocks run in parallel, so these are real atomics, relaxed like CUDA's. All return the
// old value.
#pragma once

#include "bfloat16_types.hpp"

namespace lossgrad_cuda {

template <unsigned long kBytes>
struct BitsOfSize;
template <>
struct BitsOfSize<2> {
  using type = uint16_t;
};
template <>
struct BitsOfSize<4> {
  using type = uint32_t;
};
template <>
struct BitsOfSize<8> {
  using type = uint64_t;
};

// *address = change(*address) in one step.
template <class T, class Change>
__forceinline__ T atomic_update(T* address, Change change) {
  using Bits = typename BitsOfSize<sizeof(T)>::type;
  Bits* const bits = reinterpret_cast<Bits*>(address);
  Bits old = __atomic_load_n(bits, __ATOMIC_RELAXED);
  while (true) {
    const T value = __builtin_bit_cast(T, old);
    const Bits wanted = __builtin_bit_cast(Bits, change(value));
    if (__atomic_compare_exchange_n(bits, &old, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
      return value;
  }
}

}  // namespace lossgrad_cuda

#define LOSSGRAD_ATOMIC(name, type, expression)                                                     \
  __forceinline__ type name(type* address, type value) {                                            \
    return lossgrad_cuda::atomic_update(address, [value](type old) -> type { return expression; }); \
  }                                                                                                 \
  __forceinline__ type name##_block(type* address, type value) { return name(address, value); }     \
  __forceinline__ type name##_system(type* address, type value) { return name(address, value); }
#define LOSSGRAD_ATOMIC_INTEGERS(type)                             \
  LOSSGRAD_ATOMIC(atomicMin, type, old < value ? old : value)      \
  LOSSGRAD_ATOMIC(atomicMax, type, old > value ? old : value)      \
  LOSSGRAD_ATOMIC(atomicAnd, type, static_cast<type>(old & value)) \
  LOSSGRAD_ATOMIC(atomicOr, type, static_cast<type>(old | value))  \
  LOSSGRAD_ATOMIC(atomicXor, type, static_cast<type>(old ^ value)) \
  LOSSGRAD_ATOMIC(atomicExch, type, (static_cast<void>(old), value))
LOSSGRAD_ATOMIC_INTEGERS(int)
LOSSGRAD_ATOMIC_INTEGERS(unsigned)
LOSSGRAD_ATOMIC_INTEGERS(long long)
LOSSGRAD_ATOMIC_INTEGERS(unsigned long long)
LOSSGRAD_ATOMIC(atomicAdd, int, static_cast<int>(static_cast<unsigned>(old) + static_cast<unsigned>(value)))
LOSSGRAD_ATOMIC(atomicAdd, unsigned, old + value)
LOSSGRAD_ATOMIC(atomicAdd, unsigned long long, old + value)
LOSSGRAD_ATOMIC(atomicAdd, float, old + value)
LOSSGRAD_ATOMIC(atomicAdd, double, old + value)
LOSSGRAD_ATOMIC(atomicAdd, __half, old + value)
LOSSGRAD_ATOMIC(atomicAdd, __nv_bfloat16, old + value)
LOSSGRAD_ATOMIC(atomicAdd, __half2, old + value)
LOSSGRAD_ATOMIC(atomicAdd, __nv_bfloat162, old + value)
LOSSGRAD_ATOMIC(atomicSub, int, static_cast<int>(static_cast<unsigned>(old) - static_cast<unsigned>(value)))
LOSSGRAD_ATOMIC(atomicSub, unsigned, old - value)
LOSSGRAD_ATOMIC(atomicExch, float, (static_cast<void>(old), value))
LOSSGRAD_ATOMIC(atomicInc, unsigned, old >= value ? 0u : old + 1u)
LOSSGRAD_ATOMIC(atomicDec, unsigned, (old == 0 || old > value) ? value : old - 1u)
#undef LOSSGRAD_ATOMIC_INTEGERS
#undef LOSSGRAD_ATOMIC

#define LOSSGRAD_ATOMIC_CAS(type)                                                                     \
  __forceinline__ type atomicCAS(type* address, type compare, type value) {                           \
    __atomic_compare_exchange_n(address, &compare, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
    return compare;                                                                                   \
  }                                                                                                   \
  __forceinline__ type atomicCAS_block(type* address, type compare, type value) {                     \
    return atomicCAS(address, compare, value);                                                        \
  }                                                                                                   \
  __forceinline__ type atomicCAS_system(type* address, type compare, type value) {                    \
    return atomicCAS(address, compare, value);                                                        \
  }
LOSSGRAD_ATOMIC_CAS(unsigned short)
LOSSGRAD_ATOMIC_CAS(int)
LOSSGRAD_ATOMIC_CAS(unsigned)
LOSSGRAD_ATOMIC_CAS(unsigned long long)
#undef LOSSGRAD_ATOMIC_CAS
