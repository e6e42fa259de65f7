// SPDX-License-Identifier: Apache-2.0
// Properties of the cosine reference: gradients obey the laws of the cosine, conventions differ only where
// eps matters, NaN and overflow reach what depends on them.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "losses/cosine_rows.hpp"

namespace lossgrad {
namespace {

using namespace cosine_rows;

// Laws of the cosine.

// cos does not change along a row, so that its gradient is at right angles to it.
TEST(CosineReference, GradientsAreAtRightAnglesToTheirRow) {
  int compared = 0;
  for (const char* convention : {"exact", "similarity", "product", "normalize"}) {
    for (const char* scenario :
         {"gaussian", "unit", "near_parallel", "orthogonal", "large_offset", "sparse"}) {
      for (const std::int64_t n_dim : {1, 2, 31, 200}) {
        const Items items = drawn(scenario, Dtype::f64, n_dim, 50, -0.9);
        const Reference gradients = gradients_of(items, Dtype::f64, convention);
        for (const auto& [output, values] : gradients) {
          const char* own = output == "dx1" ? "x1" : "x2";
          for (std::size_t i = 0; i < 50; ++i) {
            const auto x = row(items, own, i), d = row(values.low, i, static_cast<std::size_t>(n_dim));
            const auto bound = row(values.bound, i, static_cast<std::size_t>(n_dim));
            double slack = 0;
            for (std::size_t e = 0; e < x.size(); ++e) slack += std::abs(x[e]) * bound[e];
            EXPECT_LE(std::abs(dot(x, d)), slack) << convention << ' ' << scenario << ' ' << n_dim;
            EXPECT_LE(slack, 1e-11 * std::abs(items.at("dy")[i]) + 1e-300) << "says something";
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_EQ(compared, 4 * 6 * 4 * 2 * 50);
}

Items scaled(Items items, const char* argument, double factor) {
  for (double& value : items.values[argument]) value *= factor;
  return items;
}

// Longer rows have the same cosine and gradients as much smaller; powers of two scale without rounding.
TEST(CosineReference, ScaleLaws) {
  const Items items = drawn("gaussian", Dtype::f64, 31, 100);
  const auto loss = losses_of(items, Dtype::f64, "exact");
  const Reference gradients = gradients_of(items, Dtype::f64, "exact");
  const Items longer = scaled(scaled(items, "x1", 4), "x2", 0.125);
  EXPECT_EQ(losses_of(longer, Dtype::f64, "exact").low, loss.low);
  const Reference shorter = gradients_of(longer, Dtype::f64, "exact");
  const Reference doubled = gradients_of(scaled(items, "dy", -2), Dtype::f64, "exact");
  for (std::size_t e = 0; e < 3100; ++e) {
    EXPECT_EQ(shorter.at("dx1").low[e], gradients.at("dx1").low[e] / 4);
    EXPECT_EQ(shorter.at("dx2").low[e], gradients.at("dx2").low[e] * 8);
    EXPECT_DOUBLE_EQ(shorter.at("dx1").bound[e], gradients.at("dx1").bound[e] / 4);
    for (const char* output : {"dx1", "dx2"})
      EXPECT_EQ(doubled.at(output).low[e], -2 * gradients.at(output).low[e]);
  }
}

TEST(CosineReference, ExchangedRowsExchangeTheGradients) {
  const Items items = drawn("gaussian", Dtype::f64, 31, 100);
  Items exchanged = items;
  std::swap(exchanged.values["x1"], exchanged.values["x2"]);
  const auto a = losses_of(items, Dtype::f64, "exact"), b = losses_of(exchanged, Dtype::f64, "exact");
  const Reference da = gradients_of(items, Dtype::f64, "exact"),
                  db = gradients_of(exchanged, Dtype::f64, "exact");
  for (std::size_t i = 0; i < 100; ++i) EXPECT_LE(std::abs(a.low[i] - b.low[i]), a.bound[i]);
  for (std::size_t e = 0; e < 3100; ++e) {
    EXPECT_LE(std::abs(da.at("dx1").low[e] - db.at("dx2").low[e]), da.at("dx1").bound[e]);
    EXPECT_LE(std::abs(da.at("dx2").low[e] - db.at("dx1").low[e]), da.at("dx2").bound[e]);
  }
}

// A row turned round: 1 - cos becomes 1 + cos.
TEST(CosineReference, TheNegativeRowHasTheNegativeCosine) {
  Items items = drawn("gaussian", Dtype::f64, 31, 100);
  items.values["y"].assign(100, 1.0);
  const auto loss = losses_of(items, Dtype::f64, "exact").low;
  const auto turned = losses_of(scaled(items, "x1", -1), Dtype::f64, "exact").low;
  for (std::size_t i = 0; i < 100; ++i) EXPECT_NEAR(loss[i] + turned[i], 2, 1e-15);
}

TEST(CosineReference, InactiveRowsAreExactlyZero) {
  int inactive = 0;
  for (const Dtype dtype : kAllDtypes) {
    const Items items = drawn("gaussian", dtype, 31, 200, 0.9);
    const auto loss = losses_of(items, dtype, "exact");
    const Reference gradients = gradients_of(items, dtype, "exact");
    for (std::size_t i = 0; i < 200; ++i) {
      const double cos = dot(row(items, "x1", i), row(items, "x2", i)) / norm(row(items, "x1", i)) /
                         norm(row(items, "x2", i));
      if (items.at("y")[i] > 0 || cos > 0.89) continue;
      EXPECT_EQ(loss.low[i], 0);
      for (const char* output : {"dx1", "dx2"}) {
        for (std::size_t e = 31 * i; e < 31 * (i + 1); ++e) {
          const ReferenceValues& d = gradients.at(output);
          EXPECT_EQ(d.low[e], 0);
          EXPECT_EQ(d.high[e], 0);
          EXPECT_LE(d.bound[e], format_of(dtype).min_subnormal) << name(dtype);
        }
      }
      ++inactive;
    }
  }
  EXPECT_GT(inactive, 150);
}

// Conventions.

TEST(CosineReference, ConventionsAgreeWhereNoEpsMatters) {
  int compared = 0;
  for (const char* scenario : {"gaussian", "unit", "orthogonal", "sparse", "large_offset"}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      Items items = drawn(scenario, dtype, 31, 60);
      items.values.at("dy").assign(60, -2);
      const auto exact = losses_of(items, dtype, "exact");
      const Reference exact_gradients = gradients_of(items, dtype, "exact");
      for (const char* convention : kConventions) {
        const auto loss = losses_of(items, dtype, convention);
        // 1e-12 in the square of each norm.
        const bool adds = std::string(convention) == "torch";
        const auto share_of_eps = [&](std::size_t i) {
          const auto x1 = row(items, "x1", i), x2 = row(items, "x2", i);
          return 1e-14 + (adds ? 2e-12 * (1 / dot(x1, x1) + 1 / dot(x2, x2)) : 0);
        };
        for (std::size_t i = 0; i < 60; ++i) EXPECT_NEAR(loss.low[i], exact.low[i], share_of_eps(i));
        for (const auto& [output, values] : gradients_of(items, dtype, convention)) {
          const ReferenceValues& right = exact_gradients.at(output);
          for (std::size_t e = 0; e < right.low.size(); ++e) {
            const double norm_of_own = norm(row(items, output == "dx1" ? "x1" : "x2", e / 31));
            EXPECT_NEAR(values.low[e], right.low[e], 10 * share_of_eps(e / 31) / norm_of_own) << convention;
            EXPECT_LE(values.bound[e], 1.5 * right.bound[e]) << convention;
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_EQ(compared, 5 * 2 * 5 * 2 * 60 * 31);
}

// ... and only there: a norm of 1e-9 is short for three of them, 1e-13 for four.
TEST(CosineReference, ConventionsDifferWhereEpsMatters) {
  const auto losses = [](double length) {
    std::vector<double> all;
    for (const char* convention : kConventions)
      all.push_back(
          losses_of(one_row({0.6 * length, 0.8 * length}, {4, 3}, 1), Dtype::f64, convention).low[0]);
    return all;  // exact, torch, similarity, product, normalize
  };
  const auto at_9 = losses(1e-9), at_13 = losses(1e-13);
  EXPECT_NEAR(at_9[0], 0.04, 1e-14);
  EXPECT_NEAR(at_9[1], 1 - 0.96 * 1e-9 / std::sqrt(1e-18 + 1e-12), 1e-12);
  EXPECT_NEAR(at_9[2], 1 - 0.096, 1e-14);
  EXPECT_NEAR(at_9[3], 1 - 0.96 * 5e-9 / 1e-8, 1e-14);
  EXPECT_NEAR(at_9[4], 0.04, 1e-14);
  EXPECT_NEAR(at_13[0], 0.04, 1e-14);
  EXPECT_NEAR(at_13[4], 1 - 0.096, 1e-14);
}

TEST(CosineReference, ZeroRowsAreNanInExactOnly) {
  int zero_rows = 0;
  for (const Dtype dtype : kAllDtypes) {
    for (const std::int64_t n_dim : {1, 31}) {
      const Items items = drawn("zero_row", dtype, n_dim, 120);
      for (const char* convention : kConventions) {
        const bool exact = std::string(convention) == "exact";
        const auto loss = losses_of(items, dtype, convention);
        const Reference gradients = gradients_of(items, dtype, convention);
        for (std::size_t i = 0; i < 120; ++i) {
          const bool zero = norm(row(items, "x1", i)) == 0 || norm(row(items, "x2", i)) == 0;
          zero_rows += zero && exact ? 1 : 0;
          EXPECT_EQ(std::isnan(loss.low[i]), zero && exact) << convention << i;
          if (zero && !exact) {
            EXPECT_NEAR(loss.low[i], items.at("y")[i] > 0 ? 1 : 0, 1e-12);
          }
          for (const auto& [output, values] : gradients) {
            for (std::size_t e = 0; e < static_cast<std::size_t>(n_dim); ++e) {
              EXPECT_EQ(std::isnan(values.low[i * static_cast<std::size_t>(n_dim) + e]), zero && exact)
                  << convention << i << output;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(zero_rows, 300);
}

// NaN.

TEST(CosineReference, NanWithLabelMinusOneMayBeZeroToo) {
  for (const double y : {1.0, -1.0}) {
    for (const char* convention : kConventions) {
      const Items items = one_row({kNan, 1}, {1, 2}, y);
      EXPECT_TRUE(std::isnan(losses_of(items, Dtype::f32, convention).low[0]));
      EXPECT_EQ(losses_of(items, Dtype::f32, convention).flags[0] & kZeroToo, 0) << "the loss is NaN";
      for (const auto& [output, d] : gradients_of(items, Dtype::f32, convention)) {
        for (std::size_t e = 0; e < 2; ++e) {
          EXPECT_TRUE(std::isnan(d.low[e])) << convention << output;
          EXPECT_EQ((d.flags[e] & kZeroToo) != 0, y < 0) << convention << output;
        }
      }
    }
    const Items zero = one_row({0, 0}, {1, 2}, y);
    for (const auto& [output, d] : gradients_of(zero, Dtype::f32, "exact"))
      EXPECT_EQ((d.flags[0] & kZeroToo) != 0, y < 0) << output;
    // cos = margin = 0: the row may be inactive, whatever its dy.
    for (const auto& [output, d] : gradients_of(zero, Dtype::f32, "torch"))
      EXPECT_EQ((d.flags[0] & kZeroToo) != 0, y < 0) << output;
  }
}

TEST(CosineReference, NanStaysInItsRow) {
  Items items = drawn("gaussian", Dtype::f32, 31, 3);
  const Items clean = items;
  items.values["x2"][31 + 5] = kNan;
  items.values["dy"][2] = kNan;
  items.values["y"] = {1, 1, 1};
  const auto loss = losses_of(items, Dtype::f32, "exact");
  EXPECT_FALSE(std::isnan(loss.low[0]));
  EXPECT_TRUE(std::isnan(loss.low[1]));
  EXPECT_FALSE(std::isnan(loss.low[2])) << "the loss does not depend on dy";
  for (const auto& [output, d] : gradients_of(items, Dtype::f32, "exact")) {
    for (std::size_t e = 0; e < 31; ++e) {
      EXPECT_TRUE(std::isfinite(d.low[e]));
      EXPECT_TRUE(std::isnan(d.low[31 + e])) << output << e;
      EXPECT_TRUE(std::isnan(d.low[62 + e])) << output << e;
    }
  }
}

TEST(CosineReference, SquaresBeyondTheRangeAreFlagged) {
  const auto flags = [](double length, Dtype dtype, const char* convention) {
    return losses_of(one_row({0.6 * length, 0.8 * length}, {0.8 * length, 0.6 * length}, 1), dtype,
                     convention)
        .flags[0];
  };
  EXPECT_NE(flags(1e21, Dtype::f32, "exact") & kOverflow, 0);
  EXPECT_NE(flags(1e21, Dtype::f32, "similarity") & kOverflow, 0);
  EXPECT_EQ(flags(1e21, Dtype::f64, "exact") & kOverflow, 0);
  EXPECT_NE(flags(1e160, Dtype::f64, "exact") & kOverflow, 0);
  // The product of the squares is infinite, the squares are not: many kernels form it.
  EXPECT_NE(flags(1e10, Dtype::f32, "exact") & kOverflow, 0);
  EXPECT_EQ(flags(1e10, Dtype::f32, "similarity") & kOverflow, 0);
  EXPECT_EQ(flags(1e9, Dtype::f32, "exact") & kOverflow, 0);
}

TEST(CosineReference, AlmostEveryElementHasAFiniteBound) {
  for (const ScenarioInfo& scenario : cosine().scenarios()) {
    const bool extreme = scenario.name == "tiny_norm" || scenario.name == "zero_row";
    const Items items = drawn(scenario.name, Dtype::f32, 31, 500);
    for (const char* convention : kConventions) {
      for (const auto& [output, d] : gradients_of(items, Dtype::f32, convention)) {
        const auto unbounded =
            std::count_if(d.bound.begin(), d.bound.end(), [](double bound) { return !std::isfinite(bound); });
        EXPECT_LE(unbounded, extreme ? 0.2 * 500 * 31 : 0.03 * 500 * 31)
            << scenario.name << ' ' << convention << ' ' << output;
      }
    }
  }
}

}  // namespace
}  // namespace lossgrad
