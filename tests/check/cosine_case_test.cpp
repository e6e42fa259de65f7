// SPDX-License-Identifier: Apache-2.0
// The whole check on the built-in cosine embedding kernels, generated inputs.
#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check_support.hpp"

namespace lossgrad {
namespace {

using check_support::cosine_request;
using check_support::expect_none_failed;
using check_support::expect_passed;
using check_support::find;
using check_support::host;
using check_support::labels;
using check_support::largest_usage;
using check_support::Variant;
using check_support::variants;
using ::testing::HasSubstr;

// Nothing failed, and no error beyond its bound.
void expect_right(const std::vector<CheckResult>& results) {
  expect_none_failed(results);
  for (const CheckResult& result : results)
    EXPECT_LT(largest_usage(result), 1) << check_support::label(result);
}

class CosineCase : public ::testing::TestWithParam<Variant> {};

TEST_P(CosineCase, EveryCheckIsThereAndPasses) {
  const auto& [loss, dtype, convention] = GetParam();
  const auto results = check_case(cosine_request(dtype, convention, {201, 77}), host());
  EXPECT_THAT(labels(results),
              ::testing::ElementsAre("forward reference", "forward guards", "forward repeatability",
                                     "forward propagation", "backward oracles", "backward reference",
                                     "backward own_saved", "backward self_consistency", "backward guards",
                                     "backward repeatability", "backward propagation"));
  for (const CheckResult& result : results) {
    EXPECT_EQ(result.case_id.loss, loss);
    EXPECT_EQ(result.case_id.convention, convention);
    EXPECT_EQ(result.case_id.parameters.at("margin"), 0);
    EXPECT_THAT(result.case_id.kernel_id, HasSubstr(std::string(name(result.case_id.pass))));
    EXPECT_LT(largest_usage(result), 1) << check_support::label(result);
    if (result.check == "own_saved") {
      EXPECT_EQ(name(result.verdict), "skipped");
      EXPECT_EQ(result.reason, "forward saves nothing for backward");
      EXPECT_EQ(result.compared, 0);
    } else {
      expect_passed(result);
      EXPECT_EQ(result.reason, "");
    }
  }
}

TEST_P(CosineCase, NothingFailsInAnyScenarioAtAnyMargin) {
  const auto& [loss, dtype, convention] = GetParam();
  for (const ScenarioInfo& scenario : find_loss(loss).scenarios()) {
    int dim = 0;
    for (const double margin : {-1.5, -0.3, 0.0, 0.5, 2.0}) {
      // Every scenario with every margin and every length, not with every pair of the two.
      constexpr std::array<check_support::CosineShape, 3> kShapes = {{{65, 1}, {33, 33}, {9, 600}}};
      const auto shape = kShapes[static_cast<std::size_t>(dim++ + scenario.name.size()) % kShapes.size()];
      SCOPED_TRACE(scenario.name + " margin " + std::to_string(margin) + " n_dim " +
                   std::to_string(shape.n_dim));
      CheckRequest request = cosine_request(dtype, convention, shape, scenario.name, margin);
      request.fd_samples = 2;
      request.skip = {"guards", "repeatability", "self_consistency"};
      expect_right(check_case(request, host()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cosine, CosineCase, ::testing::ValuesIn(variants("cosine")),
                         [](const auto& instance) { return check_support::label(instance.param); });

TEST(CosineCaseSizes, RowsOf1To40Elements) {
  for (std::int64_t n_dim = 1; n_dim <= 40; ++n_dim) {
    SCOPED_TRACE(n_dim);
    CheckRequest request = cosine_request(Dtype::f32, "exact", {50, n_dim});
    request.skip = {"oracles", "self_consistency"};
    const auto results = check_case(request, host());
    expect_right(results);
    EXPECT_EQ(name(find(results, Pass::backward, "guards").verdict), "passed");
    EXPECT_EQ(name(find(results, Pass::backward, "repeatability").verdict), "passed");
  }
}

TEST(CosineCaseSizes, LongestRow) {
  for (const Dtype dtype : kAllDtypes) {
    CheckRequest request = cosine_request(dtype, "exact", {3, 65536}, "gaussian");
    request.skip = {"oracles", "self_consistency", "guards", "repeatability"};
    const auto results = check_case(request, host());
    expect_right(results);
    EXPECT_EQ(find(results, Pass::forward, "reference").compared, 3);
    EXPECT_EQ(find(results, Pass::backward, "reference").compared, 2 * 3 * 65536);
  }
}

TEST(CosineCaseSizes, NoRowsSaysThatNothingWasChecked) {
  for (const auto& [loss, dtype, convention] : variants("cosine")) {
    const auto results = check_case(cosine_request(dtype, convention, {0, 33}), host());
    expect_none_failed(results);
    for (const CheckResult& result : results) {
      if (result.check == "guards" || result.check == "propagation" || result.check == "own_saved") continue;
      EXPECT_EQ(name(result.verdict), "mistrusted") << check_support::label(result);
      EXPECT_EQ(result.compared, 0);
      EXPECT_NE(result.reason, "");
    }
    for (const Pass pass : {Pass::forward, Pass::backward})
      EXPECT_THAT(find(results, pass, "reference").reason, HasSubstr("nothing was checked: n_rows = 0"));
  }
}

TEST(CosineCaseSizes, OneRow) {
  for (const auto& [loss, dtype, convention] : variants("cosine")) {
    const auto results = check_case(cosine_request(dtype, convention, {1, 33}, "gaussian", -1.5), host());
    expect_right(results);
    EXPECT_EQ(find(results, Pass::forward, "reference").compared, 1);
    EXPECT_EQ(find(results, Pass::backward, "reference").compared, 2 * 33);
    expect_passed(find(results, Pass::backward, "self_consistency"));
  }
}

TEST(CosineCaseSizes, OtherBlocks) {
  for (const int block : {1, 16, 64, 4096}) {
    CheckRequest request = cosine_request(Dtype::f32, "exact", {40, 100}, "gaussian");
    request.block = block;
    request.skip = {"oracles", "self_consistency"};
    const auto results = check_case(request, host());
    expect_right(results);
    for (const CheckResult& result : results)
      EXPECT_THAT(result.case_id.kernel_id, ::testing::EndsWith("__" + std::to_string(block)));
  }
}

TEST(CosineCaseMargin, DecidesWhichRowsHaveAGradient) {
  // cos is never above 2: rows with label -1 have no gradient, and nothing is undecided.
  CheckRequest request = cosine_request(Dtype::f32, "exact", {200, 40}, "gaussian", 2);
  request.skip = {"oracles", "self_consistency", "guards", "repeatability"};
  const auto none = check_case(request, host());
  EXPECT_EQ(find(none, Pass::backward, "reference").kinks, 0);
  request = cosine_request(Dtype::f32, "exact", {200, 40}, "near_margin", 0.5);
  request.skip = {"oracles", "self_consistency", "guards", "repeatability"};
  const auto kinks = check_case(request, host());
  expect_passed(find(kinks, Pass::backward, "reference"));
  EXPECT_GT(find(kinks, Pass::backward, "reference").kinks, 40 * 200 / 2);
}

TEST(CosineCaseDifferences, FullJacobianLooksAtEveryComponent) {
  CheckRequest request = cosine_request(Dtype::f32, "exact", {3, 24}, "gaussian", -1.5);
  const auto some = check_case(request, host());
  request.full_jacobian = true;
  const auto all = check_case(request, host());
  for (const char* check : {"oracles", "self_consistency"}) {
    expect_passed(find(some, Pass::backward, check));
    expect_passed(find(all, Pass::backward, check));
    EXPECT_LE(find(some, Pass::backward, check).compared, 3 * (8 + 2));
    EXPECT_GT(find(all, Pass::backward, check).compared, 3 * 2 * 24 * 9 / 10);
    EXPECT_LE(find(all, Pass::backward, check).compared, 3 * (2 * 24 + 2));
  }
}

}  // namespace
}  // namespace lossgrad
