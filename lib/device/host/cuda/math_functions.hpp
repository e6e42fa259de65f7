// SPDX-License-Identifier: Apache-2.0
// CUDA's names for mathematics. The C library does the work; its C++ wrapper costs more compile time than
// everything else together, so it is only used when the kernel itself includes standard headers.
#pragma once

#ifdef LOSSGRAD_STANDARD_HEADERS
#include <cmath>

#include <math.h>
#else
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#include <math.h>
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS
#undef isnan
#undef isinf
#undef isfinite
#undef signbit
#endif

#include "vector_types.hpp"

// Like CUDA and IEEE 754-2008 minNum: the other operand for NaN. Inline, unlike the C library's.
extern "C" {
extern inline __attribute__((gnu_inline, always_inline)) float fminf(float a, float b) noexcept {
  return (a < b || b != b) ? a : b;
}
extern inline __attribute__((gnu_inline, always_inline)) float fmaxf(float a, float b) noexcept {
  return (a > b || b != b) ? a : b;
}
extern inline __attribute__((gnu_inline, always_inline)) double fmin(double a, double b) noexcept {
  return (a < b || b != b) ? a : b;
}
extern inline __attribute__((gnu_inline, always_inline)) double fmax(double a, double b) noexcept {
  return (a > b || b != b) ? a : b;
}
}

#ifndef LOSSGRAD_STANDARD_HEADERS
#define LOSSGRAD_FLOAT_OVERLOAD(name) \
  __forceinline__ float name(float x) { return name##f(x); }
LOSSGRAD_FLOAT_OVERLOAD(sqrt)
LOSSGRAD_FLOAT_OVERLOAD(cbrt)
LOSSGRAD_FLOAT_OVERLOAD(exp)
LOSSGRAD_FLOAT_OVERLOAD(exp2)
LOSSGRAD_FLOAT_OVERLOAD(expm1)
LOSSGRAD_FLOAT_OVERLOAD(log)
LOSSGRAD_FLOAT_OVERLOAD(log2)
LOSSGRAD_FLOAT_OVERLOAD(log10)
LOSSGRAD_FLOAT_OVERLOAD(log1p)
LOSSGRAD_FLOAT_OVERLOAD(sin)
LOSSGRAD_FLOAT_OVERLOAD(cos)
LOSSGRAD_FLOAT_OVERLOAD(tan)
LOSSGRAD_FLOAT_OVERLOAD(asin)
LOSSGRAD_FLOAT_OVERLOAD(acos)
LOSSGRAD_FLOAT_OVERLOAD(atan)
LOSSGRAD_FLOAT_OVERLOAD(sinh)
LOSSGRAD_FLOAT_OVERLOAD(cosh)
LOSSGRAD_FLOAT_OVERLOAD(tanh)
LOSSGRAD_FLOAT_OVERLOAD(erf)
LOSSGRAD_FLOAT_OVERLOAD(erfc)
LOSSGRAD_FLOAT_OVERLOAD(floor)
LOSSGRAD_FLOAT_OVERLOAD(ceil)
LOSSGRAD_FLOAT_OVERLOAD(round)
LOSSGRAD_FLOAT_OVERLOAD(rint)
LOSSGRAD_FLOAT_OVERLOAD(nearbyint)
LOSSGRAD_FLOAT_OVERLOAD(trunc)
LOSSGRAD_FLOAT_OVERLOAD(fabs)
#undef LOSSGRAD_FLOAT_OVERLOAD
__forceinline__ float pow(float x, float y) { return powf(x, y); }
__forceinline__ float atan2(float y, float x) { return atan2f(y, x); }
__forceinline__ float hypot(float x, float y) { return hypotf(x, y); }
__forceinline__ float fmod(float x, float y) { return fmodf(x, y); }
__forceinline__ float copysign(float x, float y) { return copysignf(x, y); }
__forceinline__ float fma(float x, float y, float z) { return fmaf(x, y, z); }
__forceinline__ float fmin(float x, float y) { return fminf(x, y); }
__forceinline__ float fmax(float x, float y) { return fmaxf(x, y); }
__forceinline__ float fdim(float x, float y) { return fdimf(x, y); }
__forceinline__ float abs(float x) { return __builtin_fabsf(x); }
__forceinline__ double abs(double x) { return __builtin_fabs(x); }
__forceinline__ int abs(int x) { return x < 0 ? -x : x; }
__forceinline__ long abs(long x) { return x < 0 ? -x : x; }
__forceinline__ long long abs(long long x) { return x < 0 ? -x : x; }
__forceinline__ bool isnan(float x) { return x != x; }
__forceinline__ bool isnan(double x) { return x != x; }
__forceinline__ bool isinf(float x) { return __builtin_isinf(x) != 0; }
__forceinline__ bool isinf(double x) { return __builtin_isinf(x) != 0; }
__forceinline__ bool isfinite(float x) { return __builtin_isfinite(x) != 0; }
__forceinline__ bool isfinite(double x) { return __builtin_isfinite(x) != 0; }
__forceinline__ bool signbit(float x) { return __builtin_signbitf(x) != 0; }
__forceinline__ bool signbit(double x) { return __builtin_signbit(x) != 0; }
#endif

// CUDA's min and max. Floating types ignore NaN; of mixed signedness the unsigned type wins, as in C.
#define LOSSGRAD_INTEGER_MIN_MAX(a_type, b_type, result)                                                   \
  __forceinline__ result min(a_type a, b_type b) { return (result)a < (result)b ? (result)a : (result)b; } \
  __forceinline__ result max(a_type a, b_type b) { return (result)a > (result)b ? (result)a : (result)b; }
LOSSGRAD_INTEGER_MIN_MAX(int, int, int)
LOSSGRAD_INTEGER_MIN_MAX(unsigned, unsigned, unsigned)
LOSSGRAD_INTEGER_MIN_MAX(int, unsigned, unsigned)
LOSSGRAD_INTEGER_MIN_MAX(unsigned, int, unsigned)
LOSSGRAD_INTEGER_MIN_MAX(long, long, long)
LOSSGRAD_INTEGER_MIN_MAX(unsigned long, unsigned long, unsigned long)
LOSSGRAD_INTEGER_MIN_MAX(long, unsigned long, unsigned long)
LOSSGRAD_INTEGER_MIN_MAX(unsigned long, long, unsigned long)
LOSSGRAD_INTEGER_MIN_MAX(long long, long long, long long)
LOSSGRAD_INTEGER_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
LOSSGRAD_INTEGER_MIN_MAX(long long, unsigned long long, unsigned long long)
LOSSGRAD_INTEGER_MIN_MAX(unsigned long long, long long, unsigned long long)
#undef LOSSGRAD_INTEGER_MIN_MAX
__forceinline__ float min(float a, float b) { return fminf(a, b); }
__forceinline__ float max(float a, float b) { return fmaxf(a, b); }
__forceinline__ double min(double a, double b) { return fmin(a, b); }
__forceinline__ double max(double a, double b) { return fmax(a, b); }
__forceinline__ double min(float a, double b) { return fmin(double(a), b); }
__forceinline__ double min(double a, float b) { return fmin(a, double(b)); }
__forceinline__ double max(float a, double b) { return fmax(double(a), b); }
__forceinline__ double max(double a, float b) { return fmax(a, double(b)); }
__forceinline__ unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
__forceinline__ unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }

// Functions beyond the C library's.
__forceinline__ double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
__forceinline__ float rsqrtf(float x) {
  return static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x)));
}
__forceinline__ float rsqrt(float x) { return rsqrtf(x); }
__forceinline__ double rcbrt(double x) { return 1.0 / cbrt(x); }
__forceinline__ float rcbrtf(float x) { return static_cast<float>(1.0 / cbrt(static_cast<double>(x))); }
__forceinline__ double sinpi(double x) { return sin(3.14159265358979323846 * fmod(x, 2.0)); }
__forceinline__ double cospi(double x) { return cos(3.14159265358979323846 * fmod(x, 2.0)); }
__forceinline__ float sinpif(float x) { return static_cast<float>(sinpi(static_cast<double>(x))); }
__forceinline__ float cospif(float x) { return static_cast<float>(cospi(static_cast<double>(x))); }
__forceinline__ double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
__forceinline__ float normcdff(float x) { return static_cast<float>(normcdf(static_cast<double>(x))); }
__forceinline__ float rhypotf(float x, float y) {
  return static_cast<float>(1.0 / hypot(double(x), double(y)));
}
__forceinline__ double norm3d(double a, double b, double c) { return __builtin_sqrt(a * a + b * b + c * c); }
__forceinline__ float norm3df(float a, float b, float c) { return static_cast<float>(norm3d(a, b, c)); }
__forceinline__ float fdividef(float a, float b) { return a / b; }

// Intrinsics. The approximate ones are computed accurately: the host cannot show the error that they have on
// a GPU, and a run on a GPU is judged without an allowance for it (of the functions only atan, atan2 and
// rsqrt have one).
__forceinline__ float __fdividef(float a, float b) { return a / b; }
__forceinline__ float __fadd_rn(float a, float b) { return a + b; }
__forceinline__ float __fsub_rn(float a, float b) { return a - b; }
__forceinline__ float __fmul_rn(float a, float b) { return a * b; }
__forceinline__ float __fdiv_rn(float a, float b) { return a / b; }
__forceinline__ float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
__forceinline__ float __frcp_rn(float a) { return 1.0f / a; }
__forceinline__ float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
__forceinline__ float __frsqrt_rn(float a) { return rsqrtf(a); }
__forceinline__ double __dadd_rn(double a, double b) { return a + b; }
__forceinline__ double __dsub_rn(double a, double b) { return a - b; }
__forceinline__ double __dmul_rn(double a, double b) { return a * b; }
__forceinline__ double __ddiv_rn(double a, double b) { return a / b; }
__forceinline__ double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
__forceinline__ double __drcp_rn(double a) { return 1.0 / a; }
__forceinline__ double __dsqrt_rn(double a) { return __builtin_sqrt(a); }
__forceinline__ float __expf(float x) { return expf(x); }
__forceinline__ float __exp10f(float x) { return static_cast<float>(pow(10.0, static_cast<double>(x))); }
__forceinline__ float exp10f(float x) { return __exp10f(x); }
__forceinline__ float __logf(float x) { return logf(x); }
__forceinline__ float __log2f(float x) { return log2f(x); }
__forceinline__ float __log10f(float x) { return log10f(x); }
__forceinline__ float __powf(float x, float y) { return powf(x, y); }
__forceinline__ float __sinf(float x) { return sinf(x); }
__forceinline__ float __cosf(float x) { return cosf(x); }
__forceinline__ float __tanf(float x) { return tanf(x); }
__forceinline__ void __sincosf(float x, float* s, float* c) { *s = sinf(x), *c = cosf(x); }
__forceinline__ float __tanhf(float x) { return tanhf(x); }
__forceinline__ float __saturatef(float x) { return x > 0 ? (x < 1 ? x : 1.0f) : 0.0f; }

// Conversions and bits. Float to integer saturates and takes NaN to 0, as on a GPU.
#define LOSSGRAD_TO_INTEGER(name, from, to, low, high, round) \
  __forceinline__ to name(from x) {                           \
    if (x != x) return 0;                                     \
    const double rounded = round(static_cast<double>(x));     \
    if (rounded < static_cast<double>(low)) return low;       \
    if (rounded >= static_cast<double>(high)) return high;    \
    return static_cast<to>(rounded);                          \
  }
#define LOSSGRAD_TO_INTEGERS(mode, round)                                                                 \
  LOSSGRAD_TO_INTEGER(__float2int_##mode, float, int, (-__INT_MAX__ - 1), __INT_MAX__, round)             \
  LOSSGRAD_TO_INTEGER(__float2uint_##mode, float, unsigned, 0u, 0xffffffffu, round)                       \
  LOSSGRAD_TO_INTEGER(__float2ll_##mode, float, long long, (-__LONG_LONG_MAX__ - 1), __LONG_LONG_MAX__,   \
                      round)                                                                              \
  LOSSGRAD_TO_INTEGER(__double2int_##mode, double, int, (-__INT_MAX__ - 1), __INT_MAX__, round)           \
  LOSSGRAD_TO_INTEGER(__double2ll_##mode, double, long long, (-__LONG_LONG_MAX__ - 1), __LONG_LONG_MAX__, \
                      round)
LOSSGRAD_TO_INTEGERS(rn, __builtin_rint)
LOSSGRAD_TO_INTEGERS(rz, __builtin_trunc)
LOSSGRAD_TO_INTEGERS(rd, __builtin_floor)
LOSSGRAD_TO_INTEGERS(ru, __builtin_ceil)
#undef LOSSGRAD_TO_INTEGERS
#undef LOSSGRAD_TO_INTEGER
__forceinline__ float __int2float_rn(int x) { return static_cast<float>(x); }
__forceinline__ float __uint2float_rn(unsigned x) { return static_cast<float>(x); }
__forceinline__ float __ll2float_rn(long long x) { return static_cast<float>(x); }
__forceinline__ float __double2float_rn(double x) { return static_cast<float>(x); }
__forceinline__ double __int2double_rn(int x) { return x; }
__forceinline__ int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
__forceinline__ unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
__forceinline__ float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
__forceinline__ float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
__forceinline__ long long __double_as_longlong(double x) { return __builtin_bit_cast(long long, x); }
__forceinline__ double __longlong_as_double(long long x) { return __builtin_bit_cast(double, x); }
__forceinline__ int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
__forceinline__ int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
__forceinline__ double __hiloint2double(int high, int low) {
  return __longlong_as_double(static_cast<long long>(
      static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low)));
}
__forceinline__ int __popc(unsigned x) { return __builtin_popcount(x); }
__forceinline__ int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__forceinline__ int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
__forceinline__ int __clzll(long long x) {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
__forceinline__ int __ffs(int x) { return __builtin_ffs(x); }
__forceinline__ int __ffsll(long long x) { return __builtin_ffsll(x); }
__forceinline__ unsigned __brev(unsigned x) {
  x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
  x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
  x = ((x >> 4) & 0x0f0f0f0fu) | ((x & 0x0f0f0f0fu) << 4);
  return __builtin_bswap32(x);
}
__forceinline__ unsigned long long __brevll(unsigned long long x) {
  return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
         __brev(static_cast<unsigned>(x >> 32));
}
__forceinline__ int __mulhi(int a, int b) { return static_cast<int>(static_cast<long long>(a) * b >> 32); }
__forceinline__ unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
__forceinline__ int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
__forceinline__ unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>(((static_cast<unsigned long long>(high) << 32 | low) << (shift & 31u)) >> 32);
}
__forceinline__ unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((static_cast<unsigned long long>(high) << 32 | low) >> (shift & 31u));
}
__forceinline__ unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  const unsigned long long bytes = static_cast<unsigned long long>(b) << 32 | a;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i)
    result |= static_cast<unsigned>(bytes >> (8 * ((selector >> (4 * i)) & 7u)) & 0xffu) << (8 * i);
  return result;
}

// Cache hints are plain accesses here.
#define LOSSGRAD_LOAD(name)               \
  template <class T>                      \
  __forceinline__ T name(const T* from) { \
    return *from;                         \
  }
LOSSGRAD_LOAD(__ldg)
LOSSGRAD_LOAD(__ldca)
LOSSGRAD_LOAD(__ldcg)
LOSSGRAD_LOAD(__ldcs)
LOSSGRAD_LOAD(__ldcv)
LOSSGRAD_LOAD(__ldlu)
#undef LOSSGRAD_LOAD
namespace lossgrad_cuda {
template <class T>
struct Same {
  using type = T;
};
}  // namespace lossgrad_cuda
#define LOSSGRAD_STORE(name)                                                      \
  template <class T>                                                              \
  __forceinline__ void name(T* to, typename lossgrad_cuda::Same<T>::type value) { \
    *to = value;                                                                  \
  }
LOSSGRAD_STORE(__stwb)
LOSSGRAD_STORE(__stcg)
LOSSGRAD_STORE(__stcs)
LOSSGRAD_STORE(__stwt)
#undef LOSSGRAD_STORE

#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_MIN_DENORM_F 1.401298464e-45f
#define CUDART_MAX_NORMAL_F __FLT_MAX__
#define CUDART_ZERO_F 0.0f
#define CUDART_ONE_F 1.0f
#define CUDART_SQRT_HALF_F 0.707106781f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_PI_F 3.141592654f
#define CUDART_PIO2_F 1.570796327f
#define CUDART_PIO4_F 0.785398163f
#define CUDART_2_OVER_PI_F 0.636619772f
#define CUDART_L2E_F 1.442695041f
#define CUDART_LN2_F 0.693147181f
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI 3.1415926535897931e+0
#define CUDART_PIO2 1.5707963267948966e+0
#define CUDART_PIO4 7.8539816339744828e-1
#define CUDART_2_OVER_PI 6.3661977236758138e-1
#define CUDART_SQRT_TWO 1.4142135623730951e+0
