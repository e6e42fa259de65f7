// SPDX-License-Identifier: Apache-2.0
// Which differences say something about a gradient.
#include "check/disagreement.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace lossgrad {
namespace {

constexpr double kRounding = 0x1p-53;

TEST(Informative, ErrorBelowAThousandthOfTheGradient) {
  EXPECT_TRUE(informative({1.0, 0.9e-3}, 1.0, 4 * kRounding));
  EXPECT_FALSE(informative({1.0, 1.1e-3}, 1.0, 4 * kRounding));
  EXPECT_TRUE(informative({2.0, 1.9e-3}, 1.0, 4 * kRounding)) << "of the larger of the two";
  EXPECT_FALSE(informative({1.0, std::numeric_limits<double>::infinity()}, 1.0, 4 * kRounding));
}

// What is left of parts of size 1 that cancel.
TEST(Informative, CancelledGradientIsJudgedByItsParts) {
  for (const double left : {0.0, 1e-17, 1e-12, 1e-6}) {
    EXPECT_TRUE(informative({left, 4e-7}, left, 4 * kRounding)) << left;
    EXPECT_FALSE(informative({left, 1e-3}, left, 4 * kRounding)) << left;
  }
}

// Of a sum of 65,536 terms the bound is of about 1,500 roundings; nothing cancelled.
TEST(Informative, BoundOfALongSumIsNoCancellation) {
  EXPECT_FALSE(informative({1.0, 1.1e-3}, 1.0, 1500 * kRounding));
}

}  // namespace
}  // namespace lossgrad
