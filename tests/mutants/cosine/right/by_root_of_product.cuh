// SPDX-License-Identifier: Apache-2.0
// One root for both norms: cos = x12 / sqrt(x11 * x22), as ATen's cosine_embedding_loss has it.
template <CosineConvention CONVENTION, typename C>
__device__ __forceinline__ Sums<C> with_eps(const Sums<C>& sums) {
  const C eps = CONVENTION == CosineConvention::torch ? C(1e-12) : C(0);
  return {sums.x11 + eps, sums.x22 + eps, sums.x12};
}
template <CosineConvention CONVENTION, typename C>
__device__ __forceinline__ C cosine_of(const Sums<C>& sums) {
  const Sums<C> s = with_eps<CONVENTION>(sums);
  return s.x12 * (C(1) / square_root(s.x11 * s.x22));
}
template <CosineConvention CONVENTION, typename C>
__device__ __forceinline__ C derivative_of(C own, C other, const Sums<C>& sums, C cosine) {
  const Sums<C> s = with_eps<CONVENTION>(sums);
  return other * (C(1) / square_root(s.x11 * s.x22)) - own * (cosine / s.x11);
}
