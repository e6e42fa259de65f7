// SPDX-License-Identifier: Apache-2.0
// Functions of the compute types, by one name for float and double.
__device__ __forceinline__ float absolute(float x) { return fabsf(x); }
__device__ __forceinline__ double absolute(double x) { return fabs(x); }
__device__ __forceinline__ float angle_of(float y, float x) { return atan2f(y, x); }
__device__ __forceinline__ double angle_of(double y, double x) { return atan2(y, x); }
__device__ __forceinline__ float arc_tangent(float x) { return atanf(x); }
__device__ __forceinline__ double arc_tangent(double x) { return atan(x); }
__device__ __forceinline__ float square_root(float x) { return sqrtf(x); }
__device__ __forceinline__ double square_root(double x) { return sqrt(x); }
