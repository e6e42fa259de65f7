// SPDX-License-Identifier: Apache-2.0
// Several rows in a block, eight lanes a row, their sums exchanged by shuffles. No thread leaves before the
// shuffles.
constexpr int kLanes = 8;
template <typename C>
__device__ __forceinline__ C over_lanes(C sum) {
  for (int apart = kLanes / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, apart, kLanes);
  return sum;
}
template <typename D, typename C = typename ComputeOf<D>::type>
__device__ Sums<C> lane_sums(const D* row1, const D* row2, int n_dim, bool there) {
  C x11 = C(0), x22 = C(0), x12 = C(0);
  for (int i = static_cast<int>(threadIdx.x) % kLanes; there && i < n_dim; i += kLanes) {
    const C a = load_value(row1 + i), b = load_value(row2 + i);
    x11 += a * a, x22 += b * b, x12 += a * b;
  }
  return {over_lanes(x11), over_lanes(x22), over_lanes(x12)};
}

template <typename D, int, int, int, int, CosineConvention CONVENTION>
__device__ void cosine_embedding_loss_forward(const D* __restrict__ x1, const D* __restrict__ x2,
                                              const D* __restrict__ y, D* __restrict__ loss, int n_rows,
                                              int n_dim, float margin) {
  using C = typename ComputeOf<D>::type;
  const long long row = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / kLanes;
  const Sums<C> sums = lane_sums(x1 + row * n_dim, x2 + row * n_dim, n_dim, row < n_rows);
  if (row < n_rows && threadIdx.x % kLanes == 0)
    store_value(loss + row, loss_of<C>(cosine_of<CONVENTION>(sums), load_value(y + row), margin));
}

template <typename D, int, int, int, int, CosineConvention CONVENTION>
__device__ void cosine_embedding_loss_backward(const D* __restrict__ dy, const D* __restrict__ x1,
                                               const D* __restrict__ x2, const D* __restrict__ y,
                                               D* __restrict__ dx1, D* __restrict__ dx2, int n_rows,
                                               int n_dim, float margin) {
  using C = typename ComputeOf<D>::type;
  const long long row = (static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x) / kLanes;
  const Sums<C> sums = lane_sums(x1 + row * n_dim, x2 + row * n_dim, n_dim, row < n_rows);
  if (row >= n_rows) return;
  const C cosine = cosine_of<CONVENTION>(sums);
  const bool active = load_value(y + row) > C(0) || cosine > C(margin);
  const C coefficient = coefficient_of<C>(cosine, load_value(y + row), margin, load_value(dy + row));
  for (int column = static_cast<int>(threadIdx.x) % kLanes; column < n_dim; column += kLanes) {
    const long long i = row * n_dim + column;
    const C a = load_value(x1 + i), b = load_value(x2 + i);
    const C d1 = derivative_of<CONVENTION>(a, b, sums, cosine);
    const C d2 = derivative_of<CONVENTION>(b, a, exchanged(sums), cosine);
    store_value(dx1 + i, active ? coefficient * d1 : C(0));
    store_value(dx2 + i, active ? coefficient * d2 : C(0));
  }
}
