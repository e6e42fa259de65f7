// SPDX-License-Identifier: Apache-2.0
// Everything in double, rounded once at the end.
template <typename D, int BLOCK_N, bool HAS_EPS>
__device__ __forceinline__ void yolo_ciou_loss_forward(const D* __restrict__ pred,
                                                       const D* __restrict__ target, D* __restrict__ loss,
                                                       D* __restrict__ iou, D* __restrict__ v,
                                                       D* __restrict__ alpha, int N) {
  const long long i = static_cast<long long>(blockIdx.x) * BLOCK_N + threadIdx.x;
  if (i >= N) return;
  using C = typename ComputeOf<D>::type;
  const Box<double> p = load_box<double>(pred, i, N), t = load_box<double>(target, i, N);
  const Outputs<double> r = corner_values<HAS_EPS>(p, t);
  store_outputs(loss, iou, v, alpha, i, Outputs<C>{C(r.loss), C(r.iou), C(r.v), C(r.alpha)});
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
  const Box<double> p = load_box<double>(pred, i, N), t = load_box<double>(target, i, N);
  const Box<double> d = corner_gradient_again<0, HAS_EPS, ALPHA_THROUGH>(p, t);
  const double upstream = load_value(dy + i);
  store_gradient<C>(d_pred, i, N, C(1),
                    {C(upstream * d.cx), C(upstream * d.cy), C(upstream * d.w), C(upstream * d.h)});
}
