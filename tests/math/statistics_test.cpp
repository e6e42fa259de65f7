// SPDX-License-Identifier: Apache-2.0
#include "math/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "math/random.hpp"

namespace lossgrad {
namespace {

TEST(LogHistogram, QuantilesAreWithinAnEighthAboveTheSortedOnes) {
  ItemRandom random(3, 0, 0);
  std::vector<double> values;
  LogHistogram histogram;
  for (int i = 0; i < 10000; ++i) {
    values.push_back(random.chance(0.1) ? 0 : random.log_uniform(1e-12, 1e6));
    histogram.add(values.back());
  }
  std::sort(values.begin(), values.end());
  EXPECT_EQ(histogram.max(), values.back());
  for (const double fraction : {0.05, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double right = values[static_cast<std::size_t>(std::ceil(fraction * 10000)) - 1];
    EXPECT_GE(histogram.quantile(fraction), right);
    EXPECT_LE(histogram.quantile(fraction), right * 1.1251);
  }
}

TEST(LogHistogram, MergingIsTheSameAsAddingTogether) {
  LogHistogram all, left, right;
  for (int i = 0; i < 1000; ++i) {
    all.add(i * 0.37);
    (i % 2 == 0 ? left : right).add(i * 0.37);
  }
  left.merge(right);
  EXPECT_EQ(left.count(), all.count());
  EXPECT_EQ(left.max(), all.max());
  for (const double fraction : {0.1, 0.5, 0.999}) EXPECT_EQ(left.quantile(fraction), all.quantile(fraction));
}

TEST(LogHistogram, ExtremesAreKept) {
  LogHistogram histogram;
  EXPECT_EQ(histogram.quantile(0.5), 0);
  histogram.add(0);
  EXPECT_EQ(histogram.quantile(1), 0);
  histogram.add(1e-300);
  histogram.add(1e300);
  EXPECT_EQ(histogram.quantile(1), 1e300);
  histogram.add(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(histogram.max(), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace lossgrad
