// SPDX-License-Identifier: Apache-2.0
// Rows of length 1 first, then their product: cos = u1.u2, d cos / d x1 = (u2 - cos * u1) / n1.
template <typename C>
struct Unit {
  C r1, r2, cosine;
};
template <CosineConvention CONVENTION, typename D, typename C = typename ComputeOf<D>::type>
__device__ Unit<C> unit_rows(const D* row1, const D* row2, int n_dim) {
  constexpr bool kLeast = CONVENTION == CosineConvention::normalize;
  C x11 = C(0), x22 = C(0), cosine = C(0);
  for (int i = 0; i < n_dim; ++i) {
    const C a = load_value(row1 + i), b = load_value(row2 + i);
    x11 += a * a, x22 += b * b;
  }
  C n1 = square_root(x11), n2 = square_root(x22);
  if (kLeast && n1 < C(1e-12)) n1 = C(1e-12);
  if (kLeast && n2 < C(1e-12)) n2 = C(1e-12);
  for (int i = 0; i < n_dim; ++i) cosine += load_value(row1 + i) / n1 * (load_value(row2 + i) / n2);
  return {C(1) / n1, C(1) / n2, cosine};
}

template <typename D, int, int, int, int, CosineConvention CONVENTION>
__device__ void cosine_embedding_loss_forward(const D* __restrict__ x1, const D* __restrict__ x2,
                                              const D* __restrict__ y, D* __restrict__ loss, int n_rows,
                                              int n_dim, float margin) {
  using C = typename ComputeOf<D>::type;
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= n_rows) return;
  const Unit<C> unit = unit_rows<CONVENTION>(x1 + row * n_dim, x2 + row * n_dim, n_dim);
  store_value(loss + row, loss_of<C>(unit.cosine, load_value(y + row), margin));
}

template <typename D, int, int, int, int, CosineConvention CONVENTION>
__device__ void cosine_embedding_loss_backward(const D* __restrict__ dy, const D* __restrict__ x1,
                                               const D* __restrict__ x2, const D* __restrict__ y,
                                               D* __restrict__ dx1, D* __restrict__ dx2, int n_rows,
                                               int n_dim, float margin) {
  using C = typename ComputeOf<D>::type;
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= n_rows) return;
  const auto [r1, r2, cosine] = unit_rows<CONVENTION>(x1 + row * n_dim, x2 + row * n_dim, n_dim);
  const bool active = load_value(y + row) > C(0) || cosine > C(margin);
  const C coefficient = coefficient_of<C>(cosine, load_value(y + row), margin, load_value(dy + row));
  // A row shorter than the least norm is multiplied by a constant.
  const bool least = CONVENTION == CosineConvention::normalize;
  const C cosine1 = least && r1 == C(1) / C(1e-12) ? C(0) : cosine;
  const C cosine2 = least && r2 == C(1) / C(1e-12) ? C(0) : cosine;
  for (long long i = row * n_dim; i < (row + 1) * n_dim; ++i) {
    const C u1 = load_value(x1 + i) * r1, u2 = load_value(x2 + i) * r2;
    store_value(dx1 + i, active ? (u2 - cosine1 * u1) * (coefficient * r1) : C(0));
    store_value(dx2 + i, active ? (u1 - cosine2 * u2) * (coefficient * r2) : C(0));
  }
}
