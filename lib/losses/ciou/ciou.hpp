// SPDX-License-Identifier: Apache-2.0
// Complete IoU: the value and its gradient with respect to the predicted box, written once and evaluated on
// any scalar: double, RunningError (value and bound), HullError (all one-sided gradients), Eigen's
// AutoDiffScalar.
//
// Zheng, Wang, Liu, Li, Ye, Ren: Distance-IoU Loss (AAAI 2020), equations 9 to 12. Boxes are centre and size.
//   inter = max(0, overlap_x) * max(0, overlap_y)           iou = inter / (pw*ph + tw*th - inter + eps)
//   d2 = squared centre distance                            c2 = squared diagonal of the enclosing box
//   v = 4/pi^2 * (atan(tw/(th+a)) - atan(pw/(ph+a)))^2      alpha = v / (1 - iou + v + eps)
//   loss = 1 - iou + d2/(c2+eps) + alpha*v
// With A = alpha*v = v^2/D, D = 1 - iou + v + eps:
//   dA/diou = alpha^2, dA/dv = 2*alpha - alpha^2 where alpha carries a gradient; 0 and alpha where it is held
//   fixed.
// eps, a and what CiouConvention names besides differ by convention; eps = a = 1e-7 in the default.
//
// Two forms of the same numbers. `corner` takes the edges' coordinates first, as nearly all published code
// does, and loses digits far from the origin. `centre` works with differences of centres only:
//   overlap = min(pw, tw, (pw+tw)/2 - |px-tx|)    enclosing = max(pw, tw, (pw+tw)/2 + |px-tx|)
// Both identities hold for sizes of any sign.
#pragma once

#include <string_view>

#include "math/dual.hpp"
#include "math/running_error.hpp"

namespace lossgrad {

inline constexpr double kCiouEps = 1e-7;
inline constexpr double kFourOverPiSquared = 0.405284734569351085775517852838911;  // 4 / pi^2

struct CiouConvention {
  std::string_view name;
  std::string_view summary;
  std::string_view kernel_choices;  // a struct of ciou_kernels.cuh; empty: the contract's
  double aspect_eps;                // added to the heights in the aspect ratios
  bool alpha_through;               // alpha carries a gradient (through the IoU and through v)
  double eps = kCiouEps;            // added to the union and to the squared diagonal
  double alpha_eps = kCiouEps;      // added to the denominator of alpha
  bool alpha_eps_first = false;     // alpha = v / (v - iou + (1 + eps)): a small eps may be lost in the 1
  bool union_eps_twice = false;     // the union gets eps a second time
  bool eps_in_areas = false;        // the areas are of the heights with aspect_eps
  bool areas_clamped = false;       // at 0
  bool enclosing_clamped = false;   // its sides at 0
  bool constant_squared = false;    // v = (4/pi^2 * angle)^2
  bool alpha_gated = false;         // alpha is 0 unless iou > 0.5
  bool loss_clamped = false;        // to [0, 2]: 1 - clamp(1 - loss, -1, 1)
};

enum class CiouForm { corner, centre };

template <class T>
struct CiouBox {
  T cx, cy, w, h;
};

// Overlap and enclosing length along one axis. Derivatives are with respect to the predicted box: by its
// centre and size, and by its upper and lower edge.
template <class T>
struct CiouAxis {
  T distance;  // pred centre - target centre
  T overlap;   // clamped at 0
  T enclosing;
  // Derivatives, branches resolved by indicators.
  T overlap_by_centre, overlap_by_size, overlap_by_upper, overlap_by_lower;
  T enclosing_by_centre, enclosing_by_size, enclosing_by_upper, enclosing_by_lower;
};

template <class T>
struct CiouValues {
  CiouAxis<T> x, y;
  T area_height;  // of pred, as its area takes it
  T inter, union_eps, iou;
  T d2, c2_eps;
  T angle;  // atan(target aspect) - atan(pred aspect)
  T v, alpha, loss;
  T inside;  // 1 where a clamp of the loss passes the gradient, else 0; of loss_clamped alone
};

// One axis.

template <class T>
T ciou_clamp_at_zero(const T& x) {
  return max_of(x, T(0.0));
}

// Four separate indicators: a right kernel may resolve a tie differently in the overlap and in the enclosing
// box.
template <class T>
void ciou_axis_derivatives(CiouAxis<T>& axis, const T& raw_overlap, const T& upper, const T& lower) {
  // upper = pred's upper edge - target's, lower = pred's lower edge - target's, in whichever form is
  // accurate.
  const T zero(0.0);
  const T positive = indicator_less(zero, raw_overlap);
  const T inner_upper = indicator_less(upper, zero);
  const T inner_lower = indicator_less(zero, lower);
  axis.overlap_by_centre = positive * (inner_upper - inner_lower);
  axis.overlap_by_size = scale_exactly(T(positive * (inner_upper + inner_lower)), 0.5);
  axis.overlap_by_upper = positive * inner_upper;
  axis.overlap_by_lower = -(positive * inner_lower);
  const T outer_upper = indicator_less(zero, upper);
  const T outer_lower = indicator_less(lower, zero);
  axis.enclosing_by_centre = outer_upper - outer_lower;
  axis.enclosing_by_size = scale_exactly(T(outer_upper + outer_lower), 0.5);
  axis.enclosing_by_upper = outer_upper;
  axis.enclosing_by_lower = -outer_lower;
}

template <class T>
CiouAxis<T> ciou_axis_corner(const T& pc, const T& pw, const T& tc, const T& tw, bool derivatives) {
  const T half_p = scale_exactly(pw, 0.5), half_t = scale_exactly(tw, 0.5);
  const T p_lower = pc - half_p, p_upper = pc + half_p;
  const T t_lower = tc - half_t, t_upper = tc + half_t;
  CiouAxis<T> axis{};
  // Corner code takes the centres back from the edges.
  axis.distance = scale_exactly(T((p_lower + p_upper) - (t_lower + t_upper)), 0.5);
  const T raw = min_of(p_upper, t_upper) - max_of(p_lower, t_lower);
  axis.overlap = ciou_clamp_at_zero(raw);
  axis.enclosing = max_of(p_upper, t_upper) - min_of(p_lower, t_lower);
  if (derivatives) ciou_axis_derivatives(axis, raw, T(p_upper - t_upper), T(p_lower - t_lower));
  return axis;
}

template <class T>
CiouAxis<T> ciou_axis_centre(const T& pc, const T& pw, const T& tc, const T& tw, bool derivatives) {
  CiouAxis<T> axis{};
  axis.distance = pc - tc;
  const T apart = abs_of(axis.distance);
  const T mean = scale_exactly(T(pw + tw), 0.5);
  const T raw = min_of(min_of(pw, tw), T(mean - apart));
  axis.overlap = ciou_clamp_at_zero(raw);
  axis.enclosing = max_of(max_of(pw, tw), T(mean + apart));
  if (derivatives) {
    const T half_growth = scale_exactly(T(pw - tw), 0.5);
    ciou_axis_derivatives(axis, raw, T(axis.distance + half_growth), T(axis.distance - half_growth));
  }
  return axis;
}

template <class T>
CiouAxis<T> ciou_axis(CiouForm form, const T& pc, const T& pw, const T& tc, const T& tw, bool derivatives) {
  return form == CiouForm::corner ? ciou_axis_corner(pc, pw, tc, tw, derivatives)
                                  : ciou_axis_centre(pc, pw, tc, tw, derivatives);
}

// Alpha.

// Whether scalars carry a bound.
template <class T>
inline constexpr bool kCiouBounded = requires(T x) {
  x.error;
};

// Without the gate. With a bound it holds for either order of the denominator's sum.
template <class T>
T ciou_alpha_quotient(const T& v, const T& iou, const CiouConvention& convention) {
  const T one(1.0);
  const T sum = one - iou + v;
  const T eps = rounded_constant<T>(convention.alpha_eps);
  T quotient = v / (convention.alpha_eps == 0 ? sum : T(sum + eps));
  if constexpr (kCiouBounded<T>) {
    if (!convention.alpha_eps_first) return quotient;
    const T eps_first = v / (v - iou + rounded_constant<T>(1 + convention.alpha_eps));
    quotient.error = std::max(quotient.error, eps_first.error);
  }
  return quotient;
}

// Below the unit roundoff eps is lost in 1 + eps: as if there was none.
template <Dtype kType>
bool ciou_alpha_eps_counts(const CiouConvention& convention) {
  return convention.alpha_eps >= ComputeFormat<kType>::kUnitRoundoff;
}

// For identical boxes 1 - iou is eps-sized and the plain bound of v / D is infinite, while v is zero to
// second order. Two facts keep alpha bounded there. A kernel that forms 1 - iou from an iou held in the
// compute type has it on the grid of numbers near 1, and eps is at least eps/8 away from that grid (f32: 1e-7
// - 2^-23 = -1.92e-8), so |1 - iou + eps| >= eps/8, and below zero only where iou has rounded to 1 + 2^-23:
// boxes so nearly equal that v is far below eps/8 and D keeps its sign. So alpha <= v / (eps/8). And alpha is
// a fraction: 0 <= alpha <= 1 while 1 - iou + eps is not negative. The error is the smallest of the plain
// bound and these two.
// Where eps does not count, D may be 0 and alpha NaN: what is a number there lies between -1 and 1 while v is
// at most half a unit roundoff, since on the grid 1 - iou is either not negative or at most -2u, which v
// (and the lost eps) cannot bring nearer to 0 than u.
template <Dtype kType>
double ciou_alpha_error(double alpha, double plain_error, double v_largest,
                        const CiouConvention& convention) {
  constexpr double kUnit = ComputeFormat<kType>::kUnitRoundoff;
  if (!ciou_alpha_eps_counts<kType>(convention))
    return v_largest <= kUnit / 2 ? std::min(plain_error, 1 + std::abs(alpha)) : plain_error;
  const double by_grid = v_largest / (convention.alpha_eps / 8);
  const double by_range = std::max(std::abs(alpha), std::abs(1 - alpha)) + 4 * kUnit;
  return std::min(plain_error, std::min(by_grid, by_range));
}
template <Dtype kType>
double ciou_largest(const RunningError<kType>& x) {
  return x.value;
}
template <Dtype kType>
double ciou_largest(const HullError<kType>& x) {
  return x.high;
}
template <class T>
T ciou_open_alpha(const T& v, const T& iou, const CiouConvention& convention) {
  return ciou_alpha_quotient(v, iou, convention);
}
// The same facts say that D is no zero divisor where eps counts, unless the iou itself may be infinite or
// NaN.
template <template <Dtype> class Bounded, Dtype kType>
Bounded<kType> ciou_open_alpha(const Bounded<kType>& v, const Bounded<kType>& iou,
                               const CiouConvention& convention) {
  const bool before = running_error_state.divisor_may_be_zero;
  Bounded<kType> alpha = ciou_alpha_quotient(v, iou, convention);
  if (!std::isfinite(iou.error)) return alpha;
  if (ciou_alpha_eps_counts<kType>(convention)) running_error_state.divisor_may_be_zero = before;
  alpha.error =
      ciou_alpha_error<kType>(ciou_largest(alpha), alpha.error, ciou_largest(v) + v.error, convention);
  return alpha;
}

template <class T>
T ciou_alpha(const T& v, const T& iou, const CiouConvention& convention) {
  const T alpha = ciou_open_alpha(v, iou, convention);
  return convention.alpha_gated ? T(alpha * indicator_less(T(0.5), iou)) : alpha;
}

// Value.

template <class T>
T ciou_height(const T& height, double eps) {
  return eps == 0 ? height : T(height + rounded_constant<T>(eps));
}

template <class T>
void ciou_aspect(const CiouBox<T>& pred, const CiouBox<T>& target, const CiouConvention& convention,
                 CiouValues<T>& r) {
  const T target_height = ciou_height(target.h, convention.aspect_eps);
  const T pred_height = ciou_height(pred.h, convention.aspect_eps);
  const T constant = rounded_constant<T>(kFourOverPiSquared);
  r.angle = angle_difference(atan_of(T(target.w / target_height)), atan_of(T(pred.w / pred_height)));
  r.v = constant * r.angle * r.angle;
  if (convention.constant_squared) r.v = constant * r.v;
}

// No gradient passes through a clamp of an area: where one is negative there is no overlap, and the IoU is 0
// whatever the union is.
template <class T>
void ciou_union(const CiouBox<T>& pred, const CiouBox<T>& target, const CiouConvention& convention,
                CiouValues<T>& r) {
  const T eps = rounded_constant<T>(convention.eps);
  const double height_eps = convention.eps_in_areas ? convention.aspect_eps : 0;
  r.area_height = ciou_height(pred.h, height_eps);
  T pred_area = pred.w * r.area_height;
  T target_area = target.w * ciou_height(target.h, height_eps);
  if (convention.areas_clamped) {
    pred_area = ciou_clamp_at_zero(pred_area);
    target_area = ciou_clamp_at_zero(target_area);
  }
  r.inter = r.x.overlap * r.y.overlap;
  r.union_eps = pred_area + target_area - r.inter + eps;
  if (convention.union_eps_twice) r.union_eps = r.union_eps + eps;
  if constexpr (kCiouBounded<T>) {
    // Of boxes turned inside out -w*(h+eps) + ... + eps may be 0 in double and not in the compute type, or
    // the other way round: 0/0 says nothing of the iou then.
    const bool by_chance = ciou_largest(r.union_eps) == 0 && r.union_eps.error > 0;
    if (convention.eps_in_areas && by_chance) running_error_state.overflow = true;
  }
  r.iou = r.inter / r.union_eps;
}

template <class T>
T ciou_clamped_loss(const T& loss, const CiouConvention& convention) {
  return convention.loss_clamped ? min_of(ciou_clamp_at_zero(loss), T(2.0)) : loss;
}

// The value and everything it is made of. `derivatives`: fill the axes' derivatives too.
template <class T>
CiouValues<T> ciou_values(const CiouBox<T>& pred, const CiouBox<T>& target, const CiouConvention& convention,
                          CiouForm form, bool derivatives) {
  CiouValues<T> r{};
  r.x = ciou_axis(form, pred.cx, pred.w, target.cx, target.w, derivatives);
  r.y = ciou_axis(form, pred.cy, pred.h, target.cy, target.h, derivatives);
  if (convention.enclosing_clamped) {  // the derivatives are multiplied by the side
    r.x.enclosing = ciou_clamp_at_zero(r.x.enclosing);
    r.y.enclosing = ciou_clamp_at_zero(r.y.enclosing);
  }
  ciou_union(pred, target, convention, r);
  r.d2 = r.x.distance * r.x.distance + r.y.distance * r.y.distance;
  r.c2_eps =
      r.x.enclosing * r.x.enclosing + r.y.enclosing * r.y.enclosing + rounded_constant<T>(convention.eps);
  ciou_aspect(pred, target, convention, r);
  r.alpha = ciou_alpha(r.v, r.iou, convention);
  const T loss = T(1.0) - r.iou + r.d2 / r.c2_eps + r.alpha * r.v;
  if (derivatives && convention.loss_clamped)
    r.inside = indicator_less(T(0.0), loss) * indicator_less(loss, T(2.0));
  r.loss = ciou_clamped_loss(loss, convention);
  return r;
}

// Gradient.

// What both ways of adding up the parts need.
template <class T>
struct CiouFactors {
  T by_inter{},
      by_area{};  // (a) IoU: d iou/d inter = (1 + iou)/U, d iou/d pred area = -iou/U, with reciprocals
  T two_over_c2{}, ratio{};  // (b) 2/(c2+eps), d2/(c2+eps)
  T by_width{},
      by_height{};       // (c) aspect: d angle/d pred w = -h'/(h'^2 + w^2), d angle/d pred h = w/(h'^2 + w^2)
  bool clamped = false;  // the loss is, and dy counts only where r.inside says so
};

// `iou` and `alpha` are what the kernel sees of them: saved values or computed again.
template <class T>
CiouFactors<T> ciou_factors(const CiouBox<T>& pred, const CiouValues<T>& r, const T& iou, const T& alpha,
                            const CiouConvention& convention) {
  const T one(1.0);
  const T by_iou = convention.alpha_through ? T(alpha * alpha - one) : T(-one);
  const T by_v = convention.alpha_through ? T(scale_exactly(alpha, 2.0) - alpha * alpha) : alpha;
  const T inverse_union = one / r.union_eps;
  const T inverse_c2 = one / r.c2_eps;
  const T height = ciou_height(pred.h, convention.aspect_eps);
  T scale =
      by_v * rounded_constant<T>(2 * kFourOverPiSquared) * r.angle / (height * height + pred.w * pred.w);
  if (convention.constant_squared) scale = rounded_constant<T>(kFourOverPiSquared) * scale;
  CiouFactors<T> f;
  f.by_inter = by_iou * (one + iou) * inverse_union;
  f.by_area = -(by_iou * iou * inverse_union);
  f.ratio = r.d2 * inverse_c2;
  f.two_over_c2 = scale_exactly(inverse_c2, 2.0);
  f.by_width = -(scale * height);
  f.by_height = scale * pred.w;
  f.clamped = convention.loss_clamped;
  return f;
}

template <class T>
T ciou_upstream(const CiouValues<T>& r, const CiouFactors<T>& f, const T& dy) {
  return f.clamped ? T(dy * r.inside) : dy;
}

// d loss / d pred times dy, each component summed on its own.
template <class T>
CiouBox<T> ciou_gradient(const CiouBox<T>& pred, const CiouValues<T>& r, const CiouFactors<T>& f,
                         const T& dy) {
  const T upstream = ciou_upstream(r, f, dy);
  CiouBox<T> d{};
  d.cx = upstream * (f.by_inter * r.y.overlap * r.x.overlap_by_centre +
                     f.two_over_c2 * (r.x.distance - f.ratio * r.x.enclosing * r.x.enclosing_by_centre));
  d.cy = upstream * (f.by_inter * r.x.overlap * r.y.overlap_by_centre +
                     f.two_over_c2 * (r.y.distance - f.ratio * r.y.enclosing * r.y.enclosing_by_centre));
  d.w = upstream * (f.by_inter * r.y.overlap * r.x.overlap_by_size + f.by_area * r.area_height -
                    f.two_over_c2 * f.ratio * r.x.enclosing * r.x.enclosing_by_size + f.by_width);
  d.h = upstream * (f.by_inter * r.x.overlap * r.y.overlap_by_size + f.by_area * pred.w -
                    f.two_over_c2 * f.ratio * r.y.enclosing * r.y.enclosing_by_size + f.by_height);
  return d;
}

// The same as automatic differentiation of corner code adds it up: everything at the two edges of an axis
// first, then centre = upper + lower and size = (upper - lower)/2. What cancels between the edges leaves its
// rounding behind, so the bound is larger where the parts are.
template <class T>
struct CiouEdgeSums {
  T by_centre, by_size;
};
template <class T>
CiouEdgeSums<T> ciou_edge_sums(const CiouAxis<T>& axis, const T& other_overlap, const T& by_size,
                               const CiouFactors<T>& f) {
  const T shift = scale_exactly(T(f.two_over_c2 * axis.distance), 0.5);
  const T lengthen = f.two_over_c2 * f.ratio * axis.enclosing;
  const T upper = f.by_inter * other_overlap * axis.overlap_by_upper - lengthen * axis.enclosing_by_upper +
                  shift + by_size;
  const T lower = f.by_inter * other_overlap * axis.overlap_by_lower - lengthen * axis.enclosing_by_lower +
                  shift - by_size;
  return {upper + lower, scale_exactly(T(upper - lower), 0.5)};
}

template <class T>
CiouBox<T> ciou_gradient_at_edges(const CiouBox<T>& pred, const CiouValues<T>& r, const CiouFactors<T>& f,
                                  const T& dy) {
  const auto x = ciou_edge_sums(r.x, r.y.overlap, T(f.by_area * r.area_height + f.by_width), f);
  const auto y = ciou_edge_sums(r.y, r.x.overlap, T(f.by_area * pred.w + f.by_height), f);
  const T upstream = ciou_upstream(r, f, dy);
  return {upstream * x.by_centre, upstream * y.by_centre, upstream * x.by_size, upstream * y.by_size};
}

}  // namespace lossgrad
