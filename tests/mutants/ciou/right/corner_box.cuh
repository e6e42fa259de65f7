// SPDX-License-Identifier: Apache-2.0
// CIoU of one box pair from the edges' coordinates, as most published code has it.
template <typename C>
struct Edges {
  C left, right, top, bottom;
};
template <typename C>
__device__ __forceinline__ Edges<C> edges_of(const Box<C>& b) {
  return {b.cx - b.w / 2, b.cx + b.w / 2, b.cy - b.h / 2, b.cy + b.h / 2};
}

template <typename C>
struct Corners {
  C overlap_w, overlap_h, inter, united, iou;
  C enclosing_w, enclosing_h, c2;
  C apart_x, apart_y, d2;
};

template <typename C>
__device__ __forceinline__ Corners<C> corners_of(const Box<C>& p, const Box<C>& t) {
  const Edges<C> a = edges_of(p), b = edges_of(t);
  Corners<C> r;
  r.overlap_w = larger(smaller(a.right, b.right) - larger(a.left, b.left), C(0));
  r.overlap_h = larger(smaller(a.bottom, b.bottom) - larger(a.top, b.top), C(0));
  r.inter = r.overlap_w * r.overlap_h;
  r.united = p.w * p.h + t.w * t.h - r.inter + Numbers<C>::kEps;
  r.iou = r.inter / r.united;
  r.enclosing_w = larger(a.right, b.right) - smaller(a.left, b.left);
  r.enclosing_h = larger(a.bottom, b.bottom) - smaller(a.top, b.top);
  r.c2 = r.enclosing_w * r.enclosing_w + r.enclosing_h * r.enclosing_h + Numbers<C>::kEps;
  r.apart_x = ((a.left + a.right) - (b.left + b.right)) / 2;
  r.apart_y = ((a.top + a.bottom) - (b.top + b.bottom)) / 2;
  r.d2 = r.apart_x * r.apart_x + r.apart_y * r.apart_y;
  return r;
}

template <bool HAS_EPS, typename C>
__device__ __forceinline__ Outputs<C> corner_values(const Box<C>& p, const Box<C>& t) {
  const Corners<C> r = corners_of(p, t);
  const C angle = aspect_angle<HAS_EPS>(p, t);
  const C v = Numbers<C>::kFourOverPiSquared * (angle * angle);
  const C alpha = v / (C(1) - r.iou + v + Numbers<C>::kEps);
  return {C(1) - (r.iou - (r.d2 / r.c2 + v * alpha)), r.iou, v, alpha};
}

// 1 where a < b, TIE_HALVES / 2 at a tie.
template <int TIE_HALVES, typename C>
__device__ __forceinline__ C step_up(C a, C b) {
  return a < b ? C(1) : (a == b ? C(0.5) * TIE_HALVES : C(0));
}

// Derivatives of the overlap and the enclosing length by the predicted box's lower and upper edge.
template <typename C>
struct EdgeSlopes {
  C overlap_lower, overlap_upper, enclosing_lower, enclosing_upper;
};
template <int TIE_HALVES, typename C>
__device__ __forceinline__ EdgeSlopes<C> edge_slopes(C p_lower, C p_upper, C t_lower, C t_upper) {
  const C overlap = smaller(p_upper, t_upper) - larger(p_lower, t_lower);
  const bool counts = TIE_HALVES > 0 ? overlap >= C(0) : overlap > C(0);
  return {counts ? -step_up<TIE_HALVES>(t_lower, p_lower) : C(0),
          counts ? step_up<TIE_HALVES>(p_upper, t_upper) : C(0), -step_up<TIE_HALVES>(p_lower, t_lower),
          step_up<TIE_HALVES>(t_upper, p_upper)};
}

// What d loss/d iou and d loss/d v are, and the sums in the order in which a person writes them: one part
// after another.
template <int TIE_HALVES, bool HAS_EPS, typename C>
__device__ __forceinline__ Box<C> corner_gradient(const Box<C>& p, const Box<C>& t, C by_iou, C by_v) {
  const Corners<C> r = corners_of(p, t);
  const Edges<C> a = edges_of(p), b = edges_of(t);
  const EdgeSlopes<C> x = edge_slopes<TIE_HALVES>(a.left, a.right, b.left, b.right);
  const EdgeSlopes<C> y = edge_slopes<TIE_HALVES>(a.top, a.bottom, b.top, b.bottom);
  const C by_inter = by_iou * (r.united + r.inter) / (r.united * r.united);
  const C by_area = -by_iou * r.inter / (r.united * r.united);
  const C by_c2 = -r.d2 / (r.c2 * r.c2);
  const C height = HAS_EPS ? p.h + Numbers<C>::kEps : p.h;
  const C turn =
      by_v * 2 * Numbers<C>::kFourOverPiSquared * aspect_angle<HAS_EPS>(p, t) / (height * height + p.w * p.w);
  Box<C> d;
  d.cx = by_inter * r.overlap_h * (x.overlap_upper + x.overlap_lower) + 2 * r.apart_x / r.c2 +
         by_c2 * 2 * r.enclosing_w * (x.enclosing_upper + x.enclosing_lower);
  d.cy = by_inter * r.overlap_w * (y.overlap_upper + y.overlap_lower) + 2 * r.apart_y / r.c2 +
         by_c2 * 2 * r.enclosing_h * (y.enclosing_upper + y.enclosing_lower);
  d.w = by_inter * r.overlap_h * (x.overlap_upper - x.overlap_lower) / 2 + by_area * p.h +
        by_c2 * r.enclosing_w * (x.enclosing_upper - x.enclosing_lower) - turn * height;
  d.h = by_inter * r.overlap_w * (y.overlap_upper - y.overlap_lower) / 2 + by_area * p.w +
        by_c2 * r.enclosing_h * (y.enclosing_upper - y.enclosing_lower) + turn * p.w;
  return d;
}

// The same with iou and alpha computed again from the boxes.
template <int TIE_HALVES, bool HAS_EPS, bool ALPHA_THROUGH, typename C>
__device__ __forceinline__ Box<C> corner_gradient_again(const Box<C>& p, const Box<C>& t) {
  const Outputs<C> now = corner_values<HAS_EPS>(p, t);
  const C by_iou = ALPHA_THROUGH ? now.alpha * now.alpha - C(1) : C(-1);
  const C by_v = ALPHA_THROUGH ? now.alpha * (C(2) - now.alpha) : now.alpha;
  return corner_gradient<TIE_HALVES, HAS_EPS>(p, t, by_iou, by_v);
}

template <typename C, typename D>
__device__ __forceinline__ void store_outputs(D* __restrict__ loss, D* __restrict__ iou, D* __restrict__ v,
                                              D* __restrict__ alpha, long long i, const Outputs<C>& values) {
  store_value(loss + i, values.loss);
  store_value(iou + i, values.iou);
  store_value(v + i, values.v);
  store_value(alpha + i, values.alpha);
}
