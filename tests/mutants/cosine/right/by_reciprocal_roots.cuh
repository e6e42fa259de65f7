// SPDX-License-Identifier: Apache-2.0
// rsqrt of each sum, as hand-written kernels have it.
template <CosineConvention CONVENTION, typename C>
__device__ __forceinline__ C reciprocal_norm(C x11) {
  return rsqrt(CONVENTION == CosineConvention::torch ? x11 + C(1e-12) : x11);
}
template <CosineConvention CONVENTION, typename C>
__device__ __forceinline__ C cosine_of(const Sums<C>& sums) {
  return sums.x12 * reciprocal_norm<CONVENTION>(sums.x11) * reciprocal_norm<CONVENTION>(sums.x22);
}
template <CosineConvention CONVENTION, typename C>
__device__ __forceinline__ C derivative_of(C own, C other, const Sums<C>& sums, C cosine) {
  const C r1 = reciprocal_norm<CONVENTION>(sums.x11), r2 = reciprocal_norm<CONVENTION>(sums.x22);
  return (other * r2 - own * r1 * cosine) * r1;
}
