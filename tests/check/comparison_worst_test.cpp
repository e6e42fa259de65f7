// SPDX-License-Identifier: Apache-2.0
// The list of worst elements, and the sentence made from it.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/comparison.hpp"

namespace lossgrad {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

ExpectedElement exactly(double value, double bound) { return {value, value, bound, value, value, bound, 0}; }

std::vector<std::int64_t> items_of(const Comparison& comparison) {
  std::vector<std::int64_t> items;
  for (const WorstElement& element : comparison.worst()) items.push_back(element.item);
  return items;
}

TEST(ComparisonWorst, LargestUsageFirstThenPosition) {
  Comparison comparison(Dtype::f32, {});
  const auto add = [&](const char* output, std::int64_t item, std::int64_t component, double usage) {
    comparison.add(output, item, component, 1 + usage, exactly(1, 1), {});
  };
  add("v", 7, 0, 0.5);
  add("v", 3, 1, 0.5);
  add("v", 3, 0, 0.5);
  add("loss", 3, 0, 0.5);
  add("loss", 9, 0, 4);
  add("loss", 8, 0, 0.25);
  std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> order;
  for (const WorstElement& e : comparison.worst()) order.emplace_back(e.output, e.item, e.component);
  using Place = std::tuple<std::string, std::int64_t, std::int64_t>;
  EXPECT_THAT(order, ElementsAre(Place{"loss", 9, 0}, Place{"loss", 3, 0}, Place{"v", 3, 0}, Place{"v", 3, 1},
                                 Place{"v", 7, 0}, Place{"loss", 8, 0}));
}

TEST(ComparisonWorst, KeepsEight) {
  Comparison comparison(Dtype::f32, {});
  for (int i = 0; i < 100; ++i) comparison.add("loss", i, 0, 1 + i / 64.0, exactly(1, 1), {});
  EXPECT_THAT(items_of(comparison), ElementsAre(99, 98, 97, 96, 95, 94, 93, 92));
}

TEST(ComparisonWorst, NonFiniteFailuresComeFirst) {
  Comparison comparison(Dtype::f32, {});
  for (int i = 0; i < 20; ++i) comparison.add("loss", i, 0, 1e6 + i, exactly(1, 1e-6), {});
  comparison.add("loss", 50, 0, kNan, exactly(1, 1), {});
  EXPECT_EQ(comparison.worst().front().item, 50);
  EXPECT_EQ(comparison.worst().front().bound_usage, kInf);
}

// Under rtol and atol the usage of the certified bound does not decide; an element that passed must not be
// shown as the failure.
TEST(ComparisonWorst, FailuresComeBeforePassedElementsOfLargerUsage) {
  Comparison comparison(Dtype::f32, {.slack = 2, .rtol = 0.0, .atol = 0.1});
  for (int i = 0; i < 20; ++i) comparison.add("loss", i, 0, 1.05, exactly(1, 1e-6), {});  // passes, usage 5e4
  comparison.add("loss", 20, 0, 2, exactly(1, 1), {});                                    // fails, usage 1
  EXPECT_EQ(comparison.failures(), 1);
  EXPECT_EQ(comparison.worst().front().item, 20);
  EXPECT_THAT(comparison.failure_reason("box"), HasSubstr("of box 20"));
}

TEST(ComparisonWorst, KeepsTheFirstFailingItems) {
  Comparison comparison(Dtype::f32, {});
  for (int i = 999; i >= 0; --i) comparison.add("loss", i / 2, i % 2, i % 4 == 0 ? 1 : 9, exactly(1, 1), {});
  ASSERT_EQ(comparison.failing_items().size(), 64u);
  for (int i = 0; i < 64; ++i) EXPECT_EQ(comparison.failing_items()[static_cast<std::size_t>(i)], i);
}

TEST(ComparisonWorst, ReasonsHaveTheDigitsOfTheType) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    Comparison comparison(dtype, {});
    comparison.add("loss", 0, 0, 1.0 / 3, exactly(1, 1e-9), {});
    EXPECT_THAT(comparison.failure_reason("box"),
                HasSubstr(dtype == Dtype::f64 ? "is 0.33333333333333331, " : "is 0.333333333, "));
  }
}

struct Element {
  std::int64_t item;
  double got;
  ExpectedElement expected;
  ItemState state;
};

std::vector<Element> many_elements() {
  std::mt19937_64 random(3);
  std::vector<Element> elements;
  for (std::int64_t i = 0; i < 400; ++i) {
    const double usage = static_cast<double>(random() % 16) / 4;  // many ties
    Element element{i, 1 + usage, exactly(1, 1), {}};
    if (i % 50 == 0) element.got = kNan;
    if (i % 60 == 0) element.expected.bound = kInf;
    if (i % 70 == 0) element.expected.flags = kOutOfRange;
    if (i % 80 == 0) element.expected.high = 2, element.expected.flags = kKink;
    element.state.has_nan = i % 90 == 0;
    elements.push_back(element);
  }
  return elements;
}

void expect_same(const Distribution& a, const Distribution& b) {
  EXPECT_EQ(std::tie(a.max, a.q999, a.q99, a.q50), std::tie(b.max, b.q999, b.q99, b.q50));
}

void expect_same(const Comparison& a, const Comparison& b) {
  EXPECT_EQ(a.failure_reason("box"), b.failure_reason("box"));
  EXPECT_EQ(items_of(a), items_of(b));
  EXPECT_EQ(a.failing_items(), b.failing_items());
  CheckResult x, y;
  a.fill(x);
  b.fill(y);
  EXPECT_EQ(std::tie(x.compared, x.kinks, x.out_of_range, x.unbounded, x.non_finite_items),
            std::tie(y.compared, y.kinks, y.out_of_range, y.unbounded, y.non_finite_items));
  expect_same(*x.bound_usage, *y.bound_usage);
  expect_same(*x.sharp_bound_usage, *y.sharp_bound_usage);
  expect_same(*x.abs_error, *y.abs_error);
  expect_same(*x.rel_error, *y.rel_error);
  expect_same(*x.ulp_error, *y.ulp_error);
  EXPECT_EQ(std::make_tuple(a.seen(), a.compared(), a.failures(), a.zeros(), a.undecided()),
            std::make_tuple(b.seen(), b.compared(), b.failures(), b.zeros(), b.undecided()));
}

TEST(ComparisonWorst, AnyOrderOfAddingAndMergingGivesTheSame) {
  std::vector<Element> elements = many_elements();
  const auto add = [](Comparison& to, const Element& e) {
    to.add("loss", e.item, 0, e.got, e.expected, e.state);
  };
  Comparison whole(Dtype::f32, {});
  for (const Element& element : elements) add(whole, element);
  EXPECT_GT(whole.failures(), 0);
  std::mt19937_64 random(4);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(elements.begin(), elements.end(), random);
    std::vector<Comparison> parts(7, Comparison(Dtype::f32, {}));
    for (const Element& element : elements) add(parts[random() % parts.size()], element);
    Comparison merged(Dtype::f32, {});
    std::shuffle(parts.begin(), parts.end(), random);
    for (const Comparison& part : parts) merged.merge(part);
    expect_same(whole, merged);
  }
}

TEST(ComparisonWorst, ReasonNamesTheWorstElement) {
  Comparison comparison(Dtype::f32, {});
  comparison.add("d_pred", 17, 2, 0.75, exactly(0.25, 0.125), {});
  comparison.add("d_pred", 18, 0, 1, exactly(1, 0.125), {});
  EXPECT_EQ(
      comparison.failure_reason("box"),
      "1 of 2 elements are wrong; worst: d_pred[2] of box 17 is 0.75, expected 0.25, 4 times its bound");
}

TEST(ComparisonWorst, ReasonShowsTheHullAndTheNote) {
  Comparison comparison(Dtype::f32, {});
  comparison.add("d_pred", 1, 3, 3, {-1, 1, 0.5, -1, 1, 0.5, kKink}, {});
  EXPECT_EQ(comparison.failure_reason("row"),
            "1 of 1 element is wrong; worst: d_pred[3] of row 1 is 3, expected -1 to 1, 4 times its bound "
            "(outside the hull of the undecided branches)");
}

TEST(ComparisonWorst, ReasonOfNonFiniteValuesHasNoUsage) {
  Comparison comparison(Dtype::f32, {});
  comparison.add("loss", 5, 0, kNan, exactly(1, 0.5), {});
  EXPECT_THAT(comparison.failure_reason("box"),
              AllOf(HasSubstr("loss[0] of box 5 is nan, expected 1 (not finite)"),
                    Not(HasSubstr("times its bound"))));
}

TEST(ComparisonWorst, NoReasonWithoutFailures) {
  Comparison comparison(Dtype::f32, {});
  comparison.add("loss", 5, 0, 1, exactly(1, 0.5), {});
  EXPECT_EQ(comparison.failure_reason("box"), "");
}

}  // namespace
}  // namespace lossgrad
