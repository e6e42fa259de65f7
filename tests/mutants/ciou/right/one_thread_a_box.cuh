// SPDX-License-Identifier: Apache-2.0
// One thread a box, nothing read of what forward saved.
template <typename D, int BLOCK_N, bool HAS_EPS>
__device__ __forceinline__ void yolo_ciou_loss_forward(const D* __restrict__ pred,
                                                       const D* __restrict__ target, D* __restrict__ loss,
                                                       D* __restrict__ iou, D* __restrict__ v,
                                                       D* __restrict__ alpha, int N) {
  using C = typename ComputeOf<D>::type;
  const long long i = static_cast<long long>(blockIdx.x) * BLOCK_N + threadIdx.x;
  if (i >= N) return;
  const Box<C> p = load_box<C>(pred, i, N), t = load_box<C>(target, i, N);
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
  const long long i = static_cast<long long>(blockIdx.x) * BLOCK_N + threadIdx.x;
  if (i >= N) return;
  const Box<C> p = load_box<C>(pred, i, N), t = load_box<C>(target, i, N);
  store_gradient<C>(d_pred, i, N, load_value(dy + i),
                    corner_gradient_again<kTieHalves, HAS_EPS, ALPHA_THROUGH>(p, t));
}
