// SPDX-License-Identifier: Apache-2.0
// Fused multiply-add into four accumulators a sum, from the last element to the first.
template <typename C, typename D>
__device__ Sums<C> row_sums(const D* row1, const D* row2, int n_dim) {
  C x11[4] = {}, x22[4] = {}, x12[4] = {};
  for (int i = n_dim - 1; i >= 0; --i) {
    const C a = load_value(row1 + i), b = load_value(row2 + i);
    x11[i % 4] = fma(a, a, x11[i % 4]);
    x22[i % 4] = fma(b, b, x22[i % 4]);
    x12[i % 4] = fma(a, b, x12[i % 4]);
  }
  return {x11[0] + x11[1] + x11[2] + x11[3], x22[0] + x22[1] + x22[2] + x22[3],
          x12[0] + x12[1] + x12[2] + x12[3]};
}
