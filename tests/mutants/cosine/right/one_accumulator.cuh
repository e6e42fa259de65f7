// SPDX-License-Identifier: Apache-2.0
// The sums of a row by one thread, from the first element to the last.
template <typename C, typename D>
__device__ Sums<C> row_sums(const D* row1, const D* row2, int n_dim) {
  Sums<C> sums = {C(0), C(0), C(0)};
  for (int i = 0; i < n_dim; ++i) {
    const C a = load_value(row1 + i), b = load_value(row2 + i);
    sums.x11 += a * a;
    sums.x22 += b * b;
    sums.x12 += a * b;
  }
  return sums;
}
