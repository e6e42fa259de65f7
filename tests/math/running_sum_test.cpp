// SPDX-License-Identifier: Apache-2.0
// The bound of a sum of products: what float sums in any order do, and when the statistical one may be used.
#include "math/running_sum.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "math/random.hpp"

namespace lossgrad {
namespace {

constexpr double kU = 0x1p-24;

Vector<double> vector_of(std::initializer_list<double> values) {
  Vector<double> vector(static_cast<Eigen::Index>(values.size()));
  Eigen::Index i = 0;
  for (const double value : values) vector[i++] = value;
  return vector;
}

Vector<double> normals(ItemRandom& random, Eigen::Index n) {
  Vector<double> values(n);
  for (double& x : values) x = static_cast<float>(random.normal());
  return values;
}

TEST(ProductSum, ValueMagnitudeAndCounts) {
  const ProductSum sum = product_sum(vector_of({1, -2, 0, 3, 4}), vector_of({5, 7, 2, 0, 0.5}));
  EXPECT_EQ(sum.value, 5 - 14 + 2);
  EXPECT_EQ(sum.magnitude, 5 + 14 + 2);
  EXPECT_EQ(sum.terms, 5);
  EXPECT_EQ(sum.nonzero, 3);
  EXPECT_GE(sum.squared_counts, 3);
}

TEST(ProductSum, OfNothing) {
  const ProductSum sum = product_sum(Vector<double>(0), Vector<double>(0));
  EXPECT_EQ(sum.value, 0);
  EXPECT_EQ(sum.magnitude, 0);
  EXPECT_EQ(sum.nonzero, 0);
  running_error_state = {};
  const auto running = running_sum<Dtype::f32>(sum, SumOrder::any);
  EXPECT_EQ(running.value, 0);
  EXPECT_EQ(running.error, 0);
  EXPECT_FALSE(running_error_state.overflow);
}

// `levels` random numbers, each of them at every levels-th place.
Vector<double> periodic(ItemRandom& random, Eigen::Index n, Eigen::Index levels) {
  const Vector<double> level = normals(random, levels);
  Vector<double> values(n);
  for (Eigen::Index i = 0; i < n; ++i) values[i] = level[i % levels];
  return values;
}

// Counted by hashes, exactly but for what chance adds.
TEST(ProductSum, SquaredCountsOfRepeatedTerms) {
  ItemRandom random(1, 0, 0);
  for (const Eigen::Index n : {64, 1000, 65536}) {
    const auto terms = static_cast<double>(n);
    for (const Eigen::Index levels : {1, 2, 3, 8, 64}) {
      const Vector<double> values = periodic(random, n, levels);
      const double right = terms * terms / static_cast<double>(levels);
      EXPECT_NEAR(product_sum(values, values).squared_counts, right, 0.15 * right + 0.3 * terms)
          << n << ' ' << levels;
    }
    const Vector<double> various = normals(random, n);
    EXPECT_LT(product_sum(various, various).squared_counts, 1.5 * terms) << n;
  }
  // Numbers of few digits fall apart as well as others.
  Vector<double> steps(4096);
  for (Eigen::Index i = 0; i < 4096; ++i) steps[i] = 1 + static_cast<double>(i) * 0x1p-12;
  EXPECT_LT(product_sum(steps, Vector<double>::Ones(4096)).squared_counts, 1.5 * 4096);
}

TEST(ProductSum, SignsAndZerosDoNotHideRepetition) {
  Vector<double> signs = Vector<double>::Constant(1000, 0.1);
  for (Eigen::Index i = 0; i < 1000; i += 2) signs[i] = -0.1;
  EXPECT_GT(product_sum(signs, Vector<double>::Constant(1000, 0.3)).squared_counts, 0.9e6);
  Vector<double> sparse = Vector<double>::Zero(1000);
  for (Eigen::Index i = 0; i < 1000; i += 10) sparse[i] = 0.1;
  EXPECT_GT(product_sum(sparse, sparse).squared_counts, 0.9e4);
}

TEST(SumErrorUnits, WorstCaseOfFewTermsStatisticalOfMany) {
  ProductSum sum;
  const auto units = [&](std::int64_t terms, bool all_differ, SumOrder order) {
    sum.terms = sum.nonzero = terms;
    const auto count = static_cast<double>(terms);
    sum.squared_counts = all_differ ? count : count * count;
    return sum_error_units(sum, order);
  };
  EXPECT_EQ(units(1, true, SumOrder::any), 4);
  EXPECT_EQ(units(33, true, SumOrder::any), 36) << "6 * sqrt(36) is the worst case";
  EXPECT_EQ(units(97, true, SumOrder::any), 60);
  EXPECT_EQ(units(9997, true, SumOrder::any), 600);
  EXPECT_EQ(units(9997, false, SumOrder::any), 10000);
  EXPECT_EQ(units(9997, false, SumOrder::blocked), kBlockedRoundings);
  EXPECT_EQ(units(9997, true, SumOrder::blocked), 6 * std::sqrt(kBlockedRoundings));
  for (const std::int64_t terms : {1, 5, 40, 125}) {
    for (const bool independent : {true, false}) {
      EXPECT_EQ(units(terms, independent, SumOrder::any), units(terms, independent, SumOrder::blocked));
    }
  }
  double before = 0;
  for (std::int64_t terms = 1; terms < 100000; terms += 1 + terms / 3) {
    const double now = units(terms, true, SumOrder::any);
    EXPECT_GT(now, before);
    EXPECT_LE(units(terms, true, SumOrder::blocked), now);
    EXPECT_LE(now, units(terms, false, SumOrder::any));
    before = now;
  }
}

TEST(RunningSum, TheErrorIsUnitsTimesMagnitude) {
  const ProductSum sum = product_sum(vector_of({3, -2, 1}), vector_of({1, 1, 1}));
  const auto single = running_sum<Dtype::f32>(sum, SumOrder::any);
  EXPECT_EQ(single.value, 2);
  EXPECT_DOUBLE_EQ(single.error, 6 * kU * 6);
  EXPECT_DOUBLE_EQ(running_sum<Dtype::f64>(sum, SumOrder::any).error, 6 * 0x1p-53 * 6);
}

TEST(RunningSum, SquaresOfFewDigitsAreExact) {
  ItemRandom random(5, 0, 0);
  Vector<double> whole(65536);
  for (double& x : whole) x = 0.25 * random.sign() * static_cast<double>(random.integer(1, 2));
  const auto units = [](const ProductSum& sum) {
    return running_sum<Dtype::f32>(sum, SumOrder::any).error / (kU * sum.magnitude);
  };
  EXPECT_NEAR(units(product_sum(whole, whole)), kExactSumUnits, 1e-6);
  const Vector<double> copy = whole;
  EXPECT_GT(units(product_sum(whole, copy)), 1000) << "rows may be normalised before their product";
  whole[77] = 1 + 0x1p-20;
  EXPECT_GT(units(product_sum(whole, whole)), 1000);
  Vector<double> large = Vector<double>::Constant(65536, 17);  // 289 * 65536 > 2^24
  EXPECT_GT(units(product_sum(large, large)), 1000);
}

// Products that underflow leave steps of the smallest number, whatever their magnitude.
TEST(RunningSum, SubnormalTermsErrByAStepEach) {
  Vector<double> tiny = Vector<double>::Constant(50, 1e-23);
  const ProductSum sum = product_sum(tiny, tiny);
  const auto running = running_sum<Dtype::f32>(sum, SumOrder::any);
  EXPECT_GE(running.error, 50 * 0x1p-149);
  EXPECT_LT(running.error, 51 * 0x1p-149);
  float got = 0;
  for (const double x : tiny) got += static_cast<float>(x) * static_cast<float>(x);
  EXPECT_EQ(got, 0.0f);
  EXPECT_LE(std::abs(static_cast<double>(got) - running.value), running.error);
  // Exact zeros do not count.
  for (Eigen::Index i = 0; i < 49; ++i) tiny[i] = 0;
  EXPECT_LT(running_sum<Dtype::f32>(product_sum(tiny, tiny), SumOrder::any).error, 1.01 * 0x1p-149);
}

TEST(RunningSum, OverflowOfThePartialSumsIsNoticed) {
  const auto overflows = [](const Vector<double>& a, const Vector<double>& b) {
    running_error_state = {};
    (void)running_sum<Dtype::f32>(product_sum(a, b), SumOrder::any);
    return running_error_state.overflow;
  };
  EXPECT_FALSE(overflows(vector_of({1e19, 1e18}), vector_of({1e19, 1e18})));
  EXPECT_TRUE(overflows(vector_of({1e19, 1.6e19}), vector_of({1e19, 1.6e19})));
  // The value fits; a partial sum may not.
  EXPECT_TRUE(overflows(vector_of({1.5e19, 1.5e19}), vector_of({1.5e19, -1.5e19})));
  running_error_state = {};
  (void)running_sum<Dtype::f64>(product_sum(vector_of({1e30}), vector_of({1e30})), SumOrder::any);
  EXPECT_FALSE(running_error_state.overflow) << "fits in f64";
}

TEST(RunningSum, NotFiniteInputsAreNoOverflow) {
  for (const double odd :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    running_error_state = {};
    const auto running =
        running_sum<Dtype::f32>(product_sum(vector_of({odd, 1}), vector_of({1, 1})), SumOrder::any);
    EXPECT_FALSE(std::isfinite(running.value));
    EXPECT_FALSE(running_error_state.overflow);
  }
}

// Sums in float, one after another, with and without fused multiply-add: n roundings in a row.
TEST(RunningSum, HoldsForSumsInFloat) {
  double largest = 0;
  for (const Eigen::Index n : {1, 2, 17, 100, 1000, 20000}) {
    for (int trial = 0; trial < 60; ++trial) {
      ItemRandom random(3, static_cast<std::uint32_t>(n), trial);
      const Vector<double> a = normals(random, n), b = trial % 2 == 0 ? a : normals(random, n);
      const auto bound = running_sum<Dtype::f32>(product_sum(a, b), SumOrder::any);
      float plain = 0, fused = 0;
      for (Eigen::Index i = 0; i < n; ++i) {
        const auto x = static_cast<float>(a[i]), y = static_cast<float>(b[i]);
        const volatile float product = x * y;
        plain += product;
        fused = std::fma(x, y, fused);
      }
      for (const float got : {plain, fused}) {
        const double usage = std::abs(static_cast<double>(got) - bound.value) / bound.error;
        ASSERT_LE(usage, 1) << n << ' ' << trial;
        largest = std::max(largest, usage);
      }
    }
  }
  EXPECT_GT(largest, 0.1) << "a bound that is never approached proves little";
}

// Few distinct terms, over and over, in a single accumulator: each rounds the same way whenever it is added,
// and the errors leave the bound for distinct terms far behind.
TEST(RunningSum, HoldsForFewDistinctTermsInFloat) {
  for (const Eigen::Index n : {16384, 65536}) {
    double over_distinct = 0;
    for (const Eigen::Index levels : {2, 3, 8, 32, 128, 1024}) {
      for (int trial = 0; trial < 40; ++trial) {
        ItemRandom random(4, static_cast<std::uint32_t>(n + levels), trial);
        const Vector<double> a = periodic(random, n, levels);
        const ProductSum sum = product_sum(a, a);
        const auto bound = running_sum<Dtype::f32>(sum, SumOrder::any);
        float got = 0;
        for (const double x : a) got += static_cast<float>(x) * static_cast<float>(x);
        const double error = std::abs(static_cast<double>(got) - bound.value);
        ASSERT_LE(error, bound.error) << n << ' ' << levels << ' ' << trial;
        over_distinct =
            std::max(over_distinct, error / (6 * std::sqrt(static_cast<double>(n)) * kU * sum.magnitude));
      }
    }
    EXPECT_GT(over_distinct, 2) << "independence would not hold";
  }
}

// The same term a hundred thousand times in float: every addition rounds the same way.
TEST(RunningSum, HoldsForRepeatedTermsInFloat) {
  const Eigen::Index n = 100000;
  const double x = static_cast<float>(0.1), y = 1;
  const ProductSum sum = product_sum(Vector<double>::Constant(n, x), Vector<double>::Constant(n, y));
  const auto bound = running_sum<Dtype::f32>(sum, SumOrder::any);
  float got = 0;
  for (Eigen::Index i = 0; i < n; ++i) got += static_cast<float>(x);
  const double error = std::abs(static_cast<double>(got) - bound.value);
  EXPECT_LE(error, bound.error);
  EXPECT_GT(error, 6 * std::sqrt(static_cast<double>(n)) * kU * sum.magnitude)
      << "independence would not hold";
}

}  // namespace
}  // namespace lossgrad
