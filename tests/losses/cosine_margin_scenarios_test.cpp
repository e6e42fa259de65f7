// SPDX-License-Identifier: Apache-2.0
// The scenarios whose rows lie at the hinge: near_margin and about_margin.
#include <cmath>

#include <gtest/gtest.h>

#include "losses/cosine_drawn_rows.hpp"

namespace lossgrad {
namespace {

TEST(CosineScenarios, NearMarginIsNearTheMargin) {
  for (const double margin : {0.0, 0.25, -0.5, 1.0}) {
    everywhere([&](Dtype dtype, std::int64_t n_dim) {
      if (n_dim == 1) return;  // cos is 1 or -1
      const double near = share(
          "near_margin", dtype, n_dim,
          [&](const CosineRow& row) { return std::abs(cosine(row) - margin) < 12 * rounding(dtype); },
          margin);
      EXPECT_GE(near, made_by_cancellation(dtype, n_dim) ? 0.9 : 1) << margin;
    });
  }
}

// On either side, and at every scale that the type has.
TEST(CosineScenarios, AboutMarginFillsTheWayToIt) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const auto between = [&](double least, double most) {
      return share(
          "about_margin", dtype, 33,
          [&](const CosineRow& row) {
            const double distance = cosine(row) - 0.25;
            return distance * most > 0 && std::abs(distance) >= std::abs(least) &&
                   std::abs(distance) < std::abs(most);
          },
          0.25);
    };
    const double least = dtype == Dtype::f64 ? 1e-14 : 1e-6;
    for (const double side : {1.0, -1.0}) {
      for (double decade = least; decade < 0.05; decade *= 10)
        EXPECT_GT(between(side * decade, side * 10 * decade), 0.01) << name(dtype) << ' ' << side * decade;
      EXPECT_EQ(between(side * 0.11, side * 2), 0) << name(dtype) << side;
    }
  }
}

}  // namespace
}  // namespace lossgrad
