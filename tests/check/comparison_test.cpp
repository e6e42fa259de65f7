// SPDX-License-Identifier: Apache-2.0
#include "check/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lossgrad {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr ItemState kFinite{};
constexpr ItemState kWithNan{true, false};
constexpr ItemState kWithInfinity{false, true};

ExpectedElement range(double low, double high, double bound, std::uint8_t flags = 0) {
  return {low, high, bound, low, high, bound, flags};
}
ExpectedElement exactly(double value, double bound, std::uint8_t flags = 0) {
  return range(value, value, bound, flags);
}

Comparison compare(double got, const ExpectedElement& expected, ItemState state = kFinite,
                   const Tolerance& tolerance = {}) {
  Comparison comparison(Dtype::f32, tolerance);
  comparison.add("loss", 0, 0, got, expected, state);
  return comparison;
}

bool accepts(double got, const ExpectedElement& expected, ItemState state = kFinite,
             const Tolerance& tolerance = {}) {
  const Comparison comparison = compare(got, expected, state, tolerance);
  EXPECT_EQ(comparison.failures(), comparison.failed() ? 1 : 0);
  return !comparison.failed();
}

std::string note_of(double got, const ExpectedElement& expected, ItemState state = kFinite) {
  const Comparison comparison = compare(got, expected, state);
  return comparison.worst().empty() ? "no element" : comparison.worst().front().note;
}

CheckResult filled(const Comparison& comparison) {
  CheckResult result;
  comparison.fill(result);
  return result;
}

TEST(Comparison, SlackTimesTheBoundDecides) {
  EXPECT_TRUE(accepts(1.5, exactly(1, 0.25)));
  EXPECT_TRUE(accepts(0.5, exactly(1, 0.25)));
  EXPECT_FALSE(accepts(std::nextafter(1.5, 2), exactly(1, 0.25)));
  EXPECT_FALSE(accepts(0.4999999, exactly(1, 0.25)));
  const Tolerance strict{.slack = 1, .rtol = {}, .atol = {}};
  EXPECT_TRUE(accepts(1.25, exactly(1, 0.25), kFinite, strict));
  EXPECT_FALSE(accepts(1.5, exactly(1, 0.25), kFinite, strict));
}

TEST(Comparison, RtolAndAtolReplaceTheBound) {
  const Tolerance wide{.slack = 2, .rtol = 0.5, .atol = 1.0};
  EXPECT_TRUE(accepts(7, exactly(4, 1e-9), kFinite, wide));
  EXPECT_FALSE(accepts(7.0001, exactly(4, 1e-9), kFinite, wide));
  EXPECT_TRUE(accepts(-7, exactly(-4, 1e-9), kFinite, wide)) << "rtol takes the magnitude";
  const Tolerance narrow{.slack = 2, .rtol = 0.0, .atol = 1e-9};
  EXPECT_FALSE(accepts(1.5, exactly(1, 100), kFinite, narrow)) << "a wide bound does not help";
}

TEST(Comparison, OneOfRtolAndAtolAloneChangesNothing) {
  EXPECT_FALSE(accepts(1.6, exactly(1, 0.25), kFinite, {.slack = 2, .rtol = 10.0, .atol = {}}));
  EXPECT_FALSE(accepts(1.6, exactly(1, 0.25), kFinite, {.slack = 2, .rtol = {}, .atol = 10.0}));
}

TEST(Comparison, HullIsWidenedByTheBound) {
  const ExpectedElement kink = range(-1, 2, 0.25, kKink);
  for (const double inside : {-1.0, 0.0, 2.0, -1.5, 2.5}) EXPECT_TRUE(accepts(inside, kink)) << inside;
  for (const double outside : {-1.6, 2.6}) {
    EXPECT_FALSE(accepts(outside, kink)) << outside;
    EXPECT_EQ(note_of(outside, kink), "outside the hull of the undecided branches");
  }
  const CheckResult result = filled(compare(1, kink));
  EXPECT_EQ(result.kinks, 1);
  EXPECT_EQ(result.compared, 1);
  EXPECT_EQ(result.bound_usage->max, 0) << "inside the hull nothing of the bound is used";
}

TEST(Comparison, ErrorIsTheDistanceToTheNearestEndOfTheHull) {
  const CheckResult above = filled(compare(2.25, range(-1, 2, 0.5, kKink)));
  EXPECT_EQ(above.abs_error->max, 0.25);
  EXPECT_EQ(above.bound_usage->max, 0.5);
  EXPECT_EQ(above.rel_error->max, 0.125);
  const CheckResult below = filled(compare(-1.25, range(-1, 2, 0.5, kKink)));
  EXPECT_EQ(below.abs_error->max, 0.25);
  EXPECT_EQ(below.rel_error->max, 0.25);
}

TEST(Comparison, NanInputMustComeOutAsNan) {
  EXPECT_TRUE(accepts(kNan, exactly(kNan, kNan), kWithNan));
  for (const double got : {0.0, 1.0, kInf, -kInf}) {
    EXPECT_FALSE(accepts(got, exactly(kNan, kNan), kWithNan)) << got;
    EXPECT_EQ(note_of(got, exactly(kNan, kNan), kWithNan), "a NaN input was swallowed");
  }
}

TEST(Comparison, NanByTheFormulaIsNaN) {
  EXPECT_TRUE(accepts(kNan, exactly(kNan, kNan), kFinite));
  for (const double got : {1.0, 0.0, kInf, -kInf})
    EXPECT_FALSE(accepts(got, exactly(kNan, kNan), kFinite)) << got;
  EXPECT_EQ(note_of(1, exactly(kNan, kNan), kFinite), "the formula gives NaN here");
}

// inf - inf in one form of a formula is x / inf in another.
TEST(Comparison, NanFromInfiniteInputsMayBeInfinityOrZeroInAnotherForm) {
  for (const double got : {kNan, kInf, -kInf, 0.0, -0.0})
    EXPECT_TRUE(accepts(got, exactly(kNan, kNan), kWithInfinity)) << got;
  EXPECT_EQ(note_of(1, exactly(kNan, kNan), kWithInfinity), "the formula gives NaN here");
}

TEST(Comparison, NanThatAnotherFormLeavesOutMayBeAnything) {
  ExpectedElement expected = exactly(kNan, kNan);
  expected.flags = kNanOfInfinity;
  for (const double got : {kNan, kInf, -kInf, 0.0, 1.0})
    EXPECT_TRUE(accepts(got, expected, kWithInfinity)) << got;
  EXPECT_FALSE(accepts(1, expected, kWithNan));
}

TEST(Comparison, NanFromOverflowMayBeAnything) {
  ExpectedElement overflowed = exactly(kNan, kNan);
  overflowed.flags = kOverflow;
  EXPECT_TRUE(accepts(1, overflowed, kFinite));
  EXPECT_FALSE(accepts(1, overflowed, kWithNan));
}

TEST(Comparison, ZeroForNanWhereABranchMayGiveIt) {
  ExpectedElement expected = exactly(kNan, kNan);
  EXPECT_FALSE(accepts(0, expected, kFinite));
  expected.flags = kZeroToo;
  EXPECT_TRUE(accepts(0, expected, kFinite));
  EXPECT_TRUE(accepts(0, expected, kWithNan));
  EXPECT_FALSE(accepts(1, expected, kFinite));
}

TEST(Comparison, NanOnOneEndOfTheHullIsEnough) {
  EXPECT_TRUE(accepts(kNan, range(1, kNan, 0.1, kKink)));
  EXPECT_TRUE(accepts(kNan, range(kNan, 1, 0.1, kKink)));
  EXPECT_FALSE(accepts(1, range(1, kNan, 0.1, kKink)));
}

// An infinity in the same item is no excuse for what a NaN decides.
TEST(Comparison, NanBesideAnInfinityMustComeOutAsNan) {
  constexpr ItemState kWithBoth{true, true};
  EXPECT_TRUE(accepts(kNan, exactly(kNan, kNan), kWithBoth));
  for (const double got : {kInf, -kInf, 0.0, 1.0})
    EXPECT_FALSE(accepts(got, exactly(kNan, kNan), kWithBoth)) << got;
}

// dy = -infinity or +infinity times a number whose sign rounding leaves open: it may be zero as well.
TEST(Comparison, InfinityOfEitherSignOnBothEnds) {
  const ExpectedElement either = range(-kInf, kInf, 0, kKink | kOutOfRange);
  for (const double got : {kNan, kInf, -kInf, 0.0, 1.0})
    EXPECT_TRUE(accepts(got, either, kWithInfinity)) << got;
  EXPECT_EQ(filled(compare(kInf, either, kWithInfinity)).compared, 0);
  EXPECT_EQ(filled(compare(kInf, either, kWithInfinity)).out_of_range, 1);
}

// A branch at a kink may leave the infinity out: nothing can be said, and that is counted.
TEST(Comparison, InfinityOnOneEndIsCountedNotCompared) {
  for (const ExpectedElement& one : {range(0, kInf, 0, kKink), range(-kInf, 0, 0, kKink)}) {
    for (const double got : {kNan, kInf, -kInf, 0.0, 1.0}) EXPECT_TRUE(accepts(got, one, kWithInfinity));
    EXPECT_EQ(filled(compare(0, one, kWithInfinity)).compared, 0);
    EXPECT_EQ(filled(compare(0, one, kWithInfinity)).unbounded, 1);
  }
}

// What a NaN has no part in stays right or becomes NaN, also beyond the range.
TEST(Comparison, ItemWithNanMayNotBeInfiniteWhereTheFormulaIsFinite) {
  EXPECT_FALSE(accepts(kInf, exactly(1, 0.1), kWithNan));
  EXPECT_TRUE(accepts(kInf, exactly(1, 0.1, kOutOfRange), kWithNan)) << "by the range, which is counted";
}

TEST(Comparison, InfinityExpected) {
  for (const double expected : {kInf, -kInf}) {
    for (const double got : {kNan, kInf, -kInf}) EXPECT_TRUE(accepts(got, exactly(expected, kInf))) << got;
    for (const double got : {0.0, 1e308}) {
      EXPECT_FALSE(accepts(got, exactly(expected, kInf))) << got;
      EXPECT_EQ(note_of(got, exactly(expected, kInf)), "the formula gives infinity here");
    }
  }
}

TEST(Comparison, HullWithAnInfiniteEndIsUnbounded) {
  for (const auto& [low, high] : {std::pair(-kInf, kInf), std::pair(0.0, kInf), std::pair(-kInf, 1.0)}) {
    for (const double got : {0.0, 3.0, kInf}) EXPECT_TRUE(accepts(got, range(low, high, 0.1, kKink))) << got;
  }
}

TEST(Comparison, FiniteExpectedButNanGot) {
  EXPECT_FALSE(accepts(kNan, exactly(1, 0.1), kFinite));
  EXPECT_EQ(note_of(kNan, exactly(1, 0.1), kFinite), "not finite");
  EXPECT_TRUE(accepts(kNan, exactly(1, 0.1), kWithNan)) << "same item: may be NaN or right";
  EXPECT_TRUE(accepts(kNan, exactly(1, 0.1), kWithInfinity));
  EXPECT_FALSE(accepts(2, exactly(1, 0.1), kWithNan)) << "finite and wrong";
  EXPECT_TRUE(accepts(1, exactly(1, 0.1), kWithNan));
}

TEST(Comparison, FiniteExpectedButInfinityGot) {
  for (const ItemState state : {kFinite, kWithNan, kWithInfinity}) {
    EXPECT_FALSE(accepts(kInf, exactly(1, 0.1), state));
    EXPECT_FALSE(accepts(-kInf, exactly(1, 0.1), state));
  }
}

TEST(Comparison, OutOfRangeExcusesWhatIsNotFinite) {
  for (const double got : {kNan, kInf, -kInf}) {
    const Comparison comparison = compare(got, exactly(1, 0.1, kOutOfRange));
    EXPECT_FALSE(comparison.failed()) << got;
    EXPECT_EQ(comparison.compared(), 0);
    EXPECT_EQ(comparison.undecided(), 1) << "but it is counted";
    EXPECT_EQ(filled(comparison).out_of_range, 1);
  }
}

TEST(Comparison, OutOfRangeDoesNotExcuseWrongFiniteValues) {
  EXPECT_FALSE(accepts(2, exactly(1, 0.1, kOutOfRange)));
  EXPECT_FALSE(accepts(2, exactly(kNan, 0.1, kOutOfRange)));
  const CheckResult result = filled(compare(1, exactly(1, 0.1, kOutOfRange)));
  EXPECT_EQ(result.compared, 1);
  EXPECT_EQ(result.out_of_range, 1);
}

TEST(Comparison, InfiniteBoundIsCountedNotCompared) {
  const Comparison comparison = compare(12345, exactly(1, kInf));
  EXPECT_FALSE(comparison.failed());
  EXPECT_EQ(comparison.seen(), 1);
  EXPECT_EQ(comparison.compared(), 0);
  EXPECT_EQ(comparison.undecided(), 1);
  const CheckResult result = filled(comparison);
  EXPECT_EQ(result.unbounded, 1);
  EXPECT_FALSE(result.bound_usage.has_value());
  EXPECT_FALSE(result.abs_error.has_value());
  EXPECT_FALSE(result.rel_error.has_value());
}

TEST(Comparison, UndecidedForTwoReasonsCountsOnce) {
  Comparison comparison = compare(1, exactly(1, kInf, kOutOfRange));
  EXPECT_EQ(filled(comparison).unbounded, 1);
  EXPECT_EQ(filled(comparison).out_of_range, 1);
  EXPECT_EQ(comparison.undecided(), 1);
  const Comparison kink = compare(1, range(0, 1, 0.1, kKink | kOutOfRange));
  EXPECT_EQ(filled(kink).kinks, 1);
  EXPECT_EQ(filled(kink).out_of_range, 1);
  EXPECT_EQ(kink.undecided(), 1);
  comparison.merge(kink);
  comparison.merge(compare(1, exactly(1, 0.1)));
  EXPECT_EQ(comparison.seen(), 3);
  EXPECT_EQ(comparison.undecided(), 2);
}

TEST(Comparison, BoundThatIsNanFails) { EXPECT_FALSE(accepts(1, exactly(1, kNan))); }

TEST(Comparison, ZeroBoundAcceptsTheValueAlone) {
  EXPECT_TRUE(accepts(3, exactly(3, 0)));
  EXPECT_FALSE(accepts(std::nextafter(3.0, 4), exactly(3, 0)));
  EXPECT_EQ(compare(3, exactly(3, 0)).worst().front().bound_usage, 0);
  EXPECT_EQ(compare(4, exactly(3, 0)).worst().front().bound_usage, kInf);
}

TEST(Comparison, SignedZerosAreEqualAndCounted) {
  for (const double got : {0.0, -0.0}) {
    for (const double expected : {0.0, -0.0}) {
      const Comparison comparison = compare(got, exactly(expected, 0));
      EXPECT_FALSE(comparison.failed());
      EXPECT_EQ(comparison.zeros(), 1);
      EXPECT_EQ(comparison.worst().front().abs_error, 0);
    }
  }
  EXPECT_TRUE(accepts(-0.0, range(-0.0, 0.0, 0, kKink)));
}

// What a kernel that writes nothing but zeros would get right.
TEST(Comparison, CountsElementsOfWhichZeroIsRightToo) {
  EXPECT_EQ(compare(1e-30, exactly(0, 1e-20)).zeros(), 1);
  EXPECT_EQ(compare(3e-17, exactly(3e-17, 1e-16)).zeros(), 1) << "what rounding left";
  EXPECT_EQ(compare(0.5, range(0, 1, 1e-20, kKink)).zeros(), 1);
  EXPECT_EQ(compare(1.9e-16, exactly(1.9e-16, 1e-16)).zeros(), 1) << "accepted by the slack";
  EXPECT_EQ(compare(3e-16, exactly(3e-16, 1e-16)).zeros(), 0);
  const Tolerance loose{.rtol = 0, .atol = 1e-3};
  EXPECT_EQ(compare(3e-16, exactly(3e-16, 1e-16), kFinite, loose).zeros(), 1) << "the bound in force";
  EXPECT_EQ(compare(1, exactly(1, HUGE_VAL), kFinite, loose).zeros(), 0);
  EXPECT_EQ(compare(0.5, range(0.25, 1, 1e-20, kKink)).zeros(), 0);
}

TEST(Comparison, CountsNonFiniteItems) {
  Comparison one(Dtype::f32, {}), other(Dtype::f32, {});
  one.count_non_finite_item();
  other.count_non_finite_item();
  one.merge(other);
  EXPECT_EQ(filled(one).non_finite_items, 2);
}

// ---- figures

TEST(Comparison, FiguresAreMaximumAndQuantiles) {
  Comparison comparison(Dtype::f64, {.slack = 1e9, .rtol = {}, .atol = {}});
  for (int i = 1; i <= 1000; ++i) comparison.add("loss", i, 0, 1024.0 + i, exactly(1024, 1), kFinite);
  const CheckResult result = filled(comparison);
  EXPECT_EQ(result.compared, 1000);
  EXPECT_EQ(result.bound_usage->max, 1000);
  // Bins of one eighth: a quantile is not below the value of its rank and at most an eighth above.
  const auto near = [](double quantile, double rank) { return quantile >= rank && quantile <= 1.125 * rank; };
  EXPECT_TRUE(near(result.bound_usage->q999, 999)) << result.bound_usage->q999;
  EXPECT_TRUE(near(result.bound_usage->q99, 990)) << result.bound_usage->q99;
  EXPECT_TRUE(near(result.bound_usage->q50, 500)) << result.bound_usage->q50;
  EXPECT_EQ(result.abs_error->max, 1000);
  EXPECT_EQ(result.rel_error->max, 1000.0 / 1024);
  EXPECT_EQ(result.ulp_error->max, 1000 / ulp(Dtype::f64, 1024));
}

TEST(Comparison, UlpIsThatOfTheStorageType) {
  for (const Dtype dtype : kAllDtypes) {
    Comparison comparison(dtype, {});
    comparison.add("loss", 0, 0, 1.5 + 2 * ulp(dtype, 1.5), exactly(1.5, 1), kFinite);
    EXPECT_EQ(filled(comparison).ulp_error->max, 2) << name(dtype);
  }
}

TEST(Comparison, RelativeFiguresLeaveOutValuesThatCancel) {
  Comparison comparison(Dtype::f32, {});
  comparison.add("loss", 0, 0, 0.5, exactly(1e-9, 1), kFinite);  // no digit of 1e-9 is certain
  CheckResult result = filled(comparison);
  EXPECT_FALSE(result.rel_error.has_value());
  EXPECT_FALSE(result.ulp_error.has_value());
  EXPECT_TRUE(result.abs_error.has_value());
  comparison.add("loss", 1, 0, 4.25, exactly(4, 1), kFinite);
  result = filled(comparison);
  EXPECT_EQ(result.rel_error->max, 0.0625);
  EXPECT_EQ(result.abs_error->max, 0.5 - 1e-9);
}

TEST(Comparison, SharpFiguresAreThoseOfTheAccurateForm) {
  Comparison comparison(Dtype::f32, {});
  comparison.add("loss", 0, 0, 1.5, {1, 1, 1, 1.25, 1.25, 0.125, 0}, kFinite);
  comparison.add("loss", 1, 0, 1.5, {1, 1, 1, 1, 1, kInf, 0}, kFinite);
  const CheckResult result = filled(comparison);
  EXPECT_EQ(result.bound_usage->max, 0.5);
  EXPECT_EQ(result.sharp_bound_usage->max, 2);
  EXPECT_FALSE(comparison.failed()) << "the sharper bound decides nothing";
}

TEST(Comparison, NothingSeenGivesNoFigures) {
  const Comparison comparison(Dtype::f32, {});
  const CheckResult result = filled(comparison);
  EXPECT_EQ(comparison.seen(), 0);
  EXPECT_FALSE(result.bound_usage || result.sharp_bound_usage || result.abs_error || result.rel_error);
  EXPECT_TRUE(result.worst.empty());
  EXPECT_EQ(comparison.failure_reason("box"), "");
}

}  // namespace
}  // namespace lossgrad
