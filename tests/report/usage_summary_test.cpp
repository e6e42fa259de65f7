// SPDX-License-Identifier: Apache-2.0
#include "report/usage_summary.hpp"

#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "../results/sample_run.hpp"

namespace lossgrad {
namespace {

std::string summary_text(std::vector<CheckResult> checks) {
  lossgrad::Run run;
  run.checks = std::move(checks);
  std::ostringstream out;
  print_usage_summary(out, run);
  return out.str();
}

CheckResult with_usage(double usage, const std::string& scenario, Dtype dtype = Dtype::f32) {
  CheckResult result = test::passed_check();
  result.case_id.dtype = dtype;
  result.case_id.scenario = scenario;
  result.bound_usage = Distribution{usage, 0, 0, 0};
  return result;
}

TEST(UsageSummary, LargestOfEachKindAndWhere) {
  CheckResult rows = with_usage(0.75, "near_margin");
  rows.case_id.loss = "cosine";
  rows.case_id.convention = "exact";
  rows.case_id.sizes = {{"n_rows", 4099}, {"n_dim", 200}};
  rows.case_id.parameters = {{"margin", 0.5}};
  CheckResult without_usage = with_usage(0, "mixed");
  without_usage.bound_usage.reset();
  EXPECT_EQ(summary_text({with_usage(0.25, "mixed"), with_usage(0.5, "thin"), with_usage(0.125, "far"),
                          with_usage(0.0625, "mixed", Dtype::f64), rows, without_usage}),
            R"(  largest usage of               cases      items    compared   kinks  usage max  in
  ciou f32 backward reference        3  3,145,728  12,582,912  28,236      0.500  thin, yolo, n 1,048,576, block 256
  ciou f64 backward reference        1  1,048,576   4,194,304   9,412      0.062  mixed, yolo, n 1,048,576, block 256
  cosine f32 backward reference      1      4,099   4,194,304   9,412      0.750  near_margin, exact, rows 4,099, dim 200, margin 0.5, block 256

)");
}

TEST(UsageSummary, OneCaseNeedsNone) {
  EXPECT_EQ(summary_text({}), "");
  CheckResult forward = with_usage(0.5, "mixed");
  forward.case_id.pass = Pass::forward;
  EXPECT_EQ(summary_text({with_usage(0.25, "mixed"), forward}), "");
}

TEST(UsageSummary, InfiniteUsageIsTheLargest) {
  const std::string text =
      summary_text({with_usage(0.25, "mixed"), test::failed_check(), with_usage(INFINITY, "tiny")});
  EXPECT_NE(text.find("inf  tiny"), std::string::npos) << text;
}

}  // namespace
}  // namespace lossgrad
