// SPDX-License-Identifier: Apache-2.0
// Differences of centres instead of edges, a division wherever the formula has one, alpha read.
template <typename C>
struct Axis {
  C apart, overlap, enclosing, overlap_by_centre, overlap_by_size, enclosing_by_centre, enclosing_by_size;
};

template <typename C>
__device__ __forceinline__ Axis<C> axis_of(C pc, C ps, C tc, C ts) {
  Axis<C> a;
  a.apart = pc - tc;
  const C distance = absolute(a.apart), mean = (ps + ts) / 2, growth = (ps - ts) / 2;
  const C raw = smaller(smaller(ps, ts), mean - distance);
  a.overlap = larger(raw, C(0));
  a.enclosing = larger(larger(ps, ts), mean + distance);
  const C upper = a.apart + growth, lower = a.apart - growth;
  a.overlap_by_centre = raw > 0 ? C(upper < 0) - C(lower > 0) : C(0);
  a.overlap_by_size = raw > 0 ? (C(upper < 0) + C(lower > 0)) / 2 : C(0);
  a.enclosing_by_centre = C(upper > 0) - C(lower < 0);
  a.enclosing_by_size = (C(upper > 0) + C(lower < 0)) / 2;
  return a;
}

template <typename D, int BLOCK_N, bool HAS_EPS>
__device__ __forceinline__ void yolo_ciou_loss_forward(const D* __restrict__ pred,
                                                       const D* __restrict__ target, D* __restrict__ loss,
                                                       D* __restrict__ iou, D* __restrict__ v,
                                                       D* __restrict__ alpha, int N) {
  using C = typename ComputeOf<D>::type;
  const long long i = static_cast<long long>(blockIdx.x) * BLOCK_N + threadIdx.x;
  if (i >= N) return;
  const Box<C> p = load_box<C>(pred, i, N), t = load_box<C>(target, i, N);
  const Axis<C> x = axis_of(p.cx, p.w, t.cx, t.w), y = axis_of(p.cy, p.h, t.cy, t.h);
  const C eps = Numbers<C>::kEps;
  const C inter = x.overlap * y.overlap;
  const C iou_value = inter / (p.w * p.h + t.w * t.h - inter + eps);
  const C angle = aspect_angle<HAS_EPS>(p, t);
  const C v_value = Numbers<C>::kFourOverPiSquared * angle * angle;
  const C alpha_value = v_value / (C(1) - iou_value + v_value + eps);
  const C c2 = x.enclosing * x.enclosing + y.enclosing * y.enclosing + eps;
  store_value(loss + i,
              C(1) - iou_value + (x.apart * x.apart + y.apart * y.apart) / c2 + alpha_value * v_value);
  store_value(iou + i, iou_value);
  store_value(v + i, v_value);
  store_value(alpha + i, alpha_value);
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
  const Axis<C> x = axis_of(p.cx, p.w, t.cx, t.w), y = axis_of(p.cy, p.h, t.cy, t.h);
  const C eps = Numbers<C>::kEps, share = load_value(alpha + i);
  const C inter = x.overlap * y.overlap;
  const C united = p.w * p.h + t.w * t.h - inter + eps;
  const C by_iou = ALPHA_THROUGH ? share * share - C(1) : C(-1);
  const C by_v = ALPHA_THROUGH ? 2 * share - share * share : share;
  const C by_inter = by_iou * (1 + inter / united) / united, by_area = -by_iou * (inter / united) / united;
  const C d2 = x.apart * x.apart + y.apart * y.apart;
  const C c2 = x.enclosing * x.enclosing + y.enclosing * y.enclosing + eps;
  const C height = HAS_EPS ? p.h + eps : p.h;
  const C square = height * height + p.w * p.w;
  const C by_angle = by_v * 2 * Numbers<C>::kFourOverPiSquared * aspect_angle<HAS_EPS>(p, t);
  Box<C> d;
  d.cx = by_inter * y.overlap * x.overlap_by_centre +
         2 * (x.apart - d2 / c2 * x.enclosing * x.enclosing_by_centre) / c2;
  d.cy = by_inter * x.overlap * y.overlap_by_centre +
         2 * (y.apart - d2 / c2 * y.enclosing * y.enclosing_by_centre) / c2;
  d.w = by_inter * y.overlap * x.overlap_by_size + by_area * p.h -
        2 * (d2 / c2) * x.enclosing / c2 * x.enclosing_by_size - by_angle * height / square;
  d.h = by_inter * x.overlap * y.overlap_by_size + by_area * p.w -
        2 * (d2 / c2) * y.enclosing / c2 * y.enclosing_by_size + by_angle * p.w / square;
  store_gradient<C>(d_pred, i, N, load_value(dy + i), d);
}
