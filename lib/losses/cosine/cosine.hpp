// SPDX-License-Identifier: Apache-2.0
// Cosine embedding loss of a pair of rows with label y: the value, written once and evaluated on double,
// RunningError (value and bound) and Eigen's AutoDiffScalar, and its gradient on RunningError.
//
//   cos = x1.x2 * r1 * r2      loss = 1 - cos for y = 1, max(0, cos - margin) for y = -1
//   d cos / d x1 = (x2 * r2 - x1 * (cos * k1)) * r1, and the same with 1 and 2 exchanged
// r and k by convention, with n = |x|:
//   exact       r = k = 1 / n
//   torch       r = k = 1 / sqrt(n^2 + 1e-12)
//               https://docs.pytorch.org/docs/stable/generated/torch.nn.CosineEmbeddingLoss.html, and
//               ATen/native/Loss.cpp, where the constant is a float in every type: the bound covers both
//   similarity  r = 1 / max(n, 1e-8), k = 1 / n (0 for a zero row): the maximum is hidden from the gradient.
//               torch since 2.1 (pytorch/pytorch pull request 104771); 1.12 to 2.0 (31378) have the same
//               values, but k = r: other gradients of rows shorter than 1e-8
//   product     as exact while n1 * n2 >= 1e-8; below, r1 * r2 = 1e8 and k = 0
//   normalize   r = 1 / max(n, 1e-12), k = r, and 0 where the maximum is the constant
// The hinge at cos = margin and the maxima of product and normalize are kinks.
#pragma once

#include <algorithm>
#include <string_view>

#include "math/dual.hpp"
#include "math/running_error.hpp"
#include "math/running_sum.hpp"

namespace lossgrad {

enum class CosineConvention { exact, torch, similarity, product, normalize };

struct CosineRule {
  std::string_view name;
  std::string_view summary;
  CosineConvention convention;
};

inline constexpr double kCosineTorchEps = 1e-12;
inline constexpr double kCosineSimilarityEps = 1e-8;
inline constexpr double kCosineProductEps = 1e-8;
inline constexpr double kCosineNormalizeEps = 1e-12;

template <class T>
struct CosineSums {
  T x11, x22, x12;
};

template <class T>
struct CosineFactors {
  T r1, r2, k1, k2;
};

template <class T>
T cosine_torch_eps() {
  T eps = rounded_constant<T>(kCosineTorchEps);
  constexpr double kFloat = static_cast<float>(kCosineTorchEps);
  if constexpr (requires { eps.error; }) eps.error = std::max(eps.error, kCosineTorchEps - kFloat);
  return eps;
}

// Which maxima are the constant. product: short1 is the product's.
struct CosineBranches {
  bool short1 = false, short2 = false;
};

// As the values say.
template <class T>
CosineBranches cosine_branches(const CosineSums<T>& sums, CosineConvention convention) {
  const double norm1 = std::sqrt(value_of(sums.x11)), norm2 = std::sqrt(value_of(sums.x22));
  CosineBranches branches;
  if (convention == CosineConvention::similarity) {
    branches.short1 = norm1 < kCosineSimilarityEps, branches.short2 = norm2 < kCosineSimilarityEps;
  } else if (convention == CosineConvention::product) {
    branches.short1 = norm1 * norm2 < kCosineProductEps;
  } else if (convention == CosineConvention::normalize) {
    branches.short1 = norm1 < kCosineNormalizeEps, branches.short2 = norm2 < kCosineNormalizeEps;
  }
  return branches;
}

template <class T>
T cosine_inverse_of_greater(const T& norm, double least) {
  return T(1.0) / max_of(norm, rounded_constant<T>(least));
}

template <class T>
CosineFactors<T> cosine_factors(const CosineSums<T>& sums, CosineConvention convention,
                                const CosineBranches& branches) {
  const T zero(0.0), one(1.0);
  switch (convention) {
    case CosineConvention::exact:
      break;
    case CosineConvention::torch: {
      const T eps = cosine_torch_eps<T>();
      const T r1 = inverse_root_of(T(sums.x11 + eps)), r2 = inverse_root_of(T(sums.x22 + eps));
      return {r1, r2, r1, r2};
    }
    case CosineConvention::similarity: {
      const T norm1 = root_of(sums.x11), norm2 = root_of(sums.x22);
      return {cosine_inverse_of_greater(norm1, kCosineSimilarityEps),
              cosine_inverse_of_greater(norm2, kCosineSimilarityEps),
              value_of(norm1) == 0 ? zero : T(one / norm1), value_of(norm2) == 0 ? zero : T(one / norm2)};
    }
    case CosineConvention::product: {
      if (!branches.short1) break;
      const T r = inverse_root_of(rounded_constant<T>(kCosineProductEps));
      return {r, r, zero, zero};
    }
    case CosineConvention::normalize: {
      const T r1 = cosine_inverse_of_greater(T(root_of(sums.x11)), kCosineNormalizeEps);
      const T r2 = cosine_inverse_of_greater(T(root_of(sums.x22)), kCosineNormalizeEps);
      return {r1, r2, branches.short1 ? zero : r1, branches.short2 ? zero : r2};
    }
  }
  const T r1 = inverse_root_of(sums.x11), r2 = inverse_root_of(sums.x22);
  return {r1, r2, r1, r2};
}

template <class T>
T cosine_of(const CosineSums<T>& sums, const CosineFactors<T>& factors) {
  return sums.x12 * factors.r1 * factors.r2;
}

template <class T>
T cosine_value(const T& cosine, double y, double margin) {
  return y > 0 ? T(T(1.0) - cosine) : max_of(T(cosine - T(margin)), T(0.0));
}

// d loss / d x1 times dy where the hinge is active or y = 1; `other` is x2. The same with 1 and 2 exchanged.
template <class T>
Vector<T> cosine_gradient(const Vector<double>& own, const Vector<double>& other, const T& r_own,
                          const T& r_other, const T& along, const T& coefficient) {
  const T scale = coefficient * r_own;
  return (other.cast<T>() * r_other - own.cast<T>() * along) * scale;
}

}  // namespace lossgrad
