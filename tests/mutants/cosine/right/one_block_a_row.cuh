// SPDX-License-Identifier: Apache-2.0
// One block a row: every thread takes each blockDim.x-th element, then a tree in shared memory. The number of
// threads is a power of two, up to 1024.
template <typename D, typename C = typename ComputeOf<D>::type>
__device__ Sums<C> block_sums(const D* row1, const D* row2, int n_dim) {
  __shared__ C x11[1024], x22[1024], x12[1024];
  const int t = threadIdx.x;
  C own11 = C(0), own22 = C(0), own12 = C(0);
  for (int i = t; i < n_dim; i += blockDim.x) {
    const C a = load_value(row1 + i), b = load_value(row2 + i);
    own11 += a * a, own22 += b * b, own12 += a * b;
  }
  x11[t] = own11, x22[t] = own22, x12[t] = own12;
  __syncthreads();
  for (int half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) x11[t] += x11[t + half], x22[t] += x22[t + half], x12[t] += x12[t + half];
    __syncthreads();
  }
  return {x11[0], x22[0], x12[0]};
}

template <typename D, int, int, int, int, CosineConvention CONVENTION>
__device__ void cosine_embedding_loss_forward(const D* __restrict__ x1, const D* __restrict__ x2,
                                              const D* __restrict__ y, D* __restrict__ loss, int /*n_rows*/,
                                              int n_dim, float margin) {
  using C = typename ComputeOf<D>::type;
  const long long row = blockIdx.x;
  const Sums<C> sums = block_sums(x1 + row * n_dim, x2 + row * n_dim, n_dim);
  if (threadIdx.x == 0)
    store_value(loss + row, loss_of<C>(cosine_of<CONVENTION>(sums), load_value(y + row), margin));
}

template <typename D, int, int, int, int, CosineConvention CONVENTION>
__device__ void cosine_embedding_loss_backward(const D* __restrict__ dy, const D* __restrict__ x1,
                                               const D* __restrict__ x2, const D* __restrict__ y,
                                               D* __restrict__ dx1, D* __restrict__ dx2, int /*n_rows*/,
                                               int n_dim, float margin) {
  using C = typename ComputeOf<D>::type;
  const long long row = blockIdx.x;
  const Sums<C> sums = block_sums(x1 + row * n_dim, x2 + row * n_dim, n_dim);
  const C cosine = cosine_of<CONVENTION>(sums);
  const bool active = load_value(y + row) > C(0) || cosine > C(margin);
  const C coefficient = coefficient_of<C>(cosine, load_value(y + row), margin, load_value(dy + row));
  for (int column = threadIdx.x; column < n_dim; column += blockDim.x) {
    const long long i = row * n_dim + column;
    const C a = load_value(x1 + i), b = load_value(x2 + i);
    const C d1 = derivative_of<CONVENTION>(a, b, sums, cosine);
    const C d2 = derivative_of<CONVENTION>(b, a, exchanged(sums), cosine);
    store_value(dx1 + i, active ? coefficient * d1 : C(0));
    store_value(dx2 + i, active ? coefficient * d2 : C(0));
  }
}
