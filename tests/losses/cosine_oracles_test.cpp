// SPDX-License-Identifier: Apache-2.0
// The oracles of the cosine loss: closed gradient, automatic differentiation and differences of the value
// agree.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "losses/cosine_rows.hpp"
#include "math/random.hpp"
#include "math/ridders_derivative.hpp"

namespace lossgrad {
namespace {

using namespace cosine_rows;

struct Along {
  double closed = 0, error = 0;
};
Along along(const GradientOracles& oracles, std::span<const double> direction) {
  Along sum;
  for (std::size_t e = 0; e < direction.size(); ++e) {
    sum.closed += oracles.closed[e] * direction[e];
    sum.error += oracles.closed_error[e] * std::abs(direction[e]);
  }
  return sum;
}

std::vector<double> random_direction(ItemRandom& random, std::size_t size) {
  std::vector<double> direction(size);
  for (double& x : direction) x = random.normal();
  const double length = norm(direction);
  for (double& x : direction) x /= length;
  return direction;
}

struct Counts {
  int automatic = 0, differences = 0;
};

void compare_oracles(const Items& items, const char* convention, std::int64_t i, Counts& counts) {
  const GradientOracles oracles = cosine().oracles(convention, items, i);
  const std::size_t size = oracles.point.size();
  ASSERT_EQ(size, 2 * static_cast<std::size_t>(items.sizes.at("n_dim")));
  ASSERT_EQ(oracles.closed.size(), size);
  ASSERT_EQ(oracles.closed_error.size(), size);
  ASSERT_EQ(oracles.smooth_radius.size(), size);
  ItemRandom random(11, 0, i);
  const auto direction = random_direction(random, size);
  const double radius = *std::min_element(oracles.smooth_radius.begin(), oracles.smooth_radius.end());
  const Along right = along(oracles, direction);
  if (radius == 0 || !std::isfinite(right.closed)) return;
  const double automatic = cosine().derivative_along(convention, items, i, direction);
  EXPECT_NEAR(automatic, right.closed, 4 * right.error) << convention << i;
  ++counts.automatic;
  const auto value = [&](double step) {
    auto moved = oracles.point;
    for (std::size_t e = 0; e < size; ++e) moved[e] += step * direction[e];
    return cosine().value_at(convention, items, i, moved);
  };
  const DerivativeEstimate difference = test::ridders_derivative(value, 0, radius, 1e-15);
  if (!(difference.error < 1e-4 * std::abs(right.closed))) return;
  EXPECT_NEAR(difference.value, right.closed, 10 * difference.error + 4 * right.error) << convention << i;
  ++counts.differences;
}

TEST(CosineOracles, ClosedGradientAutomaticDifferentiationAndDifferencesAgree) {
  for (const char* convention : kConventions) {
    Counts counts;
    for (const ScenarioInfo& scenario : cosine().scenarios()) {
      for (const std::int64_t n_dim : {1, 2, 31, 200}) {
        SCOPED_TRACE(scenario.name + " dim " + std::to_string(n_dim));
        const Items items = drawn(scenario.name, Dtype::f64, n_dim, 20);
        for (std::int64_t i = 0; i < 20; ++i) compare_oracles(items, convention, i, counts);
      }
    }
    const auto rows = static_cast<int>(cosine().scenarios().size()) * 4 * 20;
    EXPECT_GT(counts.automatic, rows * 3 / 7) << convention;
    EXPECT_GT(counts.differences, rows * 3 / 14) << convention;
  }
}

// A change of one component by less than its radius stays on one side: the difference is the derivative.
TEST(CosineOracles, RadiiStayClearOfKinks) {
  int compared = 0;
  for (const char* convention : kConventions) {
    Items items = drawn("gaussian", Dtype::f64, 2, 100, 0.3);
    // Norms about the least ones.
    for (std::size_t i = 0; i < 40; ++i) {
      const double factor = std::pow(10.0, -7 - static_cast<double>(i % 7));
      for (std::size_t e = 2 * i; e < 2 * i + 2; ++e) items.values["x1"][e] *= factor;
    }
    for (std::int64_t i = 0; i < 100; ++i) {
      const GradientOracles oracles = cosine().oracles(convention, items, i);
      for (std::size_t c = 0; c < 4; ++c) {
        const double radius = oracles.smooth_radius[c];
        if (radius == 0) continue;
        const auto value = [&](double x) {
          auto moved = oracles.point;
          moved[c] = x;
          return cosine().value_at(convention, items, i, moved);
        };
        const auto difference = test::ridders_derivative(value, oracles.point[c], radius, 1e-15);
        if (!(difference.error < 1e-3 * std::abs(oracles.closed[c]))) continue;
        EXPECT_NEAR(difference.value, oracles.closed[c], 10 * difference.error + 4 * oracles.closed_error[c])
            << convention << ' ' << i << ' ' << c;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 600);
}

TEST(CosineOracles, ValuesAtThePointAreThoseOfTheReference) {
  for (const char* convention : kConventions) {
    const Items items = drawn("gaussian", Dtype::f64, 31, 50);
    const auto loss = losses_of(items, Dtype::f64, convention);
    for (std::int64_t i = 0; i < 50; ++i) {
      const GradientOracles oracles = cosine().oracles(convention, items, i);
      const auto e = static_cast<std::size_t>(i);
      EXPECT_LE(usage(cosine().value_at(convention, items, i, oracles.point), loss, e), 1);
    }
  }
  EXPECT_EQ(cosine().value_from_outputs("exact", {{"loss", {0.25}}}, {}), 0.25);
}

}  // namespace
}  // namespace lossgrad
