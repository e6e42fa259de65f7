// SPDX-License-Identifier: Apache-2.0
#include "report/fault_table.hpp"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../results/sample_run.hpp"

namespace lossgrad {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<FaultResult> faults() {
  return {test::caught_fault(), test::slipped_fault(), test::equivalent_fault()};
}

template <class Print>
std::string text_of(Print print) {
  std::ostringstream out;
  print(out);
  return out.str();
}

TEST(FaultTable, ARowForEachAndALineForEachFamily) {
  const auto list = faults();
  EXPECT_EQ(text_of([&](std::ostream& out) { print_faults(out, list, {}); }),
            R"(  fault            family         kernel             outcome       usage  caught by
  alpha_detached   convention     ciou f32 backward  caught      8.8e+04  reference, own_saved
  sign_lost        convention     ciou f32 backward  slipped           -
    reference passed
  constant_in_f32  low precision  ciou f32 backward  equivalent        -
    the type is f32

  family         caught  slipped  equivalent
  convention          1        1           0
  low precision       0        0           1
)");
}

TEST(FaultTable, OnlyProblems) {
  const auto list = faults();
  ConsoleStyle style;
  style.only_problems = true;
  const std::string text = text_of([&](std::ostream& out) { print_faults(out, list, style); });
  EXPECT_THAT(text, HasSubstr("sign_lost"));
  EXPECT_THAT(text, Not(HasSubstr("alpha_detached")));
  EXPECT_THAT(text, Not(HasSubstr("low precision")));
}

TEST(FaultTable, Confusion) {
  const auto list = faults();
  EXPECT_EQ(text_of([&](std::ostream& out) { print_confusion(out, list, {}); }),
            R"(  fault           kernel             rank  first           second
  alpha_detached  ciou f32 backward     1  alpha_detached  convention_torchvision
  sign_lost       ciou f32 backward     -  -
)");
}

TEST(FaultTable, Summary) {
  lossgrad::Run run = test::sample_run();
  run.complete = true;
  EXPECT_EQ(text_of([&](std::ostream& out) { print_fault_summary(out, run, 3.2, {}); }),
            "3 faults: 1 caught, 1 slipped through, 1 equivalent; 1 of 2 named by the diagnosis in 3.2 s\n");
  run.complete = false;
  EXPECT_THAT(text_of([&](std::ostream& out) { print_fault_summary(out, run, 3.2, {}); }),
              HasSubstr("stopped early"));
}

}  // namespace
}  // namespace lossgrad
