// SPDX-License-Identifier: Apache-2.0
// CIoU kernels in plain CUDA C++, one thread a box, BLOCK_N boxes a thread block. Centre-difference
// arithmetic:
//   overlap = min(pw, tw, (pw+tw)/2 - |px-tx|), enclosing = max(pw, tw, (pw+tw)/2 + |px-tx|)
// so that boxes far from the origin keep their digits. Comparisons are written so that a NaN reaches every
// output that depends on it (fminf and fmaxf would drop it). HAS_EPS adds eps to the heights in the aspect
// ratios; ALPHA_THROUGH says whether alpha carries a gradient; CHOICES is what some conventions choose
// besides. Boxes are [4, N], component-major; offsets are 64-bit.

struct CiouContract {
  static constexpr double kEps = 1e-7;  // in union, diagonal, heights and alpha
  static constexpr bool kUnionEpsTwice = false;
  static constexpr bool kEpsInAreas = false;        // heights with eps in the areas too
  static constexpr bool kAreasClamped = false;      // at 0
  static constexpr bool kEnclosingClamped = false;  // its sides at 0
  static constexpr bool kConstantSquared = false;   // v = (4/pi^2 * angle)^2
  static constexpr bool kAlphaGated = false;        // no eps in alpha, which is 0 unless iou > 0.5
  static constexpr bool kLossClamped = false;       // to [0, 2]
};
struct CiouUltralytics : CiouContract {
  static constexpr bool kEpsInAreas = true;
};
struct CiouMmdetection : CiouContract {
  static constexpr double kEps = 1e-6;
  static constexpr bool kEnclosingClamped = true, kAlphaGated = true, kLossClamped = true;
};
struct CiouPaddle : CiouContract {
  static constexpr double kEps = 1e-9;
  static constexpr bool kAreasClamped = true;
};
struct CiouKeras : CiouContract {
  static constexpr bool kUnionEpsTwice = true, kEpsInAreas = true, kConstantSquared = true;
};

template <typename C, typename CHOICES = CiouContract>
struct CiouConstants {
  static constexpr C kEps = C(CHOICES::kEps);
  static constexpr C kFourOverPiSquared = C(0.405284734569351085775517852838911);
};

template <typename C>
struct CiouSide {  // one axis
  C apart;         // pred centre - target centre
  C growth;        // half of pred size - target size
  C overlap;       // clamped at 0
  C enclosing;
};

template <typename C>
__device__ __forceinline__ CiouSide<C> ciou_side(C pc, C ps, C tc, C ts) {
  CiouSide<C> side;
  side.apart = pc - tc;
  side.growth = C(0.5) * (ps - ts);
  const C distance = absolute(side.apart);
  const C mean = C(0.5) * (ps + ts);
  const C inner = ps < ts ? ps : ts, outer = ps > ts ? ps : ts;
  const C shift = mean - distance, reach = mean + distance;
  const C overlap = inner < shift ? inner : shift;
  side.overlap = overlap <= C(0) ? C(0) : overlap;
  side.enclosing = outer > reach ? outer : reach;
  return side;
}

// atan(tw/th) - atan(pw/ph) with heights that already carry their eps. In f32 the difference is taken as one
// angle between two vectors, which keeps the digits of nearly equal ratios; where a product overflows, where
// eps is left out (0/0 is NaN as written) and in f64 the plain ratios decide.
template <bool HAS_EPS, typename C>
__device__ __forceinline__ C ciou_angle(C pw, C ph, C tw, C th) {
  const C across = tw * ph - pw * th;
  const C along = th * ph + tw * pw;
  const bool finite = across - across == C(0) && along - along == C(0);
  if (!HAS_EPS || sizeof(C) == 8 || !finite) return arc_tangent(tw / th) - arc_tangent(pw / ph);
  const bool opposite = (th < C(0)) != (ph < C(0));  // atan of a ratio knows no sign of the height
  return angle_of(opposite ? -across : across, opposite ? -along : along);
}

template <typename C>
struct CiouPair {
  C pw, ph, height;  // height carries eps where HAS_EPS, ph where areas do
  CiouSide<C> x, y;
  C inter, united;  // united = union + eps
  C angle;
};

// All loads at once where registers allow it; f64 in blocks of more than 512 threads has but 64 registers a
// thread.
template <typename D, int BLOCK_N>
__device__ constexpr bool loads_first() {
  return sizeof(D) <= 4 || BLOCK_N <= 512;
}

// Without LOADS_FIRST the angle comes first: it needs the sizes alone, and most registers.
template <bool HAS_EPS, bool LOADS_FIRST, typename CHOICES, typename D,
          typename C = typename ComputeOf<D>::type>
__device__ __forceinline__ CiouPair<C> ciou_pair(const D* __restrict__ pred, const D* __restrict__ target,
                                                 long long i, long long n) {
  const C eps = CiouConstants<C, CHOICES>::kEps;
  const C tw = load_value(target + 2 * n + i);
  C th = load_value(target + 3 * n + i);
  C px = C(0), py = C(0), tx = C(0), ty = C(0);
  const auto load_centres = [&] {
    px = load_value(pred + i), py = load_value(pred + n + i);
    tx = load_value(target + i), ty = load_value(target + n + i);
  };
  if (LOADS_FIRST) load_centres();
  CiouPair<C> pair;
  pair.pw = load_value(pred + 2 * n + i);
  pair.ph = load_value(pred + 3 * n + i);
  pair.height = HAS_EPS ? pair.ph + eps : pair.ph;
  pair.angle = ciou_angle<HAS_EPS>(pair.pw, pair.height, tw, HAS_EPS ? th + eps : th);
  if (!LOADS_FIRST) load_centres();
  pair.x = ciou_side(px, pair.pw, tx, tw);
  pair.y = ciou_side(py, pair.ph, ty, th);
  if constexpr (CHOICES::kEnclosingClamped) {
    pair.x.enclosing = pair.x.enclosing < C(0) ? C(0) : pair.x.enclosing;
    pair.y.enclosing = pair.y.enclosing < C(0) ? C(0) : pair.y.enclosing;
  }
  if constexpr (CHOICES::kEpsInAreas) pair.ph = pair.height, th = th + eps;
  pair.inter = pair.x.overlap * pair.y.overlap;
  pair.united = pair.pw * pair.ph + tw * th - pair.inter + eps;
  if constexpr (CHOICES::kUnionEpsTwice) pair.united = pair.united + eps;
  // Areas of at least 0 leave at least eps; where that matters nothing overlaps and the iou is 0 in any case.
  if constexpr (CHOICES::kAreasClamped) pair.united = pair.united < eps ? eps : pair.united;
  return pair;
}

template <typename D, int BLOCK_N, bool HAS_EPS, typename CHOICES = CiouContract>
__device__ __forceinline__ void yolo_ciou_loss_forward(const D* __restrict__ pred,
                                                       const D* __restrict__ target, D* __restrict__ loss,
                                                       D* __restrict__ iou, D* __restrict__ v,
                                                       D* __restrict__ alpha, int N) {
  using C = typename ComputeOf<D>::type;
  const long long i = static_cast<long long>(blockIdx.x) * BLOCK_N + threadIdx.x;
  if (i >= N) return;
  const CiouPair<C> pair = ciou_pair<HAS_EPS, loads_first<D, BLOCK_N>(), CHOICES>(pred, target, i, N);
  const C eps = CiouConstants<C, CHOICES>::kEps;
  const C d2 = pair.x.apart * pair.x.apart + pair.y.apart * pair.y.apart;
  const C c2 = pair.x.enclosing * pair.x.enclosing + pair.y.enclosing * pair.y.enclosing + eps;
  const C iou_value = pair.inter / pair.united;
  C v_value = CiouConstants<C>::kFourOverPiSquared * pair.angle * pair.angle;
  if constexpr (CHOICES::kConstantSquared) v_value = v_value * CiouConstants<C>::kFourOverPiSquared;
  const C one_minus_iou = C(1) - iou_value;
  C alpha_value = v_value / (one_minus_iou + v_value + eps);
  if constexpr (CHOICES::kAlphaGated)
    alpha_value = (iou_value > C(0.5) ? C(1) : C(0)) * (v_value / (one_minus_iou + v_value));
  if constexpr (CHOICES::kLossClamped) {
    const C open = one_minus_iou + (d2 / c2 + v_value * alpha_value);
    store_value(loss + i, open < C(0) ? C(0) : (open > C(2) ? C(2) : open));
  } else {
    store_value(loss + i, one_minus_iou + d2 / c2 + alpha_value * v_value);
  }
  store_value(iou + i, iou_value);
  store_value(v + i, v_value);
  store_value(alpha + i, alpha_value);
}

// Derivatives of the overlap and the enclosing length along one axis with respect to the predicted centre and
// size. Which edge is inside follows from differences of small numbers, upper edges: apart + (ps-ts)/2, lower
// edges: apart - (ps-ts)/2; the lengths themselves are rounded too coarsely to tell nearly equal boxes apart.
template <typename C>
struct CiouSlope {
  C overlap_by_centre, overlap_by_size, enclosing_by_centre, enclosing_by_size;
};

template <typename C>
__device__ __forceinline__ CiouSlope<C> ciou_slope(const CiouSide<C>& side) {
  const C upper = side.apart + side.growth, lower = side.apart - side.growth;
  const C inner_upper = upper < C(0) ? C(1) : C(0), inner_lower = lower > C(0) ? C(1) : C(0);
  const C outer_upper = upper > C(0) ? C(1) : C(0), outer_lower = lower < C(0) ? C(1) : C(0);
  const bool apart = side.overlap <= C(0);
  CiouSlope<C> slope;
  slope.overlap_by_centre = apart ? C(0) : inner_upper - inner_lower;
  slope.overlap_by_size = apart ? C(0) : C(0.5) * (inner_upper + inner_lower);
  slope.enclosing_by_centre = outer_upper - outer_lower;
  slope.enclosing_by_size = C(0.5) * (outer_upper + outer_lower);
  return slope;
}

// d_pred in three parts: (a) the IoU, (b) the centre distance over the enclosing diagonal, (c) alpha * v. iou
// and v are not read: the overlap that the branches need gives the iou, and alpha is all of v that the
// gradient needs.
template <typename D, int BLOCK_N, bool HAS_EPS, bool ALPHA_THROUGH, typename CHOICES = CiouContract>
__device__ __forceinline__ void yolo_ciou_loss_backward(const D* __restrict__ dy, const D* __restrict__ pred,
                                                        const D* __restrict__ target,
                                                        const D* __restrict__ /*iou*/,
                                                        const D* __restrict__ /*v*/,
                                                        const D* __restrict__ alpha, D* __restrict__ d_pred,
                                                        int N) {
  using C = typename ComputeOf<D>::type;
  const long long n = N;
  const long long i = static_cast<long long>(blockIdx.x) * BLOCK_N + threadIdx.x;
  if (i >= n) return;
  constexpr bool kLoadsFirst = loads_first<D, BLOCK_N>();
  C alpha_value = C(0), upstream = C(0);
  const auto load_alpha = [&] { alpha_value = load_value(alpha + i); };
  const auto load_upstream = [&] { upstream = load_value(dy + i); };
  if (kLoadsFirst) load_alpha(), load_upstream();
  const CiouPair<C> pair = ciou_pair<HAS_EPS, kLoadsFirst, CHOICES>(pred, target, i, n);
  const CiouSlope<C> sx = ciou_slope(pair.x);
  const CiouSlope<C> sy = ciou_slope(pair.y);

  if (!kLoadsFirst) load_alpha();
  const C inverse_union = C(1) / pair.united;
  const C iou = pair.inter * inverse_union;
  const C by_iou = (ALPHA_THROUGH ? alpha_value * alpha_value - C(1) : C(-1)) * inverse_union;
  const C by_inter = by_iou * (C(1) + iou);
  const C by_area = -by_iou * iou;

  const C d2 = pair.x.apart * pair.x.apart + pair.y.apart * pair.y.apart;
  const C c2 = pair.x.enclosing * pair.x.enclosing + pair.y.enclosing * pair.y.enclosing +
               CiouConstants<C, CHOICES>::kEps;
  const C inverse_c2 = C(1) / c2;
  const C ratio = d2 * inverse_c2;
  bool clamped = false;  // no gradient passes a clamp of the loss
  if constexpr (CHOICES::kLossClamped) {
    const C v = pair.angle * pair.angle * CiouConstants<C>::kFourOverPiSquared;
    const C open = C(1) - iou + (ratio + alpha_value * v);
    clamped = open < C(0) || open > C(2);
  }
  const C two_over_c2 = C(2) * inverse_c2;

  C by_v = ALPHA_THROUGH ? alpha_value * (C(2) - alpha_value) : alpha_value;
  if constexpr (CHOICES::kConstantSquared) by_v = by_v * CiouConstants<C>::kFourOverPiSquared;
  const C square = pair.height * pair.height + pair.pw * pair.pw;
  const C angle_scale = by_v * (C(2) * CiouConstants<C>::kFourOverPiSquared) * pair.angle / square;

  const C d_cx = by_inter * pair.y.overlap * sx.overlap_by_centre +
                 two_over_c2 * (pair.x.apart - ratio * pair.x.enclosing * sx.enclosing_by_centre);
  const C d_cy = by_inter * pair.x.overlap * sy.overlap_by_centre +
                 two_over_c2 * (pair.y.apart - ratio * pair.y.enclosing * sy.enclosing_by_centre);
  const C d_w = by_inter * pair.y.overlap * sx.overlap_by_size + by_area * pair.ph -
                two_over_c2 * ratio * pair.x.enclosing * sx.enclosing_by_size - angle_scale * pair.height;
  const C d_h = by_inter * pair.x.overlap * sy.overlap_by_size + by_area * pair.pw -
                two_over_c2 * ratio * pair.y.enclosing * sy.enclosing_by_size + angle_scale * pair.pw;
  if (!kLoadsFirst) load_upstream();
  if constexpr (CHOICES::kLossClamped) upstream = upstream * (clamped ? C(0) : C(1));
  store_value(d_pred + i, upstream * d_cx);
  store_value(d_pred + n + i, upstream * d_cy);
  store_value(d_pred + 2 * n + i, upstream * d_w);
  store_value(d_pred + 3 * n + i, upstream * d_h);
}
