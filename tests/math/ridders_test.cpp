// SPDX-License-Identifier: Apache-2.0
#include "math/ridders.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "math/ridders_derivative.hpp"

namespace lossgrad {
namespace {

using test::ridders_derivative;

TEST(Ridders, IsRightWithinItsOwnEstimate) {
  const auto check = [](auto function, double x, double right, double step) {
    const auto estimate = ridders_derivative(function, x, step, 1e-14);
    EXPECT_LE(std::abs(estimate.value - right), 10 * estimate.error) << x;
    EXPECT_LE(estimate.error, 1e-8 * (1 + std::abs(right))) << x;
  };
  for (const double x : {-2.0, -0.3, 0.1, 1.0, 3.0}) {
    check([](double t) { return std::exp(t); }, x, std::exp(x), 0.3);
    check([](double t) { return std::atan(t); }, x, 1 / (1 + x * x), 0.1);
    check([](double t) { return t * t * t; }, x, 3 * x * x, 0.5);
  }
}

TEST(Ridders, AWrongDerivativeIsOutsideTheEstimate) {
  const auto estimate = ridders_derivative([](double t) { return std::sin(t); }, 0.7, 0.2, 1e-16);
  EXPECT_GT(std::abs(estimate.value - std::cos(0.7) * (1 + 1e-8)), estimate.error);
}

TEST(Ridders, NoiseWidensTheEstimate) {
  const std::vector<double> widths = {2e-1, 1e-1, 5e-2};
  const std::vector<double> above = {0.1, 0.05, 0.025}, below = {-0.1, -0.05, -0.025};
  EXPECT_GE(ridders_extrapolate(above, below, widths, 1e-3).error, 1e-2);
  EXPECT_LE(ridders_extrapolate(above, below, widths, 0).error, 1e-12);
}

TEST(Ridders, NothingUsableIsAnInfiniteError) {
  EXPECT_TRUE(std::isinf(ridders_extrapolate({}, {}, {}, 0).error));
}

}  // namespace
}  // namespace lossgrad
