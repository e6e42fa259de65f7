// SPDX-License-Identifier: Apache-2.0
// d cos / d x1 = (x11 * x2 - x12 * x1) / (x11 * n1 * n2): one division an element.
template <CosineConvention CONVENTION, typename C>
__device__ __forceinline__ C cosine_of(const Sums<C>& sums) {
  return sums.x12 / (square_root(sums.x11) * square_root(sums.x22));
}
template <CosineConvention CONVENTION, typename C>
__device__ __forceinline__ C derivative_of(C own, C other, const Sums<C>& sums, C) {
  return (sums.x11 * other - sums.x12 * own) / (sums.x11 * (square_root(sums.x11) * square_root(sums.x22)));
}
