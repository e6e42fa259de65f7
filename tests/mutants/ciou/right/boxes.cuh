// SPDX-License-Identifier: Apache-2.0
// Loads and stores that the kernels of this folder share. Boxes are [4, N], component-major.
template <typename C>
struct Box {
  C cx, cy, w, h;
};
template <typename C>
struct Outputs {
  C loss, iou, v, alpha;
};

template <typename C>
struct Numbers {
  static constexpr C kEps = C(1e-7);
  static constexpr C kFourOverPiSquared = C(0.405284734569351085775517852838911);
};

template <typename C, typename D>
__device__ __forceinline__ Box<C> load_box(const D* __restrict__ boxes, long long i, long long n) {
  return {C(load_value(boxes + i)), C(load_value(boxes + n + i)), C(load_value(boxes + 2 * n + i)),
          C(load_value(boxes + 3 * n + i))};
}

template <typename C, typename D>
__device__ __forceinline__ void store_gradient(D* __restrict__ d_pred, long long i, long long n, C dy,
                                               const Box<C>& d) {
  store_value(d_pred + i, dy * d.cx);
  store_value(d_pred + n + i, dy * d.cy);
  store_value(d_pred + 2 * n + i, dy * d.w);
  store_value(d_pred + 3 * n + i, dy * d.h);
}

// A NaN on either side passes, as torch.minimum and torch.maximum pass it.
template <typename C>
__device__ __forceinline__ C smaller(C a, C b) {
  return a < b || a != a ? a : b;
}
template <typename C>
__device__ __forceinline__ C larger(C a, C b) {
  return a > b || a != a ? a : b;
}

template <bool HAS_EPS, typename C>
__device__ __forceinline__ C aspect_angle(const Box<C>& p, const Box<C>& t) {
  const C eps = HAS_EPS ? Numbers<C>::kEps : C(0);
  return arc_tangent(t.w / (t.h + eps)) - arc_tangent(p.w / (p.h + eps));
}
