// SPDX-License-Identifier: Apache-2.0
// Boxes go through one tile of shared memory, filled by pairs: even threads load for themselves and their
// neighbour. The tile serves twice, for the predictions and for the targets.
template <typename C, int BLOCK_N, typename D>
__device__ __forceinline__ void fill_tile(C* tile, const D* __restrict__ boxes, long long first,
                                          long long n) {
  const int slot = threadIdx.x;
  if (slot % 2 != 0) return;
  for (int component = 0; component < 4; ++component) {
    for (int k = 0; k < 2; ++k) {
      const long long i = first + slot + k;
      if (i < n) tile[component * BLOCK_N + slot + k] = load_value(boxes + component * n + i);
    }
  }
}

template <int BLOCK_N, typename C>
__device__ __forceinline__ Box<C> box_in_tile(const C* tile) {
  const int slot = threadIdx.x;
  return {tile[slot], tile[BLOCK_N + slot], tile[2 * BLOCK_N + slot], tile[3 * BLOCK_N + slot]};
}

template <int BLOCK_N, typename C, typename D>
__device__ __forceinline__ void load_pair(C* tile, const D* __restrict__ pred, const D* __restrict__ target,
                                          long long first, long long n, Box<C>& p, Box<C>& t) {
  fill_tile<C, BLOCK_N>(tile, pred, first, n);
  __syncthreads();  // the predictions are there
  p = box_in_tile<BLOCK_N>(tile);
  __syncthreads();  // the tile is free again
  fill_tile<C, BLOCK_N>(tile, target, first, n);
  __syncthreads();  // the targets are there
  t = box_in_tile<BLOCK_N>(tile);
}

template <typename D, int BLOCK_N, bool HAS_EPS>
__device__ __forceinline__ void yolo_ciou_loss_forward(const D* __restrict__ pred,
                                                       const D* __restrict__ target, D* __restrict__ loss,
                                                       D* __restrict__ iou, D* __restrict__ v,
                                                       D* __restrict__ alpha, int N) {
  using C = typename ComputeOf<D>::type;
  __shared__ C tile[4 * BLOCK_N];
  const long long first = static_cast<long long>(blockIdx.x) * BLOCK_N, i = first + threadIdx.x;
  Box<C> p, t;
  load_pair<BLOCK_N>(tile, pred, target, first, N, p, t);
  if (i >= N) return;
  store_outputs(loss, iou, v, alpha, i, corner_values<HAS_EPS>(p, t));
}

template <typename D, int BLOCK_N, bool HAS_EPS, bool ALPHA_THROUGH>
__device__ __forceinline__ void yolo_ciou_loss_backward(const D* __restrict__ dy, const D* __restrict__ pred,
                                                        const D* __restrict__ target,
                                                        const D* __restrict__ /*iou*/,
                                                        const D* __restrict__ /*v*/,
                                                        const D* __restrict__ /*alpha*/,
                                                        D* __restrict__ d_pred, int N) {
  using C = typename ComputeOf<D>::type;
  __shared__ C tile[4 * BLOCK_N];
  const long long first = static_cast<long long>(blockIdx.x) * BLOCK_N, i = first + threadIdx.x;
  Box<C> p, t;
  load_pair<BLOCK_N>(tile, pred, target, first, N, p, t);
  if (i >= N) return;
  store_gradient<C>(d_pred, i, N, load_value(dy + i), corner_gradient_again<0, HAS_EPS, ALPHA_THROUGH>(p, t));
}
