// SPDX-License-Identifier: Apache-2.0
// How storage types become compute types: f16, bf16 and f32 compute in f32, f64 in f64.
template <typename Storage>
struct ComputeOf {
  using type = float;
};
template <>
struct ComputeOf<double> {
  using type = double;
};

__device__ __forceinline__ float load_value(const float* p) { return *p; }
__device__ __forceinline__ double load_value(const double* p) { return *p; }
__device__ __forceinline__ void store_value(float* p, float x) { *p = x; }
__device__ __forceinline__ void store_value(double* p, double x) { *p = x; }

__device__ __forceinline__ float absolute(float x) { return fabsf(x); }
__device__ __forceinline__ double absolute(double x) { return fabs(x); }
__device__ __forceinline__ float angle_of(float y, float x) { return atan2f(y, x); }
__device__ __forceinline__ double angle_of(double y, double x) { return atan2(y, x); }
__device__ __forceinline__ float arc_tangent(float x) { return atanf(x); }
__device__ __forceinline__ double arc_tangent(double x) { return atan(x); }
