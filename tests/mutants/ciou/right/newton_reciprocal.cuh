// SPDX-License-Identifier: Apache-2.0
// 1/x from 12 bits of it by two steps of Newton's iteration, as kernels without a division have it. Where a
// step is no number (x zero or infinite), the start is right.
__device__ __forceinline__ float newton_reciprocal(float x) {
  const float start = __uint_as_float(__float_as_uint(1.0f / x) & 0xfffff000u);
  const float once = fmaf(start, fmaf(-x, start, 1.0f), start);
  const float twice = fmaf(once, fmaf(-x, once, 1.0f), once);
  return twice == twice ? twice : start;
}
