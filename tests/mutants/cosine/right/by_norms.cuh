// SPDX-License-Identifier: Apache-2.0
// The formula as written: cos = x12 / (n1 * n2), d cos / d x1 = x2 / (n1 * n2) - x1 * cos / n1^2, each
// convention with its divisors. The maxima pass a NaN.
template <CosineConvention CONVENTION, typename C>
struct Divisors {
  C n12, n11;  // of x2 and of cos * x1
};

template <CosineConvention CONVENTION, typename C>
__device__ __forceinline__ Divisors<CONVENTION, C> divisors_of(const Sums<C>& sums) {
  if constexpr (CONVENTION == CosineConvention::torch) {
    const C a = sums.x11 + C(1e-12), b = sums.x22 + C(1e-12);
    return {square_root(a) * square_root(b), a};
  }
  const C n1 = square_root(sums.x11), n2 = square_root(sums.x22);
  if constexpr (CONVENTION == CosineConvention::similarity) {
    const C m1 = n1 < C(1e-8) ? C(1e-8) : n1, m2 = n2 < C(1e-8) ? C(1e-8) : n2;
    return {m1 * m2, m1 * n1};
  }
  if constexpr (CONVENTION == CosineConvention::normalize) {
    const C m1 = n1 < C(1e-12) ? C(1e-12) : n1, m2 = n2 < C(1e-12) ? C(1e-12) : n2;
    return {m1 * m2, n1 < C(1e-12) ? C(0) : n1 * n1};
  }
  if constexpr (CONVENTION == CosineConvention::product) {
    if (n1 * n2 < C(1e-8)) return {C(1e-8), C(0)};
  }
  return {n1 * n2, n1 * n1};
}

template <CosineConvention CONVENTION, typename C>
__device__ __forceinline__ C cosine_of(const Sums<C>& sums) {
  return sums.x12 / divisors_of<CONVENTION>(sums).n12;
}

// d cos / d own of one element; `sums` with the own row's first.
template <CosineConvention CONVENTION, typename C>
__device__ __forceinline__ C derivative_of(C own, C other, const Sums<C>& sums, C cosine) {
  const Divisors<CONVENTION, C> divisors = divisors_of<CONVENTION>(sums);
  const C projection = own * cosine / divisors.n11;
  constexpr bool kMayHaveNone =
      CONVENTION != CosineConvention::exact && CONVENTION != CosineConvention::torch;
  return other / divisors.n12 - (kMayHaveNone && divisors.n11 == C(0) ? C(0) : projection);
}
