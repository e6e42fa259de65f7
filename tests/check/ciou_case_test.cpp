// SPDX-License-Identifier: Apache-2.0
// The whole check on the built-in CIoU kernels, generated inputs; and what every loss shares, on them.
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "check/check_support.hpp"

namespace lossgrad {
namespace {

using check_support::ciou_request;
using check_support::expect_none_failed;
using check_support::expect_passed;
using check_support::find;
using check_support::host;
using check_support::labels;
using check_support::largest_usage;
using check_support::Variant;
using check_support::variants;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<std::string> kForwardChecks = {"forward reference", "forward guards",
                                                 "forward repeatability", "forward propagation"};
const std::vector<std::string> kBackwardChecks = {
    "backward oracles", "backward reference",     "backward own_saved",  "backward self_consistency",
    "backward guards",  "backward repeatability", "backward propagation"};

std::vector<std::string> all_checks() {
  std::vector<std::string> all = kForwardChecks;
  all.insert(all.end(), kBackwardChecks.begin(), kBackwardChecks.end());
  return all;
}

class CiouCase : public ::testing::TestWithParam<Variant> {};

TEST_P(CiouCase, EveryCheckIsThereAndPasses) {
  const auto& [loss, dtype, convention] = GetParam();
  const CheckRequest request = ciou_request(dtype, convention, 3000);
  const auto results = check_case(request, host());
  EXPECT_EQ(labels(results), all_checks());
  for (const CheckResult& result : results) {
    expect_passed(result);
    EXPECT_EQ(result.case_id.loss, loss);
    EXPECT_EQ(result.case_id.convention, convention);
    EXPECT_EQ(result.case_id.dtype, dtype);
    EXPECT_EQ(result.case_id.backend, "host");
    EXPECT_EQ(result.case_id.scenario, "mixed");
    EXPECT_EQ(result.case_id.kernel_hash.size(), 32u);
    EXPECT_THAT(result.case_id.kernel_id, HasSubstr(std::string(name(result.case_id.pass))));
    EXPECT_EQ(result.reason, "");
    EXPECT_LE(largest_usage(result), 1) << check_support::label(result);
  }
  const CheckResult& forward = find(results, Pass::forward, "reference");
  const std::int64_t counted = forward.compared + forward.unbounded;
  EXPECT_LE(counted, 4 * 3000);
  // NaN of identical boxes is right where a convention has no eps in alpha.
  const bool nan_is_right = convention == "mmdetection" || convention == "paddle";
  EXPECT_GE(counted + (nan_is_right ? forward.out_of_range : 0), 4 * 3000);
}

INSTANTIATE_TEST_SUITE_P(Ciou, CiouCase, ::testing::ValuesIn(variants("ciou")),
                         [](const auto& instance) { return check_support::label(instance.param); });

// Every distribution; guards and repeatability do not depend on the values.
TEST_P(CiouCase, NoScenarioFailsARightKernel) {
  const auto& [loss, dtype, convention] = GetParam();
  for (const ScenarioInfo& scenario : find_loss(loss).scenarios()) {
    SCOPED_TRACE(scenario.name);
    CheckRequest request = ciou_request(dtype, convention, 1000, scenario.name);
    request.fd_samples = 64;
    request.skip = {"guards", "repeatability"};
    for (const CheckResult& result : check_case(request, host())) {
      EXPECT_TRUE(result.verdict == Verdict::passed || result.verdict == Verdict::skipped)
          << check_support::label(result) << ' ' << name(result.verdict) << ": " << result.reason;
      EXPECT_LE(largest_usage(result), 1) << check_support::label(result);
    }
  }
}

// The repeatability check compares a case's block with five others: so all have the same bits.
TEST(CiouBlocks, EveryBlockGivesTheSameBits) {
  for (int block = 32; block <= 1024; block += 32) {
    SCOPED_TRACE(block);
    CheckRequest request = ciou_request(Dtype::f32, "yolo", 1100, "mixed");
    request.block = block;
    request.skip = {"oracles", "own_saved", "self_consistency", "guards", "propagation"};
    const auto results = check_case(request, host());
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      for (const char* check : {"reference", "repeatability"}) expect_passed(find(results, pass, check));
    }
  }
}

class KinkScenario : public ::testing::TestWithParam<std::string> {};

TEST_P(KinkScenario, Passes) {
  for (const Dtype dtype : kAllDtypes) {
    CheckRequest request = ciou_request(dtype, "yolo", 2000, GetParam());
    request.skip = {"repeatability"};
    const auto results = check_case(request, host());
    expect_passed(find(results, Pass::backward, "reference"));
    EXPECT_GT(find(results, Pass::backward, "reference").kinks, 0);
    for (const CheckResult& result : results) {
      EXPECT_TRUE(result.verdict == Verdict::passed || result.verdict == Verdict::skipped)
          << name(dtype) << ' ' << check_support::label(result) << ' ' << name(result.verdict) << ": "
          << result.reason;
      EXPECT_EQ(result.verdict == Verdict::skipped, !result.reason.empty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ciou, KinkScenario, ::testing::Values("identical", "near_identical", "touching"),
                         [](const auto& instance) { return instance.param; });

TEST(CiouCaseSizes, NoBoxesSaysThatNothingWasChecked) {
  for (const auto& [loss, dtype, convention] : variants("ciou")) {
    const auto results = check_case(ciou_request(dtype, convention, 0), host());
    EXPECT_EQ(labels(results), all_checks());
    expect_none_failed(results);
    for (const CheckResult& result : results) {
      // Those bring small sizes of their own.
      if (result.check == "guards" || result.check == "propagation") continue;
      EXPECT_EQ(name(result.verdict), "mistrusted") << check_support::label(result);
      EXPECT_EQ(result.compared, 0);
      EXPECT_NE(result.reason, "");
    }
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      EXPECT_THAT(find(results, pass, "reference").reason, HasSubstr("nothing was checked: N = 0"));
      EXPECT_THAT(find(results, pass, "repeatability").reason, HasSubstr("nothing was checked"));
    }
  }
}

TEST(CiouCaseSizes, OneBox) {
  for (const auto& [loss, dtype, convention] : variants("ciou")) {
    CheckRequest request = ciou_request(dtype, convention, 1, "overlapping");
    request.seed = 2;  // a dy of ordinary size: a tiny one makes gradients that are zero in f16
    const auto results = check_case(request, host());
    EXPECT_EQ(labels(results), all_checks());
    for (const CheckResult& result : results) expect_passed(result);
    EXPECT_EQ(find(results, Pass::forward, "reference").compared, 4);
  }
}

TEST(CiouCaseSizes, RaggedSizesAroundBlocksAndChunks) {
  for (const std::int64_t boxes : {31, 32, 33, 255, 256, 257, 1023, 1024, 1025}) {
    CheckRequest request = ciou_request(Dtype::f32, "yolo", boxes, "overlapping");
    request.skip = {"repeatability", "oracles", "self_consistency"};
    const auto results = check_case(request, host());
    expect_none_failed(results);
    EXPECT_EQ(find(results, Pass::forward, "reference").compared, 4 * boxes);
    EXPECT_EQ(find(results, Pass::backward, "reference").compared, 4 * boxes);
  }
}

TEST(CiouCaseSizes, OtherBlockSizes) {
  for (const int block : {32, 96, 1024}) {
    CheckRequest request = ciou_request(Dtype::f32, "yolo", 1500, "overlapping");
    request.block = block;
    const auto results = check_case(request, host());
    EXPECT_EQ(labels(results), all_checks());
    for (const CheckResult& result : results) {
      expect_passed(result);
      EXPECT_THAT(result.case_id.kernel_id, ::testing::EndsWith("__" + std::to_string(block)));
    }
  }
}

TEST(CiouCaseChoice, EveryCheckCanBeLeftOut) {
  for (const CheckName& check : check_names()) {
    CheckRequest request = ciou_request(Dtype::f32, "yolo", 1000);
    request.skip = {check.name};
    const auto results = check_case(request, host());
    EXPECT_EQ(labels(results), all_checks());
    for (const CheckResult& result : results) {
      if (result.check == check.name) {
        EXPECT_EQ(name(result.verdict), "skipped");
        EXPECT_EQ(result.reason, "left out by --skip " + check.name);
        EXPECT_EQ(result.compared, 0);
      } else {
        expect_passed(result);
      }
    }
  }
}

TEST(CiouCaseChoice, EverythingLeftOut) {
  CheckRequest request = ciou_request(Dtype::f32, "yolo", 1000);
  for (const CheckName& check : check_names()) request.skip.insert(check.name);
  for (const CheckResult& result : check_case(request, host())) EXPECT_EQ(name(result.verdict), "skipped");
}

TEST(CiouCaseChoice, OnlyForward) {
  CheckRequest request = ciou_request(Dtype::f32, "yolo", 1000);
  request.passes = {Pass::forward};
  const auto results = check_case(request, host());
  EXPECT_EQ(labels(results), kForwardChecks);
  for (const CheckResult& result : results) expect_passed(result);
}

TEST(CiouCaseChoice, OnlyBackward) {
  CheckRequest request = ciou_request(Dtype::f32, "yolo", 1000);
  request.passes = {Pass::backward};
  const auto results = check_case(request, host());
  EXPECT_EQ(labels(results), kBackwardChecks);
  for (const CheckResult& result : results) expect_passed(result);
}

// Inputs of worst elements left out: more arguments exist where both passes run.
std::string figures(std::vector<CheckResult> results) {
  for (CheckResult& result : results) {
    for (WorstElement& element : result.worst) element.inputs.clear();
  }
  return check_support::text_without_times(std::move(results));
}

TEST(CiouCaseChoice, PassesGiveTheSameFiguresAloneAndTogether) {
  const CheckRequest both = ciou_request(Dtype::f32, "yolo", 1000);
  auto together = check_case(both, host());
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    CheckRequest one = both;
    one.passes = {pass};
    std::vector<CheckResult> same_pass;
    for (const CheckResult& result : together) {
      if (result.case_id.pass == pass) same_pass.push_back(result);
    }
    EXPECT_EQ(figures(check_case(one, host())), figures(same_pass));
  }
}

TEST(CiouCaseTolerance, RtolAndAtolDecide) {
  CheckRequest request = ciou_request(Dtype::f32, "yolo", 2000, "overlapping");
  request.skip = {"repeatability", "self_consistency"};
  request.tolerance = {.slack = 2, .rtol = 1e-3, .atol = 1e-3};
  expect_none_failed(check_case(request, host()));
  request.tolerance = {.slack = 2, .rtol = 0.0, .atol = 0.0};
  const auto results = check_case(request, host());
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const CheckResult& result = find(results, pass, "reference");
    EXPECT_EQ(name(result.verdict), "failed");
    EXPECT_THAT(result.reason, HasSubstr("elements are wrong"));
    EXPECT_FALSE(result.worst.empty());
  }
}

TEST(CiouCaseTolerance, SlackDecides) {
  CheckRequest request = ciou_request(Dtype::f32, "yolo", 2000, "overlapping");
  request.skip = {"repeatability", "self_consistency"};
  request.tolerance.slack = 1e-3;
  const auto results = check_case(request, host());
  EXPECT_EQ(name(find(results, Pass::backward, "reference").verdict), "failed");
  const WorstElement& worst = find(results, Pass::backward, "reference").worst.front();
  std::vector<std::string> inputs;
  for (const auto& [argument, values] : worst.inputs)
    inputs.push_back(argument + std::to_string(values.size()));
  EXPECT_THAT(inputs, ::testing::IsSupersetOf({"pred4", "target4", "dy1"}));
}

// ---- progress and repeated runs

void expect_full_progress(const std::vector<std::pair<double, std::string>>& calls, std::size_t steps) {
  ASSERT_GE(calls.size(), steps);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    EXPECT_GE(calls[i].first, i == 0 ? 0 : calls[i - 1].first) << calls[i].second;
    EXPECT_LE(calls[i].first, 1) << calls[i].second;
    EXPECT_NE(calls[i].second, "");
  }
  EXPECT_DOUBLE_EQ(calls.back().first, 1) << "the last call was in " << calls.back().second;
}

TEST(CiouCaseProgress, RisesToTheEnd) {
  for (const std::vector<Pass>& passes :
       {std::vector{Pass::forward, Pass::backward}, {Pass::forward}, {Pass::backward}}) {
    for (const std::int64_t boxes : {0, 1, 200000}) {
      CheckRequest request = ciou_request(Dtype::f32, "yolo", boxes);
      request.passes = passes;
      std::vector<std::pair<double, std::string>> calls;
      const auto results = check_case(request, host(), [&](double fraction, std::string_view check) {
        calls.emplace_back(fraction, check);
      });
      expect_full_progress(calls, results.size());
    }
  }
}

TEST(CiouCaseRepeat, TwoRunsGiveTheSameResults) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f16}) {
    const CheckRequest request = ciou_request(dtype, "yolo", 20000);
    EXPECT_EQ(check_support::text_without_times(check_case(request, host())),
              check_support::text_without_times(check_case(request, host())));
  }
}

TEST(CiouCaseRepeat, AnotherSeedGivesOtherFigures) {
  CheckRequest request = ciou_request(Dtype::f32, "yolo", 2000);
  request.skip = {"repeatability"};
  const auto one = check_case(request, host());
  request.seed = 2;
  const auto other = check_case(request, host());
  EXPECT_NE(find(one, Pass::forward, "reference").bound_usage->max,
            find(other, Pass::forward, "reference").bound_usage->max);
}

// ---- kernels from elsewhere

TEST(CiouCaseKernels, WhatIsNotOfferedIsLeftOutAndSaysSo) {
  CheckRequest request = ciou_request(Dtype::f32, "yolo", 1000);
  request.make_kernel = [&](const KernelOptions& options) -> std::optional<Kernel> {
    if (options.dtype != Dtype::f32 || options.block != 256) return std::nullopt;
    return find_loss("ciou").kernel(options);
  };
  const auto results = check_case(request, host());
  EXPECT_EQ(labels(results), all_checks());
  const CheckResult& consistency = find(results, Pass::backward, "self_consistency");
  EXPECT_EQ(name(consistency.verdict), "skipped");
  EXPECT_THAT(consistency.reason, HasSubstr("f64"));
  expect_passed(find(results, Pass::forward, "repeatability"));
}

TEST(CiouCaseKernels, KernelThatDoesNotCompileIsAFault) {
  CheckRequest request = ciou_request(Dtype::f32, "yolo", 1000);
  request.make_kernel = [&](const KernelOptions& options) -> std::optional<Kernel> {
    return find_loss("ciou").kernel(options).with_kernel_source("not a kernel");
  };
  try {
    (void)check_case(request, host());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::compile);
    EXPECT_NE(error.detail(), "");
  }
}

}  // namespace
}  // namespace lossgrad
