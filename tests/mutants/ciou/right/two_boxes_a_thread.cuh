// SPDX-License-Identifier: Apache-2.0
// The first half of the threads take two boxes each, the other half none.
template <typename D, int BLOCK_N, bool HAS_EPS>
__device__ __forceinline__ void yolo_ciou_loss_forward(const D* __restrict__ pred,
                                                       const D* __restrict__ target, D* __restrict__ loss,
                                                       D* __restrict__ iou, D* __restrict__ v,
                                                       D* __restrict__ alpha, int N) {
  using C = typename ComputeOf<D>::type;
  if (threadIdx.x >= BLOCK_N / 2) return;
  for (int k = 0; k < 2; ++k) {
    const long long i = static_cast<long long>(blockIdx.x) * BLOCK_N + 2 * threadIdx.x + k;
    if (i >= N) return;
    const Box<C> p = load_box<C>(pred, i, N), t = load_box<C>(target, i, N);
    store_outputs(loss, iou, v, alpha, i, corner_values<HAS_EPS>(p, t));
  }
}

template <typename D, int BLOCK_N, bool HAS_EPS, bool ALPHA_THROUGH>
__device__ __forceinline__ void yolo_ciou_loss_backward(const D* __restrict__ dy, const D* __restrict__ pred,
                                                        const D* __restrict__ target,
                                                        const D* __restrict__ /*iou*/,
                                                        const D* __restrict__ /*v*/,
                                                        const D* __restrict__ /*alpha*/,
                                                        D* __restrict__ d_pred, int N) {
  using C = typename ComputeOf<D>::type;
  if (threadIdx.x >= BLOCK_N / 2) return;
  for (int k = 0; k < 2; ++k) {
    const long long i = static_cast<long long>(blockIdx.x) * BLOCK_N + 2 * threadIdx.x + k;
    if (i >= N) return;
    const Box<C> p = load_box<C>(pred, i, N), t = load_box<C>(target, i, N);
    store_gradient<C>(d_pred, i, N, load_value(dy + i),
                      corner_gradient_again<0, HAS_EPS, ALPHA_THROUGH>(p, t));
  }
}
