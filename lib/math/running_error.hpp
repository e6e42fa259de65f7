// SPDX-License-Identifier: Apache-2.0
// Running-error analysis as a scalar type: a value in double together with a bound of the error that a
// computation of the same formula in the compute type may have. Wilkinson's method; Higham, Accuracy and
// Stability of Numerical Algorithms, 2nd edition, section 3.3.
//
// RunningError<kType> {value, error}: every operation propagates the operands' bounds, second-order terms
// included, and adds one rounding of the computed result, u * (|value| + propagated), u being the unit
// roundoff of kType. A library function adds its documented largest error instead.
//
// HullError<kType> {low, high, error} carries in addition the range of right values that comes from branches
// which rounding leaves undecided (kinks). A formula written with `indicator_*` evaluates on both:
// RunningError reports that a branch was ambiguous (RunningErrorState), HullError then gives the hull over
// every way to resolve it, and every convex mixture. The hull is exact when each undecided indicator enters a
// result once, and contains the exact hull otherwise.
//
// Both assume finite double arithmetic whose own rounding (2^-53) is negligible against u. For kType = f64 it
// is not: there the reference errs by as much as the kernel may. Comparisons here allow for that
// (`apart_by`); whoever compares a result with a kernel's doubles its bound. Nor has it more range than the
// kernel: what comes near the ends of double's range, where another order of the same operations may pass
// them, counts as `overflow`.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "math/dtype.hpp"

namespace lossgrad {

// What happened during an evaluation; per thread, reset by the caller before each element.
struct RunningErrorState {
  bool ambiguous = false;  // some comparison could go either way in the compute type
  bool overflow =
      false;  // some finite intermediate can be too large for the compute type, or (f64) too small
  bool infinite = false;             // some intermediate is infinite
  bool divisor_may_be_zero = false;  // some quotient may be infinite or NaN in the compute type
};
inline thread_local RunningErrorState running_error_state;

template <Dtype kType>
struct ComputeFormat {
  static constexpr double kUnitRoundoff = kType == Dtype::f64 ? 0x1p-53 : 0x1p-24;
  static constexpr double kMax = kType == Dtype::f64 ? 0x1.FFFFFFFFFFFFFp1023 : 0x1.FFFFFEp127;
  static constexpr double kMinNormal = kType == Dtype::f64 ? 0x1p-1022 : 0x1p-126;
  static constexpr double kMinSubnormal = kType == Dtype::f64 ? 0x1p-1074 : 0x1p-149;
};

// CUDA C++ Programming Guide, appendix on mathematical functions: atan and atanf err by at most 2 ulp = 4 u.
inline constexpr double kAtanErrorInUnits = 4;

// The same appendix: sqrtf rounds correctly; rsqrtf errs by at most 2 ulp = 4 u, which covers 1 / sqrtf too.
inline constexpr double kInverseRootErrorInUnits = 4;

namespace running_error_detail {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Within these a factor of 2^62 or more is left to either end of double's normal range. Products that may
// leave it on the way are noted where they are formed (note_range_of_product).
inline constexpr double kLargestTrusted = 0x1p960;
inline constexpr double kLeastTrusted = 0x1p-960;

// An f64 evaluation cannot vouch for a result of that magnitude.
template <Dtype kType>
void note_f64_range(double magnitude) {
  if constexpr (kType == Dtype::f64) {
    const bool trusted = magnitude == 0 || (magnitude >= kLeastTrusted && magnitude <= kLargestTrusted);
    if (!trusted && magnitude < kInfinity) running_error_state.overflow = true;
  }
}
// A product or quotient that is zero although its operands are not.
template <Dtype kType>
void note_f64_underflow(double result, double a, double b) {
  if constexpr (kType == Dtype::f64) {
    if (result == 0 && a != 0 && b != 0 && std::isfinite(a) && std::isfinite(b))
      running_error_state.overflow = true;
  }
}

// One rounding of a result of magnitude `magnitude` whose propagated bound is `propagated`.
template <Dtype kType>
double rounded(double magnitude, double propagated, double units = 1) {
  using Format = ComputeFormat<kType>;
  note_f64_range<kType>(magnitude);
  const double error =
      propagated + units * Format::kUnitRoundoff * (magnitude + propagated) + Format::kMinSubnormal;
  if (magnitude + propagated > Format::kMax && propagated < kInfinity)
    (std::isinf(magnitude) ? running_error_state.infinite : running_error_state.overflow) = true;
  return error;
}

// The largest error of x * y with |x| <= x_magnitude known within x_error, and y alike. 0 * infinity counts
// as 0: an exact zero factor gives an exact zero whatever the finite other factor is.
inline double product_error(double x_magnitude, double x_error, double y_magnitude, double y_error) {
  const auto times = [](double a, double b) { return a == 0 || b == 0 ? 0.0 : a * b; };
  return times(x_magnitude, y_error) + times(y_magnitude, x_error) + times(x_error, y_error);
}

// The largest error of x / y; infinity when y may be zero. An exact zero divisor is decided by the values.
inline double quotient_error(double quotient_magnitude, double x_error, double y_magnitude, double y_error) {
  if (y_error == 0 && y_magnitude == 0) return x_error == 0 ? 0.0 : kInfinity;
  const double least = y_magnitude - y_error;
  if (std::isnan(least)) return kInfinity;
  if (!(least > 0)) {
    running_error_state.divisor_may_be_zero = true;
    return kInfinity;
  }
  const double numerator =
      x_error + (quotient_magnitude == 0 || y_error == 0 ? 0.0 : quotient_magnitude * y_error);
  return numerator / least;
}

// How far apart two values are that may differ by `error` where they are compared.
template <Dtype kType>
double apart_by(double error) {
  return kType == Dtype::f64 ? 2 * error : error;
}

inline double atan_error(double magnitude, double error) {
  if (std::isinf(magnitude)) return error == 0 ? 0 : 3.15;  // the sign may be the other one
  const double least = std::max(0.0, magnitude - error);
  return std::min(error / (1 + least * least), 3.15);
}

}  // namespace running_error_detail

template <Dtype kType>
struct RunningError {
  double value = 0;
  double error = 0;

  constexpr RunningError() = default;
  constexpr RunningError(double exact)
      : value(exact) {}  // NOLINT: exact values convert silently, as literals do
  constexpr RunningError(double v, double e) : value(v), error(e) {}

  friend RunningError operator+(RunningError a, RunningError b) { return sum(a.value + b.value, a, b); }
  friend RunningError operator-(RunningError a, RunningError b) { return sum(a.value - b.value, a, b); }
  friend RunningError operator-(RunningError a) { return {-a.value, a.error}; }
  friend RunningError operator*(RunningError a, RunningError b) {
    using namespace running_error_detail;
    const double value = a.value * b.value;
    note_f64_underflow<kType>(value, a.value, b.value);
    const double error = product_error(std::abs(a.value), a.error, std::abs(b.value), b.error);
    return {value, rounded<kType>(std::abs(value), error)};
  }
  friend RunningError operator/(RunningError a, RunningError b) {
    using namespace running_error_detail;
    const double value = a.value / b.value;
    note_f64_underflow<kType>(value, a.value, b.value);
    const double error = quotient_error(std::abs(value), a.error, std::abs(b.value), b.error);
    return {value, rounded<kType>(std::abs(value), error)};
  }

 private:
  static RunningError sum(double value, RunningError a, RunningError b) {
    return {value, running_error_detail::rounded<kType>(std::abs(value), a.error + b.error)};
  }
};

template <Dtype kType>
struct HullError {
  double low = 0;
  double high = 0;
  double error = 0;

  constexpr HullError() = default;
  constexpr HullError(double exact) : low(exact), high(exact) {}  // NOLINT: as RunningError
  constexpr HullError(double l, double h, double e) : low(l), high(h), error(e) {}

  [[nodiscard]] double magnitude() const { return std::max(std::abs(low), std::abs(high)); }

  friend HullError operator+(HullError a, HullError b) { return sum(a.low + b.low, a.high + b.high, a, b); }
  friend HullError operator-(HullError a, HullError b) { return sum(a.low - b.high, a.high - b.low, a, b); }
  friend HullError operator-(HullError a) { return {-a.high, -a.low, a.error}; }
  friend HullError operator*(HullError a, HullError b) {
    using namespace running_error_detail;
    const double p = a.low * b.low, q = a.low * b.high, r = a.high * b.low, s = a.high * b.high;
    const double low = std::min(std::min(p, q), std::min(r, s));
    const double high = std::max(std::max(p, q), std::max(r, s));
    note_f64_underflow<kType>(std::max(std::abs(low), std::abs(high)), a.magnitude(), b.magnitude());
    const double error = product_error(a.magnitude(), a.error, b.magnitude(), b.error);
    return {low, high, rounded<kType>(std::max(std::abs(low), std::abs(high)), error)};
  }
  // Divisors are never undecided in our formulas; one whose hull is wide counts as such in its error.
  friend HullError operator/(HullError a, HullError b) {
    using namespace running_error_detail;
    const double divisor = 0.5 * (b.low + b.high);
    const double spread = 0.5 * (b.high - b.low) + b.error;
    const double p = a.low / divisor, q = a.high / divisor;
    const double magnitude = std::max(std::abs(p), std::abs(q));
    note_f64_underflow<kType>(magnitude, a.magnitude(), divisor);
    const double error = quotient_error(magnitude, a.error, std::abs(divisor), spread);
    return {std::min(p, q), std::max(p, q), rounded<kType>(magnitude, error)};
  }

 private:
  static HullError sum(double low, double high, HullError a, HullError b) {
    const double magnitude = std::max(std::abs(low), std::abs(high));
    return {low, high, running_error_detail::rounded<kType>(magnitude, a.error + b.error)};
  }
};

// Constants and exact operations.

// x * factor for a power of two: no rounding.
template <Dtype kType>
RunningError<kType> scale_exactly(RunningError<kType> x, double factor) {
  return {x.value * factor, x.error * std::abs(factor)};
}
template <Dtype kType>
HullError<kType> scale_exactly(HullError<kType> x, double factor) {
  const double p = x.low * factor, q = x.high * factor;
  return {std::min(p, q), std::max(p, q), x.error * std::abs(factor)};
}
template <class T>
T scale_exactly(const T& x, double factor) {
  return x * factor;
}

// x with its bound raised by `more`: a stored value that was rounded to a narrower type.
template <Dtype kType>
RunningError<kType> widened(RunningError<kType> x, double more) {
  return {x.value, x.error + more};
}
template <Dtype kType>
HullError<kType> widened(HullError<kType> x, double more) {
  return {x.low, x.high, x.error + more};
}

template <class T>
struct RoundedConstant {
  static T make(double value) { return T(value); }
};
template <Dtype kType>
struct RoundedConstant<RunningError<kType>> {
  static RunningError<kType> make(double value) {
    return {value, kType == Dtype::f64 ? 0 : ComputeFormat<kType>::kUnitRoundoff * std::abs(value)};
  }
};
template <Dtype kType>
struct RoundedConstant<HullError<kType>> {
  static HullError<kType> make(double value) {
    return {value, value, RoundedConstant<RunningError<kType>>::make(value).error};
  }
};
// A constant as the compute type holds it: it may be rounded (1e-7 in f32), a double keeps it.
template <class T>
T rounded_constant(double value) {
  return RoundedConstant<T>::make(value);
}

// Functions. min, max and abs are 1-Lipschitz, so an undecided choice between nearly equal operands only
// raises the bound.

template <Dtype kType>
RunningError<kType> min_of(RunningError<kType> a, RunningError<kType> b) {
  if (std::isnan(a.value) || std::isnan(b.value)) return {std::numeric_limits<double>::quiet_NaN(), 0};
  const double apart = running_error_detail::apart_by<kType>(a.error + b.error);
  if (a.value + apart < b.value) return a;
  if (b.value + apart < a.value) return b;
  return {std::min(a.value, b.value), std::max(a.error, b.error)};
}
template <Dtype kType>
RunningError<kType> max_of(RunningError<kType> a, RunningError<kType> b) {
  return -min_of(-a, -b);
}
template <Dtype kType>
RunningError<kType> abs_of(RunningError<kType> a) {
  return {std::abs(a.value), a.error};
}
template <Dtype kType>
RunningError<kType> atan_of(RunningError<kType> a) {
  using namespace running_error_detail;
  const double value = std::atan(a.value);
  return {value, rounded<kType>(std::abs(value), atan_error(std::abs(a.value), a.error), kAtanErrorInUnits)};
}
// a - b of two angles that atan gave, which a kernel may also take as one angle between two vectors, by atan2
// of their cross and dot products: atan2f errs by 3 ulp = 6 u of the difference and the products by 4 u more,
// where atan(a) - atan(b) alone has 4 u of each angle and u of the quotients.
inline constexpr double kOneAngleErrorInUnits = 4;
template <class T>
T angle_difference(const T& a, const T& b) {
  return a - b;
}
template <Dtype kType>
RunningError<kType> angle_difference(RunningError<kType> a, RunningError<kType> b) {
  const RunningError<kType> plain = a - b;
  return widened(plain, kOneAngleErrorInUnits * ComputeFormat<kType>::kUnitRoundoff * std::abs(plain.value));
}
template <Dtype kType>
HullError<kType> angle_difference(HullError<kType> a, HullError<kType> b) {
  const HullError<kType> plain = a - b;
  return widened(plain, kOneAngleErrorInUnits * ComputeFormat<kType>::kUnitRoundoff * plain.magnitude());
}

template <Dtype kType>
double value_of(RunningError<kType> a) {
  return a.value;
}
// sqrt(a) - sqrt(a - e) = e / (sqrt(a) + sqrt(a - e)) is the larger side.
template <Dtype kType>
double root_error(RunningError<kType> a) {
  if (a.error == 0) return 0;
  const double root = std::sqrt(std::max(a.value, 0.0));
  return a.error / (root + std::sqrt(std::max(a.value - a.error, 0.0)));
}
template <Dtype kType>
RunningError<kType> root_of(RunningError<kType> a) {
  const double root = std::sqrt(a.value);
  return {root, running_error_detail::rounded<kType>(root, root_error(a))};
}
// 1 / sqrt(a): infinite error where a may be zero; an exact zero gives infinity.
template <Dtype kType>
RunningError<kType> inverse_root_of(RunningError<kType> a) {
  using namespace running_error_detail;
  const double value = 1 / std::sqrt(a.value);
  const double error = quotient_error(value, 0, std::sqrt(std::max(a.value, 0.0)), root_error(a));
  return {value, rounded<kType>(value, error, kInverseRootErrorInUnits)};
}

// Hulls: values are continuous functions of decided inputs, so that only derivatives are undecided (but for
// mmdetection's alpha, which jumps at its gate: there both values are ends of a hull). These act on the ends
// of the hull, which is exact for monotonic functions.
template <Dtype kType>
HullError<kType> min_of(HullError<kType> a, HullError<kType> b) {
  if (std::isnan(a.low) || std::isnan(b.low)) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    return {kNan, kNan, 0};
  }
  const double apart = running_error_detail::apart_by<kType>(a.error + b.error);
  if (a.high + apart < b.low) return a;
  if (b.high + apart < a.low) return b;
  return {std::min(a.low, b.low), std::min(a.high, b.high), std::max(a.error, b.error)};
}
template <Dtype kType>
HullError<kType> max_of(HullError<kType> a, HullError<kType> b) {
  return -min_of(-a, -b);
}
template <Dtype kType>
HullError<kType> abs_of(HullError<kType> a) {
  if (a.low >= 0) return a;
  if (a.high <= 0) return -a;
  if (std::isnan(a.low) || std::isnan(a.high)) return a;  // a NaN on one end alone may get lost on the way
  return {0, a.magnitude(), a.error};
}
template <Dtype kType>
HullError<kType> atan_of(HullError<kType> a) {
  using namespace running_error_detail;
  const double low = std::atan(a.low), high = std::atan(a.high);
  const double least = std::min(std::abs(a.low), std::abs(a.high));
  return {
      low, high,
      rounded<kType>(std::max(std::abs(low), std::abs(high)), atan_error(least, a.error), kAtanErrorInUnits)};
}

// Indicators.

// 1 when a < b, else 0; undecided when the bounds overlap or touch. An exact tie is undecided as well, since
// either one-sided derivative is right there.
template <Dtype kType>
RunningError<kType> indicator_less(RunningError<kType> a, RunningError<kType> b) {
  const double apart = running_error_detail::apart_by<kType>(a.error + b.error);
  if (std::abs(a.value - b.value) <= apart) running_error_state.ambiguous = true;
  return {a.value < b.value ? 1.0 : 0.0, 0};
}
template <Dtype kType>
HullError<kType> indicator_less(HullError<kType> a, HullError<kType> b) {
  const double apart = running_error_detail::apart_by<kType>(a.error + b.error);
  if (a.high + apart < b.low) return {1, 1, 0};
  if (b.high + apart < a.low) return {0, 0, 0};
  return {0, 1, 0};
}

}  // namespace lossgrad
