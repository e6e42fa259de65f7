// SPDX-License-Identifier: Apache-2.0
// As automatic differentiation of published code goes: everything is a function of the four edges of the
// predicted box, the slopes of all parts add up there, and centre and size take theirs from the edges.
template <typename C>
struct EdgeSums {
  C lower, upper;
};
template <typename C>
__device__ __forceinline__ EdgeSums<C> edge_sums(const EdgeSlopes<C>& s, C by_overlap, C by_enclosing,
                                                 C by_distance) {
  EdgeSums<C> sums{by_overlap * s.overlap_lower, by_overlap * s.overlap_upper};
  sums.lower += by_enclosing * s.enclosing_lower;
  sums.upper += by_enclosing * s.enclosing_upper;
  sums.lower += by_distance / 2;
  sums.upper += by_distance / 2;
  return sums;
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
  const C upstream = load_value(dy + i);
  const Outputs<C> now = corner_values<HAS_EPS>(p, t);
  const Corners<C> r = corners_of(p, t);
  const Edges<C> a = edges_of(p), b = edges_of(t);
  const C by_iou = upstream * (ALPHA_THROUGH ? now.alpha * now.alpha - C(1) : C(-1));
  const C by_v = upstream * (ALPHA_THROUGH ? now.alpha * (C(2) - now.alpha) : now.alpha);
  const C by_united = -by_iou * r.inter / (r.united * r.united);
  const C by_inter = by_iou / r.united - by_united;
  const C by_c2 = -upstream * r.d2 / (r.c2 * r.c2);
  const C by_d2 = upstream / r.c2;
  const EdgeSums<C> x = edge_sums(edge_slopes<1>(a.left, a.right, b.left, b.right), by_inter * r.overlap_h,
                                  by_c2 * 2 * r.enclosing_w, by_d2 * 2 * r.apart_x);
  const EdgeSums<C> y = edge_sums(edge_slopes<1>(a.top, a.bottom, b.top, b.bottom), by_inter * r.overlap_w,
                                  by_c2 * 2 * r.enclosing_h, by_d2 * 2 * r.apart_y);
  const C eps = HAS_EPS ? Numbers<C>::kEps : C(0);
  const C aspect = p.w / (p.h + eps);
  const C by_angle = by_v * Numbers<C>::kFourOverPiSquared * 2 * aspect_angle<HAS_EPS>(p, t);
  const C by_aspect = -by_angle / (1 + aspect * aspect);
  store_value(d_pred + i, x.lower + x.upper);
  store_value(d_pred + N + i, y.lower + y.upper);
  store_value(d_pred + 2ll * N + i, by_united * p.h + (x.upper - x.lower) / 2 + by_aspect / (p.h + eps));
  store_value(d_pred + 3ll * N + i,
              by_united * p.w + (y.upper - y.lower) / 2 - by_aspect * aspect / (p.h + eps));
}
