// SPDX-License-Identifier: Apache-2.0
// Results of 16 bits: their rounding counts once, whatever the slack.
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/comparison.hpp"

namespace lossgrad {
namespace {

using ::testing::HasSubstr;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr ItemState kFinite{};

ExpectedElement exactly(double value, double bound) { return {value, value, bound, value, value, bound, 0}; }

// From 1 to 2 half an ulp of bf16 is 2^-8, below 1 2^-9: that much counts once, what arithmetic adds twice.
TEST(ComparisonRounding, SlackDoesNotMultiplyTheRoundingTo16Bits) {
  constexpr double kArithmetic = 0x1p-20;
  const auto passes = [](Dtype dtype, double right, double off, double bound, const Tolerance& tolerance) {
    Comparison comparison(dtype, tolerance);
    comparison.add("loss", 0, 0, right + off, exactly(right, bound), kFinite);
    return !comparison.failed();
  };
  struct Place {
    Dtype dtype;
    double right, half_ulp;
  };
  for (const auto& [dtype, right, half_ulp] :
       {Place{Dtype::bf16, 1.25, 0x1p-8}, Place{Dtype::bf16, 1 - 0x1p-12, 0x1p-9},
        Place{Dtype::bf16, 1 - 0x1p-22, 0x1p-8},  // arithmetic may lead beyond 1
        Place{Dtype::f16, -1.25, 0x1p-11}}) {
    const double bound = half_ulp + kArithmetic;
    for (const double slack : {2.0, 10.0}) {
      const Tolerance tolerance{.slack = slack, .rtol = {}, .atol = {}};
      EXPECT_TRUE(passes(dtype, right, half_ulp + (slack - 0.1) * kArithmetic, bound, tolerance)) << right;
      EXPECT_FALSE(passes(dtype, right, half_ulp + (slack + 0.1) * kArithmetic, bound, tolerance)) << right;
    }
    EXPECT_FALSE(passes(dtype, right, half_ulp, bound, {.slack = 0.5, .rtol = {}, .atol = {}}));
    EXPECT_TRUE(passes(dtype, right, 0.1, bound, {.slack = 2, .rtol = 0.0, .atol = 0.11}));
  }
}

TEST(ComparisonRounding, WhatIsNotFiniteIsAllowedNoError) {
  for (const Dtype dtype : kAllDtypes) {
    for (const double value : {kNan, kInf}) EXPECT_EQ(allowed_error(2, dtype, exactly(value, 0)), 0);
  }
  EXPECT_GE(allowed_error(1e18, Dtype::bf16, exactly(1, 0x1p-8)), 0x1p-8) << "a large slack narrows nothing";
}

// The first has a wide bound and passes at 1.5 times it, the second fails at 1.3.
TEST(ComparisonRounding, WhatIsWrongComesBeforeWhatUsesMore) {
  Comparison comparison(Dtype::bf16, {});
  comparison.add("loss", 0, 0, 1.25 + 15 * 0x1p-8, exactly(1.25, 10 * 0x1p-8), kFinite);
  comparison.add("loss", 1, 0, 1.25 + 1.3 * 0x1p-8, exactly(1.25, 0x1p-8), kFinite);
  EXPECT_EQ(comparison.failures(), 1);
  ASSERT_EQ(comparison.worst().size(), 2u);
  EXPECT_EQ(comparison.worst().front().item, 1);
  EXPECT_THAT(comparison.failure_reason("row"), HasSubstr("loss[0] of row 1"));
}

TEST(ComparisonRounding, SaysThatTheRoundingTo16BitsIsWhatFails) {
  Comparison comparison(Dtype::bf16, {});
  comparison.add("loss", 0, 0, 1.25 + 0x1.8p-8, exactly(1.25, 0x1p-8), kFinite);
  ASSERT_EQ(comparison.worst().size(), 1u);
  EXPECT_EQ(comparison.worst().front().note, "more than the rounding to bf16 allows");
}

}  // namespace
}  // namespace lossgrad
