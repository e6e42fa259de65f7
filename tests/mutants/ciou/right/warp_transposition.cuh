// SPDX-License-Identifier: Apache-2.0
// A warp loads the four components of its 32 boxes in four-element pieces, eight lanes a component, and
// passes them round by shuffles until each lane has its own box.
template <typename C, typename D>
__device__ __forceinline__ Box<C> transposed_box(const D* __restrict__ boxes, long long warp_first,
                                                 long long n) {
  const int lane = threadIdx.x % 32;
  const long long component = lane / 8;
  C piece[4];
  for (int k = 0; k < 4; ++k) {
    const long long i = warp_first + 4 * (lane % 8) + k;
    piece[k] = i < n ? load_value(boxes + component * n + i) : C(0);
  }
  C own[4];
  for (int c = 0; c < 4; ++c) {
    for (int k = 0; k < 4; ++k) {
      const C passed = __shfl_sync(0xffffffffu, piece[k], 8 * c + lane / 4);
      if (lane % 4 == k) own[c] = passed;
    }
  }
  return {own[0], own[1], own[2], own[3]};
}

template <typename D, int BLOCK_N, bool HAS_EPS>
__device__ __forceinline__ void yolo_ciou_loss_forward(const D* __restrict__ pred,
                                                       const D* __restrict__ target, D* __restrict__ loss,
                                                       D* __restrict__ iou, D* __restrict__ v,
                                                       D* __restrict__ alpha, int N) {
  using C = typename ComputeOf<D>::type;
  const long long i = static_cast<long long>(blockIdx.x) * BLOCK_N + threadIdx.x;
  const long long warp_first = i - threadIdx.x % 32;
  const Box<C> p = transposed_box<C>(pred, warp_first, N), t = transposed_box<C>(target, warp_first, N);
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
  const long long i = static_cast<long long>(blockIdx.x) * BLOCK_N + threadIdx.x;
  const long long warp_first = i - threadIdx.x % 32;
  const Box<C> p = transposed_box<C>(pred, warp_first, N), t = transposed_box<C>(target, warp_first, N);
  if (i >= N) return;
  store_gradient<C>(d_pred, i, N, load_value(dy + i), corner_gradient_again<0, HAS_EPS, ALPHA_THROUGH>(p, t));
}
