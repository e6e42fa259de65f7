// SPDX-License-Identifier: Apache-2.0
// Every product that a sum follows is fused with it, in place of what a compiler may do on its own.
__device__ __forceinline__ float fused(float a, float b, float c) { return fmaf(a, b, c); }
__device__ __forceinline__ double fused(double a, double b, double c) { return fma(a, b, c); }

template <typename D, int BLOCK_N, bool HAS_EPS>
__device__ __forceinline__ void yolo_ciou_loss_forward(const D* __restrict__ pred,
                                                       const D* __restrict__ target, D* __restrict__ loss,
                                                       D* __restrict__ iou, D* __restrict__ v,
                                                       D* __restrict__ alpha, int N) {
  using C = typename ComputeOf<D>::type;
  const long long i = static_cast<long long>(blockIdx.x) * BLOCK_N + threadIdx.x;
  if (i >= N) return;
  const Box<C> p = load_box<C>(pred, i, N), t = load_box<C>(target, i, N);
  const Edges<C> a{fused(p.w, C(-0.5), p.cx), fused(p.w, C(0.5), p.cx), fused(p.h, C(-0.5), p.cy),
                   fused(p.h, C(0.5), p.cy)};
  const Edges<C> b{fused(t.w, C(-0.5), t.cx), fused(t.w, C(0.5), t.cx), fused(t.h, C(-0.5), t.cy),
                   fused(t.h, C(0.5), t.cy)};
  const C eps = Numbers<C>::kEps;
  const C overlap_w = larger(smaller(a.right, b.right) - larger(a.left, b.left), C(0));
  const C overlap_h = larger(smaller(a.bottom, b.bottom) - larger(a.top, b.top), C(0));
  const C united = fused(-overlap_w, overlap_h, fused(p.w, p.h, t.w * t.h)) + eps;
  const C iou_value = overlap_w * overlap_h / united;
  const C enclosing_w = larger(a.right, b.right) - smaller(a.left, b.left);
  const C enclosing_h = larger(a.bottom, b.bottom) - smaller(a.top, b.top);
  const C apart_x = p.cx - t.cx, apart_y = p.cy - t.cy;
  const C c2 = fused(enclosing_w, enclosing_w, fused(enclosing_h, enclosing_h, eps));
  const C angle = aspect_angle<HAS_EPS>(p, t);
  const C v_value = Numbers<C>::kFourOverPiSquared * angle * angle;
  const C alpha_value = v_value / (C(1) - iou_value + v_value + eps);
  const C ratio = fused(apart_x, apart_x, apart_y * apart_y) / c2;
  store_value(loss + i, fused(alpha_value, v_value, C(1) - iou_value + ratio));
  store_value(iou + i, iou_value);
  store_value(v + i, v_value);
  store_value(alpha + i, alpha_value);
}

template <typename C>
__device__ __forceinline__ C fused_sum(C by_inter, C across, C slope, C pull, C enclosing_slope, C base) {
  return fused(by_inter * across, slope, fused(-pull, enclosing_slope, base));
}

template <typename D, int BLOCK_N, bool HAS_EPS, bool ALPHA_THROUGH>
__device__ __forceinline__ void yolo_ciou_loss_backward(const D* __restrict__ dy, const D* __restrict__ pred,
                                                        const D* __restrict__ target,
                                                        const D* __restrict__ /*iou*/,
                                                        const D* __restrict__ /*v*/,
                                                        const D* __restrict__ alpha, D* __restrict__ d_pred,
                                                        int N) {
  using C = typename ComputeOf<D>::type;
  const long long i = static_cast<long long>(blockIdx.x) * BLOCK_N + threadIdx.x;
  if (i >= N) return;
  const Box<C> p = load_box<C>(pred, i, N), t = load_box<C>(target, i, N);
  const Corners<C> r = corners_of(p, t);
  const Edges<C> a = edges_of(p), b = edges_of(t);
  const EdgeSlopes<C> x = edge_slopes<0>(a.left, a.right, b.left, b.right);
  const EdgeSlopes<C> y = edge_slopes<0>(a.top, a.bottom, b.top, b.bottom);
  const C share = load_value(alpha + i), upstream = load_value(dy + i);
  const C by_iou = (ALPHA_THROUGH ? fused(share, share, C(-1)) : C(-1)) / r.united;
  const C by_v = ALPHA_THROUGH ? fused(-share, share, 2 * share) : share;
  const C by_inter = fused(by_iou, r.iou, by_iou), by_area = -by_iou * r.iou;
  const C twice = 2 / r.c2, ratio = r.d2 / r.c2;
  const C height = HAS_EPS ? p.h + Numbers<C>::kEps : p.h;
  const C turn = by_v * (2 * Numbers<C>::kFourOverPiSquared) * aspect_angle<HAS_EPS>(p, t) /
                 fused(height, height, p.w * p.w);
  const C pull_x = twice * ratio * r.enclosing_w, pull_y = twice * ratio * r.enclosing_h;
  Box<C> d;
  d.cx = fused_sum(by_inter, r.overlap_h, x.overlap_upper + x.overlap_lower, pull_x,
                   x.enclosing_upper + x.enclosing_lower, twice * r.apart_x);
  d.cy = fused_sum(by_inter, r.overlap_w, y.overlap_upper + y.overlap_lower, pull_y,
                   y.enclosing_upper + y.enclosing_lower, twice * r.apart_y);
  d.w = fused_sum(by_inter, r.overlap_h, (x.overlap_upper - x.overlap_lower) / 2, pull_x,
                  (x.enclosing_upper - x.enclosing_lower) / 2, fused(by_area, p.h, -turn * height));
  d.h = fused_sum(by_inter, r.overlap_w, (y.overlap_upper - y.overlap_lower) / 2, pull_y,
                  (y.enclosing_upper - y.enclosing_lower) / 2, fused(by_area, p.w, turn * p.w));
  store_gradient<C>(d_pred, i, N, upstream, d);
}
