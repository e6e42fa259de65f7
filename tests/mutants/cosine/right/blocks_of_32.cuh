// SPDX-License-Identifier: Apache-2.0
// Sums of 32 elements each, and those added up: as tiled kernels have it.
template <typename C, typename D>
__device__ Sums<C> row_sums(const D* row1, const D* row2, int n_dim) {
  Sums<C> sums = {C(0), C(0), C(0)};
  for (int first = 0; first < n_dim; first += 32) {
    Sums<C> tile = {C(0), C(0), C(0)};
    for (int i = first; i < n_dim && i < first + 32; ++i) {
      const C a = load_value(row1 + i), b = load_value(row2 + i);
      tile.x11 += a * a;
      tile.x22 += b * b;
      tile.x12 += a * b;
    }
    sums = {sums.x11 + tile.x11, sums.x22 + tile.x22, sums.x12 + tile.x12};
  }
  return sums;
}
