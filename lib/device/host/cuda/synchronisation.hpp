// SPDX-License-Identifier: Apache-2.0
// Barriers, fences and warp operations. Every one that may have to wait goes through one of the two functions
// below: an object file that defines one of them needs threads that can wait, and one without runs as a plain
// loop.
#pragma once

#include "bfloat16_types.hpp"

// Emitted only where used, and never inlined or cloned: the runtime looks for these names in the shared
// object.
#ifdef __clang__
#define LOSSGRAD_KEPT_WHOLE __attribute__((visibility("default"), noinline))
#else
#define LOSSGRAD_KEPT_WHOLE __attribute__((visibility("default"), noipa))
#endif
extern "C" inline LOSSGRAD_KEPT_WHOLE int lossgrad_waits_at_barrier(lossgrad_cuda::BarrierKind kind,
                                                                    int predicate) {
  lossgrad_cuda::Context* context = lossgrad_cuda::context();
  asm volatile("" : "+r"(context) : : "memory");
  return context->barrier(context, kind, predicate);
}

extern "C" inline LOSSGRAD_KEPT_WHOLE uint64_t
lossgrad_waits_in_warp(const lossgrad_cuda::WarpRequest* request) {
  lossgrad_cuda::Context* context = lossgrad_cuda::context();
  asm volatile("" : "+r"(context) : : "memory");
  return context->warp(context, request);
}

__forceinline__ void __syncthreads() { lossgrad_waits_at_barrier(lossgrad_cuda::BarrierKind::plain, 0); }
__forceinline__ int __syncthreads_count(int predicate) {
  return lossgrad_waits_at_barrier(lossgrad_cuda::BarrierKind::count, predicate);
}
__forceinline__ int __syncthreads_and(int predicate) {
  return lossgrad_waits_at_barrier(lossgrad_cuda::BarrierKind::all, predicate);
}
__forceinline__ int __syncthreads_or(int predicate) {
  return lossgrad_waits_at_barrier(lossgrad_cuda::BarrierKind::any, predicate);
}

__forceinline__ void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
__forceinline__ void __threadfence_block() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
__forceinline__ void __threadfence_system() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

namespace lossgrad_cuda {

__forceinline__ uint64_t warp(WarpOperation operation, unsigned mask, uint64_t value = 0,
                              unsigned parameter = 0, int width = warpSize) {
  const WarpRequest request{operation, mask, parameter, static_cast<unsigned>(width), value};
  return lossgrad_waits_in_warp(&request);
}

template <class T>
__forceinline__ uint64_t to_bits(T value) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
  uint64_t bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
__forceinline__ T from_bits(uint64_t bits) {
  T value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

template <class T>
__forceinline__ T shuffle(WarpOperation operation, unsigned mask, T value, unsigned parameter, int width) {
  return from_bits<T>(warp(operation, mask, to_bits(value), parameter, width));
}

}  // namespace lossgrad_cuda

template <class T>
__forceinline__ T __shfl_sync(unsigned mask, T value, int source_lane, int width = warpSize) {
  return lossgrad_cuda::shuffle(lossgrad_cuda::WarpOperation::shuffle, mask, value,
                                static_cast<unsigned>(source_lane), width);
}
template <class T>
__forceinline__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  return lossgrad_cuda::shuffle(lossgrad_cuda::WarpOperation::shuffle_up, mask, value, delta, width);
}
template <class T>
__forceinline__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  return lossgrad_cuda::shuffle(lossgrad_cuda::WarpOperation::shuffle_down, mask, value, delta, width);
}
template <class T>
__forceinline__ T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize) {
  return lossgrad_cuda::shuffle(lossgrad_cuda::WarpOperation::shuffle_xor, mask, value,
                                static_cast<unsigned>(lane_mask), width);
}

__forceinline__ void __syncwarp(unsigned mask = lossgrad_cuda::kFullMask) {
  lossgrad_cuda::warp(lossgrad_cuda::WarpOperation::sync, mask);
}
__forceinline__ unsigned __activemask() {
  return static_cast<unsigned>(
      lossgrad_cuda::warp(lossgrad_cuda::WarpOperation::active_mask, lossgrad_cuda::kFullMask));
}
__forceinline__ unsigned __ballot_sync(unsigned mask, int predicate) {
  return static_cast<unsigned>(
      lossgrad_cuda::warp(lossgrad_cuda::WarpOperation::ballot, mask, predicate != 0));
}
__forceinline__ int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
__forceinline__ int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate == 0) == 0;
}

template <class T>
__forceinline__ unsigned __match_any_sync(unsigned mask, T value) {
  return static_cast<unsigned>(
      lossgrad_cuda::warp(lossgrad_cuda::WarpOperation::match_any, mask, lossgrad_cuda::to_bits(value)));
}
template <class T>
__forceinline__ unsigned __match_all_sync(unsigned mask, T value, int* predicate) {
  const unsigned equal = static_cast<unsigned>(
      lossgrad_cuda::warp(lossgrad_cuda::WarpOperation::match_all, mask, lossgrad_cuda::to_bits(value)));
  *predicate = equal != 0;
  return equal;
}

#define LOSSGRAD_REDUCE(name, type, operation)                                                              \
  __forceinline__ type name(unsigned mask, type value) {                                                    \
    return static_cast<type>(                                                                               \
        lossgrad_cuda::warp(lossgrad_cuda::WarpOperation::operation, mask, lossgrad_cuda::to_bits(value))); \
  }
LOSSGRAD_REDUCE(__reduce_add_sync, int, reduce_add)
LOSSGRAD_REDUCE(__reduce_add_sync, unsigned, reduce_add)
LOSSGRAD_REDUCE(__reduce_min_sync, int, reduce_min_signed)
LOSSGRAD_REDUCE(__reduce_min_sync, unsigned, reduce_min_unsigned)
LOSSGRAD_REDUCE(__reduce_max_sync, int, reduce_max_signed)
LOSSGRAD_REDUCE(__reduce_max_sync, unsigned, reduce_max_unsigned)
LOSSGRAD_REDUCE(__reduce_and_sync, unsigned, reduce_and)
LOSSGRAD_REDUCE(__reduce_or_sync, unsigned, reduce_or)
LOSSGRAD_REDUCE(__reduce_xor_sync, unsigned, reduce_xor)
#undef LOSSGRAD_REDUCE
