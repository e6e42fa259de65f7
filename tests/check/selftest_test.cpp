// SPDX-License-Identifier: Apache-2.0
// The dictionary of deviations is sound, and selftest tells what is caught from what slips through.
#include "check/selftest.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check_support.hpp"

namespace lossgrad {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const Fault& find_fault(const Loss& loss, const std::string& name, Pass pass) {
  const auto& faults = loss.faults();
  const auto found = std::find_if(faults.begin(), faults.end(), [&](const Fault& fault) {
    return fault.name == name && fault.pass == pass;
  });
  if (found == faults.end()) throw std::runtime_error("no fault " + name);
  return *found;
}

TEST(Faults, HaveNamesOfTheirOwnAndWords) {
  std::size_t count = 0;
  for (const Loss* loss : all_losses()) {
    std::set<std::pair<std::string, Pass>> names;
    for (const Fault& fault : loss->faults()) {
      EXPECT_TRUE(names.emplace(fault.name, fault.pass).second) << fault.name;
      EXPECT_FALSE(fault.summary.empty()) << fault.name;
      EXPECT_NE(fault.edits.empty(), fault.kernel_convention.empty()) << fault.name;
      // Where it does not show there is a reason, and only there.
      EXPECT_EQ(fault.dtypes.size() < kAllDtypes.size(), !fault.elsewhere.empty()) << fault.name;
    }
    count += names.size();
  }
  EXPECT_GE(count, 80u);
}

TEST(Faults, EveryFamilyHasSome) {
  std::set<FaultFamily> found;
  for (const Loss* loss : all_losses()) {
    for (const Fault& fault : loss->faults()) found.insert(fault.family);
  }
  EXPECT_EQ(found.size(), static_cast<std::size_t>(FaultFamily::inconsistent) + 1);
}

// An edit of a kernel that the dictionary does not follow: in every type, not only in those that selftest
// runs.
TEST(Faults, AreEditsOfTheKernelsAsTheyAre) {
  for (const Loss* loss : all_losses()) {
    for (const Fault& fault : loss->faults()) {
      for (const Dtype dtype : kAllDtypes) {
        KernelOptions options{fault.pass, dtype, loss->conventions().front().name, fault.block,
                              loss->selftest_sizes()};
        const Kernel faulty = faulty_kernel(*loss, fault, options);
        const bool differs = faulty.source() != loss->kernel(options).source();
        EXPECT_TRUE(differs || fault.edits.empty()) << fault.name;
      }
    }
  }
}

// README: "a constant that is wrong in the fifth digit reaches 20 times it".
TEST(Selftest, AConstantWrongInTheFifthDigitStandsOut) {
  const Loss& loss = find_loss("ciou");
  const FaultResult result = check_fault(loss, find_fault(loss, "eight_over_pi_squared_cut", Pass::backward),
                                         Dtype::f32, check_support::host(), false);
  EXPECT_GT(result.bound_usage, 20);
}

TEST(Selftest, SaysWhichCheckCaughtAFault) {
  const Loss& loss = find_loss("ciou");
  const FaultResult result = check_fault(loss, find_fault(loss, "upstream_dropped", Pass::backward),
                                         Dtype::f32, check_support::host(), false);
  EXPECT_EQ(result.outcome, FaultOutcome::caught) << result.reason;
  EXPECT_THAT(result.caught_by, Contains("reference"));
  EXPECT_GT(result.bound_usage, 1000);
  EXPECT_EQ(result.family, "dy");
  EXPECT_FALSE(result.diagnosed_as.has_value());
}

TEST(Selftest, SaysWhatSlipsThrough) {
  const Loss& loss = find_loss("ciou");
  Fault harmless = find_fault(loss, "upstream_dropped", Pass::backward);
  harmless.edits = {{"upstream * d_cx", "d_cx * upstream"}};
  const FaultResult result = check_fault(loss, harmless, Dtype::f32, check_support::host(), false);
  EXPECT_EQ(result.outcome, FaultOutcome::slipped);
  EXPECT_EQ(result.reason, "reference passed");
  Fault elsewhere = find_fault(loss, "aspect_part_dropped", Pass::backward);
  elsewhere.outputs = {"d_pred[0]"};
  EXPECT_THAT(check_fault(loss, elsewhere, Dtype::f32, check_support::host(), false).reason,
              HasSubstr("outputs are wrong that the fault leaves right"));
}

TEST(Selftest, AFaultThatShowsInOtherTypesIsEquivalent) {
  const Loss& loss = find_loss("ciou");
  const FaultResult result = check_fault(loss, find_fault(loss, "constant_in_f32", Pass::backward),
                                         Dtype::f32, check_support::host(), false);
  EXPECT_EQ(result.outcome, FaultOutcome::equivalent);
  EXPECT_FALSE(result.reason.empty());
}

TEST(Selftest, WhatIsSaidToMakeNoDifferenceAndIsSeenSlipsThrough) {
  const Loss& loss = find_loss("ciou");
  Fault elsewhere = find_fault(loss, "gradient_doubled", Pass::backward);
  elsewhere.dtypes = {Dtype::f64};
  elsewhere.elsewhere = "nobody sees it";
  const FaultResult result = check_fault(loss, elsewhere, Dtype::f32, check_support::host(), false);
  EXPECT_EQ(result.outcome, FaultOutcome::slipped);
  EXPECT_THAT(result.reason, HasSubstr("fails where none should be seen (nobody sees it)"));
}

// A right kernel that is held to less than its bound does nothing wrong.
TEST(Diagnosis, NamesNothingWhereRoundingAloneFails) {
  for (CheckRequest request : {check_support::ciou_request(Dtype::f16, "yolo", 500, "typical"),
                               check_support::ciou_request(Dtype::f16, "yolo", 500),
                               check_support::cosine_request(Dtype::f16, "exact", {60, 8})}) {
    request.tolerance.slack = 0.4;
    request.skip = {"oracles", "self_consistency", "guards", "repeatability", "propagation"};
    int failed = 0;
    for (const CheckResult& result : check_case(request, check_support::host())) {
      failed += result.verdict == Verdict::failed ? 1 : 0;
      for (const Diagnosis& diagnosis : result.diagnosis) ADD_FAILURE() << diagnosis.name;
    }
    EXPECT_GE(failed, 1);
  }
}

// In f32, beside kernels in f64.
TEST(Diagnosis, NamesTheFault) {
  const Loss& loss = find_loss("ciou");
  for (const char* name : {"alpha_detached", "sign_of_distance_part", "upstream_squared"}) {
    const FaultResult result =
        check_fault(loss, find_fault(loss, name, Pass::backward), Dtype::f32, check_support::host(), true);
    ASSERT_FALSE(result.diagnosis.empty()) << name;
    EXPECT_EQ(result.diagnosed_as, 1) << name;
  }
}

// In 16 bits where the rounding is all that is wrong, and where the right value is NaN.
TEST(Diagnosis, NamesTheFaultIn16Bits) {
  const auto rank = [](const char* loss_name, const char* name) {
    const Loss& loss = find_loss(loss_name);
    return check_fault(loss, find_fault(loss, name, Pass::backward), Dtype::bf16, check_support::host(), true)
        .diagnosed_as;
  };
  EXPECT_EQ(rank("ciou", "gradient_cut_to_16_bits"), 1);
  EXPECT_EQ(rank("cosine", "zero_rows_given_no_gradient"), 1);
}

}  // namespace
}  // namespace lossgrad
