// SPDX-License-Identifier: Apache-2.0
// Kinks of the cosine loss: the hull holds both sides of the hinge and of the maxima, and nothing more.
#include <cmath>

#include <gtest/gtest.h>

#include "losses/cosine/cosine.hpp"
#include "losses/cosine_rows.hpp"

namespace lossgrad {
namespace {

using namespace cosine_rows;

struct Sides {
  std::vector<double> dx1, dx2;
};
// The active branch by the formula in double; the other one is zero.
Sides active_gradient(const Items& items, std::size_t i) {
  const auto x1 = row(items, "x1", i), x2 = row(items, "x2", i);
  const double r1 = 1 / norm(x1), r2 = 1 / norm(x2), cos = dot(x1, x2) * r1 * r2;
  const double dy = items.at("dy")[i] * (items.at("y")[i] > 0 ? -1 : 1);
  Sides sides;
  for (std::size_t e = 0; e < x1.size(); ++e) {
    sides.dx1.push_back(dy * (x2[e] * r2 - cos * x1[e] * r1) * r1);
    sides.dx2.push_back(dy * (x1[e] * r1 - cos * x2[e] * r2) * r2);
  }
  return sides;
}

TEST(CosineKinks, TheHullOfTheHingeHoldsBothSides) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    for (const std::int64_t n_dim : {2, 31, 200}) {
      for (const double margin : {0.0, 0.5, -0.25}) {
        Items items = drawn("near_margin", dtype, n_dim, 100, margin);
        items.values["y"].assign(100, -1.0);
        const Reference gradients = gradients_of(items, dtype, "exact");
        int kinks = 0;
        for (std::size_t i = 0; i < 100; ++i) {
          const Sides active = active_gradient(items, i);
          for (const char* output : {"dx1", "dx2"}) {
            const ReferenceValues& d = gradients.at(output);
            const auto& side = output[2] == '1' ? active.dx1 : active.dx2;
            for (std::size_t k = 0; k < side.size(); ++k) {
              const std::size_t e = i * side.size() + k;
              const bool kink = (d.flags[e] & kKink) != 0;
              kinks += kink ? 1 : 0;
              if (!kink) continue;
              EXPECT_LE(d.low[e], 0);
              EXPECT_GE(d.high[e], 0);
              EXPECT_LE(usage(side[k], d, e), 1) << output << e;
              EXPECT_NEAR(d.high[e] - d.low[e], std::abs(side[k]), d.bound[e]) << "and nothing more";
            }
          }
        }
        // In short rows a few ulp are more than the bound.
        EXPECT_GT(kinks, (n_dim == 2 ? 10 : 80) * 2 * n_dim) << name(dtype) << ' ' << n_dim << ' ' << margin;
      }
    }
  }
}

TEST(CosineKinks, ADecidedHingeIsNoKink) {
  for (const double excess : {1e-3, -1e-3}) {
    const double cos = 0.5 + excess;
    const Items items = one_row({1, 0}, {cos, std::sqrt(1 - cos * cos)}, -1, 0.5);
    const Reference gradients = gradients_of(items, Dtype::f64, "exact");
    for (const char* output : {"dx1", "dx2"}) {
      const ReferenceValues& d = gradients.at(output);
      for (std::size_t e = 0; e < 2; ++e) EXPECT_EQ(d.flags[e] & kKink, 0);
      EXPECT_EQ(d.low[1] != 0, excess > 0) << output;
    }
  }
}

TEST(CosineKinks, LabelOneHasNoHinge) {
  const Items items = one_row({1, 1, 1, 1}, {1, 1, 1, -1}, 1, 0.5);
  for (const auto& [output, d] : gradients_of(items, Dtype::f32, "exact")) {
    for (std::size_t e = 0; e < 4; ++e) EXPECT_EQ(d.flags[e] & kKink, 0) << output;
  }
}

// The active branch gives NaN, the other one zero.
TEST(CosineKinks, NanInDyMayBeZeroWhereTheHingeIsUndecided) {
  const Items items = one_row({1, 1, 1, 1}, {1, 1, 1, -1}, -1, 0.5, kNan);
  for (const auto& [output, d] : gradients_of(items, Dtype::f32, "exact")) {
    for (std::size_t e = 0; e < 4; ++e) {
      EXPECT_TRUE(std::isnan(d.low[e]) && std::isnan(d.high[e])) << output;
      EXPECT_NE(d.flags[e] & kZeroToo, 0) << output;
    }
  }
  const Items active = one_row({1, 1, 1, 1}, {1, 1, 1, 1}, -1, 0.5, kNan);
  for (const auto& [output, d] : gradients_of(active, Dtype::f32, "exact")) {
    for (std::size_t e = 0; e < 4; ++e) EXPECT_EQ(d.flags[e] & kZeroToo, 0) << output;
  }
}

TEST(CosineKinks, NanInDyMayBeZeroWhereTheCosineOverflows) {
  for (const double y : {1.0, -1.0}) {
    const Items items = one_row({1e30, 1}, {1e30, 1}, y, 0, kNan);
    for (const auto& [output, d] : gradients_of(items, Dtype::f32, "exact")) {
      EXPECT_TRUE(std::isnan(d.low[0])) << output;
      EXPECT_EQ((d.flags[0] & kZeroToo) != 0, y < 0) << output;
    }
  }
}

TEST(CosineKinks, DyZeroLeavesNoKink) {
  const Items items = one_row({1, 1, 1, 1}, {1, 1, 1, -1}, -1, 0.5, 0);
  for (const auto& [output, d] : gradients_of(items, Dtype::f32, "exact")) {
    for (std::size_t e = 0; e < 4; ++e) {
      EXPECT_EQ(d.flags[e] & kKink, 0) << output;
      EXPECT_EQ(d.low[e], 0);
      EXPECT_EQ(d.high[e], 0);
    }
  }
}

// A norm that is the least one within rounding: its own gradient has the part along the row, or not.
void expect_both_sides(const Items& items, const std::string& convention, Dtype dtype) {
  const Reference gradients = gradients_of(items, dtype, convention);
  const auto x1 = row(items, "x1", 0), x2 = row(items, "x2", 0);
  const Sides with = active_gradient(items, 0);
  const double r1 = 1 / norm(x1), r2 = 1 / norm(x2);
  for (std::size_t e = 0; e < x1.size(); ++e) {
    const ReferenceValues& d = gradients.at("dx1");
    const double without = -x2[e] * r2 * r1;  // y = 1, dy = 1
    EXPECT_NE(d.flags[e] & kKink, 0) << convention << e;
    EXPECT_LE(usage(with.dx1[e], d, e), 1) << convention << e;
    EXPECT_LE(usage(without, d, e), 1) << convention << e;
    EXPECT_NEAR(d.high[e] - d.low[e], std::abs(without - with.dx1[e]), 2 * d.bound[e]) << convention;
  }
}

TEST(CosineKinks, UndecidedMaximaHoldBothSides) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const auto of_length = [&](double length) {
      return std::vector<double>{round_to(dtype, -0.6 * length), round_to(dtype, 0.8 * length)};
    };
    expect_both_sides(one_row(of_length(kCosineNormalizeEps), {3, 4}, 1), "normalize", dtype);
    // 2e-9 * 5 = 1e-8.
    expect_both_sides(one_row(of_length(2e-9), {3, 4}, 1), "product", dtype);
  }
  // Of the product, the other row's gradient as well.
  const Reference product = gradients_of(one_row({2e-9, 0}, {3, 4}, 1), Dtype::f64, "product");
  EXPECT_NE(product.at("dx2").flags[0] & kKink, 0);
  // Of normalize, not.
  const Reference normalize = gradients_of(one_row({1e-12, 0}, {3, 4}, 1), Dtype::f64, "normalize");
  EXPECT_NEAR(normalize.at("dx2").low[0], normalize.at("dx2").high[0], 4 * normalize.at("dx2").bound[0]);
}

// The gradient of similarity does not see its maxima: the least norm is no kink.
TEST(CosineKinks, SimilarityIsSmoothAtItsLeastNorm) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const double a = round_to(dtype, 0.6e-8), b = round_to(dtype, -0.8e-8);
    for (const auto& [output, d] : gradients_of(one_row({a, b}, {3, 4}, 1), dtype, "similarity")) {
      for (std::size_t e = 0; e < 2; ++e) {
        EXPECT_LE(d.high[e] - d.low[e], 0.5 * d.bound[e]) << name(dtype) << output;
      }
    }
  }
}

TEST(CosineKinks, BothMaximaUndecided) {
  const Items items = one_row({0.6e-12, 0.8e-12}, {1e-12, 0}, 1);
  const Reference gradients = gradients_of(items, Dtype::f64, "normalize");
  const Sides with = active_gradient(items, 0);
  for (std::size_t e = 0; e < 2; ++e) {
    EXPECT_LE(usage(with.dx1[e], gradients.at("dx1"), e), 1);
    EXPECT_LE(usage(with.dx2[e], gradients.at("dx2"), e), 1);
    const double without1 = -items.at("x2")[e] * 1e24, without2 = -items.at("x1")[e] * 1e24;
    EXPECT_LE(usage(without1, gradients.at("dx1"), e), 1);
    EXPECT_LE(usage(without2, gradients.at("dx2"), e), 1);
  }
}

// Away from the least norm nothing is undecided.
TEST(CosineKinks, DecidedMaximaAreNoKinks) {
  for (const char* convention : {"normalize", "product", "similarity"}) {
    for (const double length : {1e-14, 1e-10, 1e-6, 1.0}) {
      for (const auto& [output, d] : gradients_of(one_row({length, 0}, {3, 4}, 1), Dtype::f32, convention)) {
        EXPECT_EQ((d.flags[0] | d.flags[1]) & kKink, 0) << convention << length << output;
      }
    }
  }
}

}  // namespace
}  // namespace lossgrad
