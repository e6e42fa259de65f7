// SPDX-License-Identifier: Apache-2.0
// The theorem behind the scalar: whatever a float computation of the same formula gives lies within the
// bound.
#include "math/running_error.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "math/dual.hpp"
#include "math/random.hpp"

namespace lossgrad {
namespace {

using R = RunningError<Dtype::f32>;
using H = HullError<Dtype::f32>;
constexpr double kU = 0x1p-24;

// One formula with every operation, once in float, once on the scalar.
template <class T>
T formula(const T& a, const T& b, const T& c) {
  const T difference = a - b;
  const T quotient = difference / (c * c + T(1.0));
  return quotient * a + min_of(a, b) * max_of(b, c) - T(3.0) * atan_of(T(a / c)) + abs_of(difference);
}

float formula_in_float(float a, float b, float c) {
  const float difference = a - b;
  const float quotient = difference / (c * c + 1.0f);
  return quotient * a + std::fmin(a, b) * std::fmax(b, c) - 3.0f * std::atan(a / c) + std::fabs(difference);
}

TEST(RunningError, BoundsWhatFloatArithmeticDoes) {
  ItemRandom random(7, 0, 0);
  double largest = 0;
  for (int i = 0; i < 200000; ++i) {
    const auto draw = [&] { return static_cast<float>(random.sign() * random.log_uniform(1e-3, 1e3)); };
    const float a = draw(), b = random.chance(0.2) ? a * (1 + 1e-6f) : draw(), c = draw();
    const R bounded = formula(R(a), R(b), R(c));
    const double error = std::abs(static_cast<double>(formula_in_float(a, b, c)) - bounded.value);
    ASSERT_LE(error, bounded.error) << a << ' ' << b << ' ' << c;
    largest = std::max(largest, error / bounded.error);
  }
  EXPECT_GT(largest, 0.2) << "a bound that is never approached proves little";
}

TEST(RunningError, OneRoundingIsOneUnit) {
  const R sum = R(1.0) + R(0x1p-30);
  EXPECT_DOUBLE_EQ(sum.error, kU * sum.value + 0x1p-149);
  EXPECT_EQ(scale_exactly(R(3.0, 0.5), 0.25).error, 0.125);
}

TEST(RunningError, ConstantsAreRoundedOnceInF32AndExactInF64) {
  EXPECT_GT(rounded_constant<R>(1e-7).error, 0);
  EXPECT_EQ(rounded_constant<RunningError<Dtype::f64>>(1e-7).error, 0);
  EXPECT_EQ(rounded_constant<double>(1e-7), 1e-7);
}

TEST(RunningError, ADivisorThatMayBeZeroHasNoBound) {
  const R quotient = R(1.0) / R(1e-8, 1e-7);
  EXPECT_TRUE(std::isinf(quotient.error));
  EXPECT_TRUE(std::isinf((quotient + R(1.0)).error));
  EXPECT_EQ((quotient * R(0.0)).value, 0);
  EXPECT_LT((quotient * R(0.0)).error, 1e-40) << "an exact zero factor leaves nothing";
}

TEST(RunningError, AnIntermediateBeyondTheRangeIsNoticed) {
  running_error_state = {};
  (void)(R(1e20) * R(1e18));
  EXPECT_FALSE(running_error_state.overflow);
  (void)(R(1e20) * R(1e19));
  EXPECT_TRUE(running_error_state.overflow);
  EXPECT_FALSE(running_error_state.infinite);
  running_error_state = {};
  (void)(R(1.0) / R(0.0));
  EXPECT_TRUE(running_error_state.infinite);
  EXPECT_FALSE(running_error_state.overflow);
}

TEST(RunningError, ComparisonsWithinRoundingAreAmbiguous) {
  running_error_state = {};
  EXPECT_EQ(indicator_less(R(1.0, 1e-9), R(2.0, 1e-9)).value, 1);
  EXPECT_FALSE(running_error_state.ambiguous);
  (void)indicator_less(R(1.0, 1e-3), R(1.001, 1e-3));
  EXPECT_TRUE(running_error_state.ambiguous);
  running_error_state = {};
  (void)indicator_less(R(1.0), R(1.0));
  EXPECT_TRUE(running_error_state.ambiguous) << "an exact tie is undecided";
}

TEST(RunningError, NanReachesBothEndsOfAMagnitude) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  const auto magnitude = abs_of(HullError<Dtype::f32>(kNan, kNan, 0));
  EXPECT_TRUE(std::isnan(magnitude.low));
  EXPECT_TRUE(std::isnan(magnitude.high));
}

TEST(RunningError, NanReachesMinAndMax) {
  const R nan(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(std::isnan(min_of(nan, R(1.0)).value));
  EXPECT_TRUE(std::isnan(max_of(R(1.0), nan).value));
  EXPECT_TRUE(std::isnan(min_of(1.0, std::numeric_limits<double>::quiet_NaN())));
  EXPECT_TRUE(std::isnan(max_of(std::numeric_limits<double>::quiet_NaN(), 1.0)));
}

TEST(HullError, AgreesWithRunningErrorWhereNothingIsUndecided) {
  ItemRandom random(8, 0, 0);
  for (int i = 0; i < 20000; ++i) {
    const auto draw = [&] { return random.sign() * random.log_uniform(1e-2, 1e2); };
    const double a = draw(), b = draw(), c = draw();
    const R point = formula(R(a), R(b), R(c));
    const H hull = formula(H(a), H(b), H(c));
    EXPECT_EQ(hull.low, point.value);
    EXPECT_EQ(hull.high, point.value);
    EXPECT_NEAR(hull.error, point.error, 1e-12 * point.error);
  }
}

TEST(HullError, AnUndecidedIndicatorSpansBothBranches) {
  const H either = indicator_less(H(1.0), H(1.0));
  EXPECT_EQ(either.low, 0);
  EXPECT_EQ(either.high, 1);
  const H product = either * H(-3.0) + H(1.0);
  EXPECT_EQ(product.low, -2);
  EXPECT_EQ(product.high, 1);
}

TEST(Dual, DifferentiatesTheSameFormula) {
  using D = Dual<3>;
  const double a = 1.3, b = -0.4, c = 2.1;
  const D value = formula(D(a, 3, 0), D(b, 3, 1), D(c, 3, 2));
  const double h = 1e-6;
  EXPECT_NEAR(value.derivatives()[0], (formula(a + h, b, c) - formula(a - h, b, c)) / (2 * h), 1e-8);
  EXPECT_NEAR(value.derivatives()[1], (formula(a, b + h, c) - formula(a, b - h, c)) / (2 * h), 1e-8);
  EXPECT_NEAR(value.derivatives()[2], (formula(a, b, c + h) - formula(a, b, c - h)) / (2 * h), 1e-8);
}

}  // namespace
}  // namespace lossgrad
