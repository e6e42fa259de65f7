// SPDX-License-Identifier: Apache-2.0
// The functions of running_error.hpp on plain and on differentiating scalars, so that one templated formula
// serves for the value, the bound and the derivative. Include it before the formula.
#pragma once

#include <cmath>

#include <Eigen/Core>
#include <unsupported/Eigen/AutoDiff>

namespace lossgrad {

// A value with `kDimension` partial derivatives.
template <int kDimension>
using Dual = Eigen::AutoDiffScalar<Eigen::Matrix<double, kDimension, 1>>;

// NaN operands give NaN, unlike std::fmin.
inline double min_of(double a, double b) { return std::isnan(a) || a < b ? a : b; }
inline double max_of(double a, double b) { return std::isnan(a) || a > b ? a : b; }
inline double abs_of(double a) { return std::abs(a); }
inline double atan_of(double a) { return std::atan(a); }
inline double indicator_less(double a, double b) { return a < b ? 1 : 0; }
inline double value_of(double a) { return a; }
inline double root_of(double a) { return std::sqrt(a); }
inline double inverse_root_of(double a) { return 1 / std::sqrt(a); }

template <int kDimension>
Dual<kDimension> min_of(const Dual<kDimension>& a, const Dual<kDimension>& b) {
  return a.value() < b.value() ? a : b;
}
template <int kDimension>
Dual<kDimension> max_of(const Dual<kDimension>& a, const Dual<kDimension>& b) {
  return a.value() > b.value() ? a : b;
}
template <int kDimension>
Dual<kDimension> abs_of(const Dual<kDimension>& a) {
  return a.value() < 0 ? Dual<kDimension>(-a) : a;
}
template <int kDimension>
Dual<kDimension> indicator_less(const Dual<kDimension>& a, const Dual<kDimension>& b) {
  return Dual<kDimension>(a.value() < b.value() ? 1.0 : 0.0);
}
template <int kDimension>
Dual<kDimension> atan_of(const Dual<kDimension>& a) {
  using Derivatives = Eigen::Matrix<double, kDimension, 1>;
  return {std::atan(a.value()), Derivatives(a.derivatives() / (1 + a.value() * a.value()))};
}

template <int kDimension>
double value_of(const Dual<kDimension>& a) {
  return a.value();
}
template <int kDimension>
Dual<kDimension> root_of(const Dual<kDimension>& a) {
  using Derivatives = Eigen::Matrix<double, kDimension, 1>;
  const double root = std::sqrt(a.value());
  return {root, Derivatives(a.derivatives() * (0.5 / root))};
}
template <int kDimension>
Dual<kDimension> inverse_root_of(const Dual<kDimension>& a) {
  using Derivatives = Eigen::Matrix<double, kDimension, 1>;
  const double inverse = 1 / std::sqrt(a.value());
  return {inverse, Derivatives(a.derivatives() * (-0.5 * inverse * inverse * inverse))};
}

}  // namespace lossgrad
