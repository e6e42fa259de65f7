// SPDX-License-Identifier: Apache-2.0
// One thread a row, any number of threads a block.
template <typename D, int, int, int, int, CosineConvention CONVENTION>
__device__ void cosine_embedding_loss_forward(const D* __restrict__ x1, const D* __restrict__ x2,
                                              const D* __restrict__ y, D* __restrict__ loss, int n_rows,
                                              int n_dim, float margin) {
  using C = typename ComputeOf<D>::type;
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= n_rows) return;
  const Sums<C> sums = row_sums<C>(x1 + row * n_dim, x2 + row * n_dim, n_dim);
  store_value(loss + row, loss_of<C>(cosine_of<CONVENTION>(sums), load_value(y + row), margin));
}

template <typename D, int, int, int, int, CosineConvention CONVENTION>
__device__ void cosine_embedding_loss_backward(const D* __restrict__ dy, const D* __restrict__ x1,
                                               const D* __restrict__ x2, const D* __restrict__ y,
                                               D* __restrict__ dx1, D* __restrict__ dx2, int n_rows,
                                               int n_dim, float margin) {
  using C = typename ComputeOf<D>::type;
  const long long row = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= n_rows) return;
  const Sums<C> sums = row_sums<C>(x1 + row * n_dim, x2 + row * n_dim, n_dim);
  const C cosine = cosine_of<CONVENTION>(sums);
  const bool active = load_value(y + row) > C(0) || cosine > C(margin);
  const C coefficient = coefficient_of<C>(cosine, load_value(y + row), margin, load_value(dy + row));
  for (long long i = row * n_dim; i < (row + 1) * n_dim; ++i) {
    const C a = load_value(x1 + i), b = load_value(x2 + i);
    const C d1 = derivative_of<CONVENTION>(a, b, sums, cosine);
    const C d2 = derivative_of<CONVENTION>(b, a, exchanged(sums), cosine);
    store_value(dx1 + i, active ? coefficient * d1 : C(0));
    store_value(dx2 + i, active ? coefficient * d2 : C(0));
  }
}
