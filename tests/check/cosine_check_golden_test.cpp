// SPDX-License-Identifier: Apache-2.0
// The reported cases of data/golden/cosine_reported.json through the built-in kernels, each in its own
// storage type and convention: what the kernels write is compared with the values computed elsewhere, and the
// check passes them.
#include <cmath>
#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check_support.hpp"
#include "check/kernel_outputs.hpp"
#include "losses/cosine_golden_cases.hpp"

namespace lossgrad {
namespace {

using check_support::host;
using check_support::kernel_outputs;
using golden::CosineCase;

CheckRequest request_of(const CosineCase& entry) {
  CheckRequest request;
  request.loss = &find_loss("cosine");
  request.convention = entry.convention;
  request.dtype = entry.dtype;
  request.sizes = entry.items.sizes;
  request.parameters = entry.items.parameters;
  request.scenario = "mixed";
  request.skip = {"repeatability", "self_consistency"};
  request.fd_samples = 64;
  request.inputs = entry.items.values;
  return request;
}

// What a kernel wrote against the exact values: on the segment of right ones within the certified bound, and
// within the sharper one of the built-in kernels. Returns how many elements it compared.
int expect_right(const CosineCase& entry, const std::string& output, std::span<const double> got,
                 const ReferenceValues& reference) {
  const auto& one = entry.expected(output);
  const auto& other = entry.other_end(output);
  EXPECT_EQ(got.size(), one.size());
  if (got.size() != one.size()) return 0;
  for (std::size_t e = 0; e < one.size(); ++e) {
    const std::string what = entry.label() + ' ' + output + ' ' + std::to_string(e);
    const double low = std::min(one[e], other[e]), high = std::max(one[e], other[e]);
    for (const double bound : {reference.bound[e], reference.sharp_bound[e]}) {
      EXPECT_TRUE(std::isfinite(bound)) << what;
      EXPECT_GE(got[e], low - bound) << what;
      EXPECT_LE(got[e], high + bound) << what;
    }
  }
  return static_cast<int>(one.size());
}

std::map<std::string, int> compare_kernels(const CosineCase& entry) {
  const CheckRequest request = request_of(entry);
  const Items outputs = kernel_outputs(request, entry.items);
  std::map<std::string, int> compared;
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    Reference reference;
    request.loss->evaluate({pass, request.dtype, entry.convention}, entry.items, reference);
    for (const auto& [output, values] : reference)
      compared[output] += expect_right(entry, output, outputs.at(output), values);
  }
  return compared;
}

TEST(CosineCheckGolden, KernelsGiveTheReportedValues) {
  std::map<std::string, int> compared;
  for (const CosineCase& entry : golden::cosine_cases()) {
    for (const auto& [output, count] : compare_kernels(entry)) compared[output] += count;
  }
  EXPECT_EQ(compared, (std::map<std::string, int>{{"loss", 28}, {"dx1", 155}, {"dx2", 155}}));
}

TEST(CosineCheckGolden, TheRowsOfTheIndexOverflowCase) {
  const auto compared = compare_kernels(golden::scaled_index_overflow_case(3));
  EXPECT_EQ(compared, (std::map<std::string, int>{{"loss", 3}, {"dx1", 98304}, {"dx2", 98304}}));
}

// Ties of the margin are resolved as the contract says: cos > margin is active.
TEST(CosineCheckGolden, TheMarginTieIsInactive) {
  for (const CosineCase& entry : golden::cosine_cases()) {
    if (entry.id != "cos-h07-margin-tie") continue;
    const Items outputs = kernel_outputs(request_of(entry), entry.items);
    for (const char* output : {"dx1", "dx2"}) EXPECT_THAT(outputs.at(output), ::testing::Each(0.0)) << output;
    return;
  }
  FAIL() << "the case is missing";
}

// The bound holds for any order of summation; the cases allow less where a gradient is exactly zero.
TEST(CosineCheckGolden, NothingIsLeftWhereTheGradientIsZero) {
  int compared = 0;
  for (const CosineCase& entry : golden::cosine_cases()) {
    const bool identical = entry.id == "cos-h03-cos-above-one";
    if (!identical && entry.id != "cos-h08-one-dimension") continue;
    const Items outputs = kernel_outputs(request_of(entry), entry.items);
    for (std::size_t i = 0; i < entry.loss.size(); ++i)
      EXPECT_NEAR(outputs.at("loss")[i], entry.loss[i], 2.4e-7) << entry.id << i;
    for (const std::string output : {"dx1", "dx2"}) {
      const auto own = entry.items.at(output == "dx1" ? "x1" : "x2");
      for (std::size_t e = 0; e < own.size(); ++e) {
        EXPECT_LE(std::abs(outputs.at(output)[e]), identical ? 1e-8 : 4e-7 / std::abs(own[e]))
            << entry.id << e;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 2 * (84 + 3));
}

TEST(CosineCheckGolden, ZeroRowsAreNanInExact) {
  for (CosineCase entry : golden::cosine_cases()) {
    if (entry.id != "cos-h02-zero-row") continue;
    entry.convention = "exact";
    const Items outputs = kernel_outputs(request_of(entry), entry.items);
    EXPECT_TRUE(std::isnan(outputs.at("loss")[0]));
    EXPECT_TRUE(std::isnan(outputs.at("loss")[1]));
    for (std::size_t e = 0; e < 3; ++e) {
      EXPECT_TRUE(std::isnan(outputs.at("dx1")[e]));
      EXPECT_TRUE(std::isnan(outputs.at("dx2")[e]));
    }
    check_support::expect_none_failed(check_case(request_of(entry), host()));
    return;
  }
  FAIL() << "the case is missing";
}

TEST(CosineCheckGolden, EachTypeOccurs) {
  std::map<Dtype, int> cases;
  for (const CosineCase& entry : golden::cosine_cases()) ++cases[entry.dtype];
  EXPECT_GE(cases[Dtype::f16], 1);
  EXPECT_GE(cases[Dtype::f32], 7);
  EXPECT_GE(cases[Dtype::f64], 8);
}

// Few and special rows may prove little; none is rejected.
TEST(CosineCheckGolden, TheCheckRejectsNoneOfThem) {
  std::map<std::string, int> passed;
  for (const CosineCase& entry : golden::cosine_cases()) {
    SCOPED_TRACE(entry.label());
    const auto results = check_case(request_of(entry), host());
    check_support::expect_none_failed(results);
    for (const CheckResult& result : results) {
      passed[check_support::label(result)] += result.verdict == Verdict::passed ? 1 : 0;
      EXPECT_LE(check_support::largest_usage(result), 1) << check_support::label(result);
    }
  }
  EXPECT_GE(passed["forward reference"], 12);
  EXPECT_GE(passed["backward reference"], 8);
  EXPECT_GE(passed["forward guards"], 12);
  EXPECT_GE(passed["backward oracles"], 5);
}

TEST(CosineCheckGolden, TheSameRowsInEveryTypeAndConvention) {
  std::set<std::string> seen;
  for (const CosineCase& entry : golden::cosine_cases()) {
    if (!seen.insert(entry.id).second) continue;
    for (const Dtype dtype : kAllDtypes) {
      for (const NamedChoice& convention : find_loss("cosine").conventions()) {
        SCOPED_TRACE(entry.id + ' ' + std::string(name(dtype)) + ' ' + convention.name);
        CheckRequest request = request_of(entry);
        request.dtype = dtype;
        request.convention = convention.name;
        request.skip.insert("guards");
        request.block = 4;  // one binary for all, several sweeps in the longest row
        check_support::expect_none_failed(check_case(request, host()));
      }
    }
  }
  EXPECT_EQ(seen.size(), 11u);
}

}  // namespace
}  // namespace lossgrad
