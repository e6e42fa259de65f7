// SPDX-License-Identifier: Apache-2.0
// What the kernels of this folder share: sums, the loss of a cosine, the factor of a gradient.
enum class CosineConvention { exact, torch, similarity, product, normalize };

template <typename C>
struct Sums {
  C x11, x22, x12;
};
template <typename C>
__device__ __forceinline__ Sums<C> exchanged(const Sums<C>& sums) {
  return {sums.x22, sums.x11, sums.x12};
}

template <typename C>
__device__ __forceinline__ C loss_of(C cosine, C label, C margin) {
  if (label > C(0)) return C(1) - cosine;
  const C excess = cosine - margin;
  return excess < C(0) ? C(0) : excess;  // passes a NaN
}

// Times the derivative of cos; zero where the row is inactive.
template <typename C>
__device__ __forceinline__ C coefficient_of(C cosine, C label, C margin, C upstream) {
  return label > C(0) ? -upstream : (cosine > margin ? upstream : C(0));
}
