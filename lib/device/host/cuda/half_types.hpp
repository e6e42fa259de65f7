// SPDX-License-Identifier: Apache-2.0
// half and half2 in software: conversions round to nearest, ties to even, exactly; arithmetic is that of the
// values rounded once. float has more than twice half's precision, so one more rounding after a float
// operation is harmless (Figueroa 1995) for + - * / and sqrt; fma goes through rounding to odd.
#pragma once

#include "math_functions.hpp"

namespace lossgrad_cuda {

// The float next to `value`, with an odd significand when inexact: rounding it again to fewer bits gives what
// rounding `value` once would have given (Boldo and Melquiond 2008). Infinite and NaN pass through.
__forceinline__ float round_to_odd(double value) {
  float rounded = static_cast<float>(value);
  if (__builtin_isinf(rounded) && !__builtin_isinf(value)) {
    return value > 0 ? __FLT_MAX__ : -__FLT_MAX__;
  }
  uint32_t bits = __builtin_bit_cast(uint32_t, rounded);
  if (static_cast<double>(rounded) == value || value != value || (bits & 1u) != 0) return rounded;
  const bool away = __builtin_fabs(static_cast<double>(rounded)) > __builtin_fabs(value);
  bits = away ? bits - 1 : bits + 1;
  return __builtin_bit_cast(float, bits);
}

// a * b + c for a product that is exact in double, rounded to odd in double.
__forceinline__ double fma_to_odd(double a, double b, double c) {
  const double product = a * b;
  const double sum = product + c;
  const double part = sum - product;
  const double error = (product - (sum - part)) + (c - part);
  uint64_t bits = __builtin_bit_cast(uint64_t, sum);
  if (error == 0 || error != error || (bits & 1u) != 0) return sum;
  bits = ((error > 0) == (sum > 0)) ? bits + 1 : bits - 1;
  return __builtin_bit_cast(double, bits);
}

__forceinline__ unsigned short half_bits(float value) {
  uint32_t bits = __builtin_bit_cast(uint32_t, value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return 0x7fffu;  // CUDA's NaN
  if (bits >= 0x47800000u) return static_cast<unsigned short>(sign | 0x7c00u);
  if (bits < 0x38800000u) {
    // Half's subnormal spacing is that of floats just above 0.5: the addition does the rounding.
    const float shifted = __builtin_bit_cast(float, bits) + 0.5f;
    return static_cast<unsigned short>(sign | (__builtin_bit_cast(uint32_t, shifted) - 0x3f000000u));
  }
  bits += 0xfffu + ((bits >> 13) & 1u) - (112u << 23);
  return static_cast<unsigned short>(sign | (bits >> 13));
}

__forceinline__ float half_value(unsigned short half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(half & 0x7fffu) << 13;
  if (magnitude >= 0x0f800000u) return __builtin_bit_cast(float, sign | 0x70000000u | magnitude);
  const float scaled = __builtin_bit_cast(float, magnitude) * 0x1p112f;
  return __builtin_bit_cast(float, sign | __builtin_bit_cast(uint32_t, scaled));
}

}  // namespace lossgrad_cuda

struct __half_raw {
  unsigned short x;
};

struct __align__(2) __half {
  unsigned short __x;
  __half() = default;
  __half(__half_raw raw) : __x(raw.x) {}
  __half(float v) : __x(lossgrad_cuda::half_bits(v)) {}
  __half(double v) : __x(lossgrad_cuda::half_bits(lossgrad_cuda::round_to_odd(v))) {}
  __half(int v) : __half(static_cast<double>(v)) {}
  __half(unsigned v) : __half(static_cast<double>(v)) {}
  __half(short v) : __half(static_cast<float>(v)) {}
  __half(unsigned short v) : __half(static_cast<float>(v)) {}
  __half(long long v) : __half(static_cast<double>(v)) {}
  __half(unsigned long long v) : __half(static_cast<double>(v)) {}
  operator float() const { return lossgrad_cuda::half_value(__x); }
  operator __half_raw() const { return {__x}; }
};
using half = __half;

struct __align__(4) __half2 {
  __half x, y;
  __half2() = default;
  __half2(__half low, __half high) : x(low), y(high) {}
};
using half2 = __half2;

__forceinline__ __half __float2half(float v) { return __half(v); }
__forceinline__ __half __float2half_rn(float v) { return __half(v); }
__forceinline__ __half __double2half(double v) { return __half(v); }
__forceinline__ float __half2float(__half v) { return lossgrad_cuda::half_value(v.__x); }
__forceinline__ __half __int2half_rn(int v) { return __half(v); }
__forceinline__ __half __ushort_as_half(unsigned short v) { return __half_raw{v}; }
__forceinline__ __half __short_as_half(short v) { return __half_raw{static_cast<unsigned short>(v)}; }
__forceinline__ unsigned short __half_as_ushort(__half v) { return v.__x; }
__forceinline__ short __half_as_short(__half v) { return static_cast<short>(v.__x); }
__forceinline__ __half2 __halves2half2(__half low, __half high) { return {low, high}; }
__forceinline__ __half2 make_half2(__half x, __half y) { return {x, y}; }
__forceinline__ __half2 __half2half2(__half v) { return {v, v}; }
__forceinline__ __half2 __float2half2_rn(float v) { return {__half(v), __half(v)}; }
__forceinline__ __half2 __floats2half2_rn(float low, float high) { return {__half(low), __half(high)}; }
__forceinline__ __half2 __float22half2_rn(float2 v) { return {__half(v.x), __half(v.y)}; }
__forceinline__ float2 __half22float2(__half2 v) { return {__half2float(v.x), __half2float(v.y)}; }

__forceinline__ __half __low2half(__half2 v) { return v.x; }
__forceinline__ __half __high2half(__half2 v) { return v.y; }

#define LOSSGRAD_SMALL_FLOAT __half
#define LOSSGRAD_SMALL_FLOAT2 __half2
#include "small_float_operators.inc"
#undef LOSSGRAD_SMALL_FLOAT
#undef LOSSGRAD_SMALL_FLOAT2

#define CUDART_INF_FP16 __ushort_as_half(0x7c00u)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fffu)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000u)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00u)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bffu)
