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
