// SPDX-License-Identifier: Apache-2.0
// Forward-mode differentiation: every number carries its derivatives by pred's cx, cy, w and h, as a
// compiler's automatic differentiation has it. Ties take the second operand.
template <typename C>
struct Tangent {
  C value;
  C by[4];
};
template <typename C>
__device__ __forceinline__ Tangent<C> constant(C value) {
  return {value, {C(0), C(0), C(0), C(0)}};
}
template <typename C>
__device__ __forceinline__ Tangent<C> variable(C value, int component) {
  Tangent<C> t = constant(value);
  t.by[component] = C(1);
  return t;
}
// value, with the derivatives of a times by_a and of b times by_b.
template <typename C>
__device__ __forceinline__ Tangent<C> combined(C value, const Tangent<C>& a, C by_a, const Tangent<C>& b,
                                               C by_b) {
  Tangent<C> t;
  t.value = value;
  for (int i = 0; i < 4; ++i) t.by[i] = by_a * a.by[i] + by_b * b.by[i];
  return t;
}
template <typename C>
__device__ __forceinline__ Tangent<C> operator+(const Tangent<C>& a, const Tangent<C>& b) {
  return combined(a.value + b.value, a, C(1), b, C(1));
}
template <typename C>
__device__ __forceinline__ Tangent<C> operator-(const Tangent<C>& a, const Tangent<C>& b) {
  return combined(a.value - b.value, a, C(1), b, C(-1));
}
template <typename C>
__device__ __forceinline__ Tangent<C> operator*(const Tangent<C>& a, const Tangent<C>& b) {
  return combined(a.value * b.value, a, b.value, b, a.value);
}
template <typename C>
__device__ __forceinline__ Tangent<C> operator/(const Tangent<C>& a, const Tangent<C>& b) {
  const C quotient = a.value / b.value;
  return combined(quotient, a, C(1) / b.value, b, -quotient / b.value);
}
template <typename C>
__device__ __forceinline__ Tangent<C> scaled(const Tangent<C>& a, C factor) {
  return combined(a.value * factor, a, factor, a, C(0));
}
template <typename C>
__device__ __forceinline__ Tangent<C> smaller(const Tangent<C>& a, const Tangent<C>& b) {
  return a.value < b.value || a.value != a.value ? a : b;
}
template <typename C>
__device__ __forceinline__ Tangent<C> larger(const Tangent<C>& a, const Tangent<C>& b) {
  return a.value > b.value || a.value != a.value ? a : b;
}
template <typename C>
__device__ __forceinline__ Tangent<C> arc_tangent_of(const Tangent<C>& a) {
  return combined(arc_tangent(a.value), a, C(1) / (C(1) + a.value * a.value), a, C(0));
}

template <typename C>
struct TangentAxis {
  Tangent<C> overlap, enclosing, apart;
};
template <typename C>
__device__ __forceinline__ TangentAxis<C> tangent_axis(const Tangent<C>& pc, const Tangent<C>& ps,
                                                       const Tangent<C>& tc, const Tangent<C>& ts) {
  const Tangent<C> p_half = scaled(ps, C(0.5)), t_half = scaled(ts, C(0.5));
  const Tangent<C> p_low = pc - p_half, p_high = pc + p_half, t_low = tc - t_half, t_high = tc + t_half;
  return {larger(smaller(p_high, t_high) - larger(p_low, t_low), constant(C(0))),
          larger(p_high, t_high) - smaller(p_low, t_low), pc - tc};
}

template <typename C>
struct TangentOutputs {
  Tangent<C> loss, iou, v, alpha;
};
template <bool HAS_EPS, bool ALPHA_THROUGH, typename C>
__device__ __forceinline__ TangentOutputs<C> tangent_values(const Box<C>& p, const Box<C>& t) {
  const Tangent<C> cx = variable(p.cx, 0), cy = variable(p.cy, 1), w = variable(p.w, 2), h = variable(p.h, 3);
  const Tangent<C> tw = constant(t.w), th = constant(t.h), eps = constant(Numbers<C>::kEps);
  const TangentAxis<C> x = tangent_axis(cx, w, constant(t.cx), tw),
                       y = tangent_axis(cy, h, constant(t.cy), th);
  const Tangent<C> inter = x.overlap * y.overlap;
  const Tangent<C> iou = inter / (w * h + tw * th - inter + eps);
  const Tangent<C> distance =
      (x.apart * x.apart + y.apart * y.apart) / (x.enclosing * x.enclosing + y.enclosing * y.enclosing + eps);
  const Tangent<C> aspect_eps = constant(HAS_EPS ? Numbers<C>::kEps : C(0));
  const Tangent<C> angle = arc_tangent_of(tw / (th + aspect_eps)) - arc_tangent_of(w / (h + aspect_eps));
  const Tangent<C> v = scaled(angle * angle, Numbers<C>::kFourOverPiSquared);
  const Tangent<C> quotient = v / (constant(C(1)) - iou + v + eps);
  const Tangent<C> alpha = ALPHA_THROUGH ? quotient : constant(quotient.value);
  return {constant(C(1)) - iou + distance + alpha * v, iou, v, alpha};
}

template <typename D, int BLOCK_N, bool HAS_EPS>
__device__ __forceinline__ void yolo_ciou_loss_forward(const D* __restrict__ pred,
                                                       const D* __restrict__ target, D* __restrict__ loss,
                                                       D* __restrict__ iou, D* __restrict__ v,
                                                       D* __restrict__ alpha, int N) {
  using C = typename ComputeOf<D>::type;
  const long long i = static_cast<long long>(blockIdx.x) * BLOCK_N + threadIdx.x;
  if (i >= N) return;
  const TangentOutputs<C> r =
      tangent_values<HAS_EPS, false>(load_box<C>(pred, i, N), load_box<C>(target, i, N));
  store_value(loss + i, r.loss.value);
  store_value(iou + i, r.iou.value);
  store_value(v + i, r.v.value);
  store_value(alpha + i, r.alpha.value);
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
  const Tangent<C> loss =
      tangent_values<HAS_EPS, ALPHA_THROUGH>(load_box<C>(pred, i, N), load_box<C>(target, i, N)).loss;
  store_gradient<C>(d_pred, i, N, load_value(dy + i), {loss.by[0], loss.by[1], loss.by[2], loss.by[3]});
}
