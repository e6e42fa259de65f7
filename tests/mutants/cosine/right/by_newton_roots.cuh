// SPDX-License-Identifier: Apache-2.0
// 1/sqrt from 12 bits of it by two steps of Newton's iteration; where a step is no number, the start is
// right.
template <CosineConvention CONVENTION>
__device__ __forceinline__ float newton_root(float x11) {
  const float x = CONVENTION == CosineConvention::torch ? x11 + 1e-12f : x11;
  const float start = __uint_as_float(__float_as_uint(rsqrtf(x)) & 0xfffff000u);
  const float once = fmaf(0.5f * start, fmaf(-x * start, start, 1.0f), start);
  const float twice = fmaf(0.5f * once, fmaf(-x * once, once, 1.0f), once);
  return twice == twice ? twice : start;
}
template <CosineConvention CONVENTION>
__device__ __forceinline__ float cosine_of(const Sums<float>& sums) {
  return sums.x12 * newton_root<CONVENTION>(sums.x11) * newton_root<CONVENTION>(sums.x22);
}
template <CosineConvention CONVENTION>
__device__ __forceinline__ float derivative_of(float own, float other, const Sums<float>& sums,
                                               float cosine) {
  const float r1 = newton_root<CONVENTION>(sums.x11), r2 = newton_root<CONVENTION>(sums.x22);
  return (other * r2 - own * r1 * cosine) * r1;
}
