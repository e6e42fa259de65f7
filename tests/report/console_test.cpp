// SPDX-License-Identifier: Apache-2.0
#include "report/console.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../results/sample_run.hpp"

namespace lossgrad {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Results = std::vector<CheckResult>;
using RunResults = Run;  // inside a TEST, Run is a member function of the fixture

std::string case_text(const Results& results, const ConsoleStyle& style = {}) {
  std::ostringstream out;
  print_case(out, results, style);
  return out.str();
}

std::string summary_text(const RunResults& run, double seconds, const ConsoleStyle& style = {}) {
  std::ostringstream out;
  print_summary(out, run, seconds, style);
  return out.str();
}

TEST(Console, PassedCase) {
  Results results = {test::passed_check(), test::passed_check()};
  results[0].case_id.pass = Pass::forward;
  results[0].kinks = 0;
  results[0].bound_usage = Distribution{0.4123, 0.2, 0.1, 0.05};
  results[1].check = "repeatability";
  results[1].kinks = 0;
  results[1].bound_usage.reset();
  results[1].abs_error.reset();
  results[1].rel_error.reset();
  results[1].ulp_error.reset();
  EXPECT_EQ(case_text(results),
            R"(ciou f32  n 1,048,576  scenario mixed  seed 1  convention yolo  backend host  block 256
  pass      check          verdict   compared   kinks  usage max   99.9 %  abs max  rel max  ulp max
  forward   reference      passed   4,194,304       0      0.412    0.200  3.1e-07  2.3e-06     19.5
  backward  repeatability  passed   4,194,304       0          -        -        -        -        -

)");
}

TEST(Console, FailedCaseWithKinksAndNan) {
  EXPECT_EQ(case_text({test::failed_check()}),
            R"(ciou f32  n 1,048,576  scenario mixed  seed 1  convention yolo  backend host  block 256
  pass      check          verdict   compared   kinks  usage max   99.9 %  sharp max  abs max  rel max  ulp max
  backward  own_saved      failed   4,194,304   9,412        inf  8.9e+05        inf  3.1e-07  2.3e-06      nan
    12 of 4,194,304 elements are outside their bound
    the distance part is taken 0.5 times
    3 out of range, 2 without a finite bound, 1 with a non-finite input

  backward own_saved, worst elements:
    d_pred item 17 component 2: got 0.1234567890123456, expected 0.2345678901234567
      error 1.1e-01, bound 1.2e-07, usage 8.9e+05, 7.5e+06 ulp
      pred   = 0.1, 2, 3e-09, 10
      target = 0.30000001192092896, 2, 1, 16777216
      dy     = -1.25
    d_pred item 1048575 component 2: got nan, expected -0.5 to 0.25 (kink); not written
      error 1.1e-01, bound 1.2e-07, usage nan, 7.5e+06 ulp
      pred = nan, inf, -inf, -0

  behaves as if alpha carried no gradient (alpha_detached)
    less exactly: the convention were torchvision (convention_torchvision)

  repeat: lossgrad check ciou --pred failures/a.npz --target failures/a.npz

)");
}

TEST(Console, MistrustedCaseFromFiles) {
  Results results = {test::passed_check()};
  results[0].verdict = Verdict::mistrusted;
  results[0].reason = "no element was compared";
  results[0].compared = 0;
  results[0].kinks = 0;
  results[0].case_id.sizes = {{"N", 0}};
  results[0].case_id.scenario = "file";
  results[0].case_id.files = {{"pred", "a.npy"}, {"target", "b.json"}};
  results[0].data_notes = {"no boxes"};
  results[0].bound_usage = Distribution{};
  results[0].abs_error = results[0].rel_error = results[0].ulp_error = Distribution{};
  EXPECT_EQ(case_text(results),
            R"(ciou f32  n 0  pred a.npy  target b.json  convention yolo  backend host  block 256
  no boxes
  pass      check          verdict      compared   kinks  usage max   99.9 %  abs max  rel max  ulp max
  backward  reference      mistrusted          0       0          0        0        0        0        0
    no element was compared

  repeat: lossgrad check ciou --n 1048576 --scenario mixed --seed 1

)");
}

TEST(Console, RowsStayAlignedForAnyWidth) {
  Results results = {test::passed_check(), test::passed_check()};
  results[0].compared = 9'223'372'036'854'775'807;
  results[0].check = "a_check_with_a_long_name";
  const std::string text = case_text(results);
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  std::getline(lines, line);
  const std::size_t width = line.size();
  while (std::getline(lines, line) && !line.empty()) EXPECT_EQ(line.size(), width) << line;
  EXPECT_THAT(text, HasSubstr("9,223,372,036,854,775,807"));
}

TEST(Console, ColoursOnlyWhenAsked) {
  const Results results = {test::passed_check(), test::failed_check()};
  EXPECT_THAT(case_text(results), Not(HasSubstr("\x1b")));
  ConsoleStyle style;
  style.color = true;
  const std::string text = case_text(results, style);
  EXPECT_THAT(text, HasSubstr("\x1b[32mpassed\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("\x1b[1;31mfailed\x1b[0m"));
}

TEST(Console, ColoursDoNotMoveColumns) {
  const Results results = {test::passed_check(), test::failed_check()};
  ConsoleStyle style;
  style.color = true;
  std::string text = case_text(results, style);
  for (std::size_t at = text.find('\x1b'); at != std::string::npos; at = text.find('\x1b')) {
    text.erase(at, text.find('m', at) - at + 1);
  }
  EXPECT_EQ(text, case_text(results));
}

TEST(Console, AtMostFiveWorstElements) {
  Results results = {test::failed_check()};
  results[0].worst.assign(20, test::worst_element());
  const std::string text = case_text(results);
  std::size_t count = 0;
  for (std::size_t at = text.find("d_pred item"); at != std::string::npos;
       at = text.find("d_pred item", at + 1))
    ++count;
  EXPECT_EQ(count, 5U);
}

TEST(Console, CommandIsPrintedOncePerCase) {
  const std::string text = case_text({test::failed_check(), test::failed_check()});
  EXPECT_EQ(text.find("repeat:"), text.rfind("repeat:"));
}

TEST(Console, OnlyProblems) {
  ConsoleStyle style;
  style.only_problems = true;
  EXPECT_EQ(case_text({test::passed_check()}, style), "");
  EXPECT_NE(case_text({test::passed_check(), test::failed_check()}, style), "");
  EXPECT_EQ(case_text({}), "");
}

TEST(Console, SkippedAndUnsupportedSayWhy) {
  Results results = {test::passed_check(), test::passed_check()};
  results[0].verdict = Verdict::skipped;
  results[0].reason = "left out with --skip";
  results[1].verdict = Verdict::unsupported;
  results[1].reason = "the device has no f64";
  const std::string text = case_text(results);
  EXPECT_THAT(text, HasSubstr("left out with --skip"));
  EXPECT_THAT(text, HasSubstr("the device has no f64"));
  EXPECT_THAT(text, Not(HasSubstr("repeat:")));
}

TEST(Console, Summary) {
  RunResults run;
  run.complete = true;
  EXPECT_EQ(summary_text(run, 0), "no check ran in 0.00 s\n");
  run.checks = {test::passed_check()};
  EXPECT_EQ(summary_text(run, 0.034), "1 check: 1 passed in 0.03 s\n");
  run.checks.front().verdict = Verdict::skipped;
  EXPECT_EQ(summary_text(run, 0.034), "1 check: 1 skipped in 0.03 s; none ran, which is no pass\n");
  run.checks.assign(1200, test::passed_check());
  run.checks[7].verdict = Verdict::failed;
  run.checks[8].verdict = Verdict::mistrusted;
  run.checks[9].verdict = Verdict::unsupported;
  run.checks[10].verdict = Verdict::skipped;
  EXPECT_EQ(summary_text(run, 125.4),
            "1,200 checks: 1,196 passed, 1 failed, 1 mistrusted, 1 unsupported, 1 skipped in 125 s\n");
  run.complete = false;
  EXPECT_THAT(summary_text(run, 3.21), ::testing::StartsWith("stopped early; 1,200 checks"));
}

}  // namespace
}  // namespace lossgrad
