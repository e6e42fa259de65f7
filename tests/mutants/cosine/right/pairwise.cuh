// SPDX-License-Identifier: Apache-2.0
// Pairwise summation: halves of the row, down to two elements.
template <typename C, typename D>
__device__ C pairwise(const D* a, const D* b, int n) {
  if (n == 1) return load_value(a) * load_value(b);
  const int half = n / 2;
  return pairwise<C>(a, b, half) + pairwise<C>(a + half, b + half, n - half);
}
template <typename C, typename D>
__device__ Sums<C> row_sums(const D* row1, const D* row2, int n_dim) {
  return {pairwise<C>(row1, row1, n_dim), pairwise<C>(row2, row2, n_dim), pairwise<C>(row1, row2, n_dim)};
}
