// SPDX-License-Identifier: Apache-2.0
// Reads the saved iou, v and alpha and forms d loss/d iou and d loss/d v as the contract writes them:
// v^2/D^2 - 1 and alpha + v (1 - iou + eps)/D^2 with D = 1 - iou + v + eps.
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
                                                        const D* __restrict__ iou, const D* __restrict__ v,
                                                        const D* __restrict__ alpha, D* __restrict__ d_pred,
                                                        int N) {
  using C = typename ComputeOf<D>::type;
  const long long i = static_cast<long long>(blockIdx.x) * BLOCK_N + threadIdx.x;
  if (i >= N) return;
  const C saved_iou = load_value(iou + i), saved_v = load_value(v + i), saved_alpha = load_value(alpha + i);
  const C rest = C(1) - saved_iou + Numbers<C>::kEps;
  const C d = C(1) - saved_iou + saved_v + Numbers<C>::kEps;
  const C by_iou = ALPHA_THROUGH ? saved_v * saved_v / (d * d) - C(1) : C(-1);
  const C by_v = ALPHA_THROUGH ? saved_alpha + saved_v * rest / (d * d) : saved_alpha;
  const Box<C> p = load_box<C>(pred, i, N), t = load_box<C>(target, i, N);
  store_gradient<C>(d_pred, i, N, load_value(dy + i), corner_gradient<0, HAS_EPS>(p, t, by_iou, by_v));
}
