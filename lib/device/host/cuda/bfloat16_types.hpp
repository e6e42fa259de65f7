// SPDX-License-Identifier: Apache-2.0
// bfloat16 in software, by the same rules as half.
#pragma once

#include "half_types.hpp"

namespace lossgrad_cuda {

__forceinline__ unsigned short bfloat16_bits(float value) {
  const uint32_t bits = __builtin_bit_cast(uint32_t, value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;  // CUDA's NaN
  return static_cast<unsigned short>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

__forceinline__ float bfloat16_value(unsigned short bits) {
  return __builtin_bit_cast(float, static_cast<uint32_t>(bits) << 16);
}

}  // namespace lossgrad_cuda

struct __nv_bfloat16_raw {
  unsigned short x;
};

struct __align__(2) __nv_bfloat16 {
  unsigned short __x;
  __nv_bfloat16() = default;
  __nv_bfloat16(__nv_bfloat16_raw raw) : __x(raw.x) {}
  __nv_bfloat16(float v) : __x(lossgrad_cuda::bfloat16_bits(v)) {}
  __nv_bfloat16(double v) : __x(lossgrad_cuda::bfloat16_bits(lossgrad_cuda::round_to_odd(v))) {}
  __nv_bfloat16(int v) : __nv_bfloat16(static_cast<double>(v)) {}
  __nv_bfloat16(unsigned v) : __nv_bfloat16(static_cast<double>(v)) {}
  __nv_bfloat16(short v) : __nv_bfloat16(static_cast<float>(v)) {}
  __nv_bfloat16(unsigned short v) : __nv_bfloat16(static_cast<float>(v)) {}
  __nv_bfloat16(long long v) : __nv_bfloat16(static_cast<double>(v)) {}
  __nv_bfloat16(unsigned long long v) : __nv_bfloat16(static_cast<double>(v)) {}
  operator float() const { return lossgrad_cuda::bfloat16_value(__x); }
  operator __nv_bfloat16_raw() const { return {__x}; }
};
using nv_bfloat16 = __nv_bfloat16;

struct __align__(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  __nv_bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) : x(low), y(high) {}
};
using nv_bfloat162 = __nv_bfloat162;

__forceinline__ __nv_bfloat16 __float2bfloat16(float v) { return __nv_bfloat16(v); }
__forceinline__ __nv_bfloat16 __float2bfloat16_rn(float v) { return __nv_bfloat16(v); }
__forceinline__ __nv_bfloat16 __double2bfloat16(double v) { return __nv_bfloat16(v); }
__forceinline__ float __bfloat162float(__nv_bfloat16 v) { return lossgrad_cuda::bfloat16_value(v.__x); }
__forceinline__ __nv_bfloat16 __int2bfloat16_rn(int v) { return __nv_bfloat16(v); }
__forceinline__ __nv_bfloat16 __ushort_as_bfloat16(unsigned short v) { return __nv_bfloat16_raw{v}; }
__forceinline__ unsigned short __bfloat16_as_ushort(__nv_bfloat16 v) { return v.__x; }
__forceinline__ __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 low, __nv_bfloat16 high) {
  return {low, high};
}
__forceinline__ __nv_bfloat162 make_bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) { return {x, y}; }
__forceinline__ __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 v) { return {v, v}; }
__forceinline__ __nv_bfloat162 __float2bfloat162_rn(float v) { return {__nv_bfloat16(v), __nv_bfloat16(v)}; }
__forceinline__ __nv_bfloat162 __floats2bfloat162_rn(float low, float high) {
  return {__nv_bfloat16(low), __nv_bfloat16(high)};
}
__forceinline__ __nv_bfloat162 __float22bfloat162_rn(float2 v) {
  return {__nv_bfloat16(v.x), __nv_bfloat16(v.y)};
}
__forceinline__ float2 __bfloat1622float2(__nv_bfloat162 v) {
  return {__bfloat162float(v.x), __bfloat162float(v.y)};
}

__forceinline__ __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
__forceinline__ __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }

#define LOSSGRAD_SMALL_FLOAT __nv_bfloat16
#define LOSSGRAD_SMALL_FLOAT2 __nv_bfloat162
#include "small_float_operators.inc"
#undef LOSSGRAD_SMALL_FLOAT
#undef LOSSGRAD_SMALL_FLOAT2

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80u)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fffu)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000u)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80u)
