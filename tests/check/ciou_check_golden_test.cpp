// SPDX-License-Identifier: Apache-2.0
// The reported cases of data/golden/ciou_reported.json through the built-in kernels, each in its own storage
// type: what the kernels write is compared with the values computed elsewhere, and the check passes them.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check_support.hpp"
#include "check/kernel_outputs.hpp"
#include "losses/ciou_golden_cases.hpp"

namespace lossgrad {
namespace {

using check_support::host;
using check_support::kernel_outputs;
using nlohmann::json;

CheckRequest request_of(const json& entry) {
  const Items items = golden::items_of(entry);
  CheckRequest request = check_support::ciou_request(golden::dtype_of(entry), "yolo", items.count);
  request.skip = {"repeatability", "self_consistency"};
  request.inputs = items.values;
  return request;
}

// `right` is exact for the inputs; the kernel may be off by the certified bound, and anywhere in the hull at
// a kink. What the case's type cannot hold may be infinite. False when nothing could be compared.
bool expect_right(double got, double right, const ReferenceValues& reference, std::size_t e,
                  const std::string& what) {
  if (std::isnan(right)) {
    EXPECT_TRUE(std::isnan(got)) << what << " is " << got;
    return true;
  }
  if ((reference.flags[e] & kOutOfRange) != 0 && !std::isfinite(got)) return false;
  const double bound = reference.bound[e];
  if (std::isinf(bound)) return false;
  double low = right, high = right;
  if ((reference.flags[e] & kKink) != 0) {
    low = std::min(low, reference.low[e]);
    high = std::max(high, reference.high[e]);
  }
  EXPECT_GE(got, low - bound) << what << ", right " << right;
  EXPECT_LE(got, high + bound) << what << ", right " << right;
  return true;
}

TEST(CiouCheckGolden, KernelsGiveTheReportedValues) {
  int compared = 0;
  for (const json& entry : golden::listed_cases()) {
    const CheckRequest request = request_of(entry);
    const Items inputs = golden::items_of(entry);
    const Items outputs = kernel_outputs(request, inputs);
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      Reference reference;
      request.loss->evaluate({pass, request.dtype, "yolo"}, inputs, reference);
      for (const auto& [output, values] : reference) {
        const auto right = golden::flat(entry.at("expected").at(output));
        const auto got = outputs.at(output);
        ASSERT_EQ(got.size(), right.size());
        for (std::size_t e = 0; e < right.size(); ++e) {
          const std::string what = entry.at("id").get<std::string>() + ' ' + output;
          if (expect_right(got[e], right[e], values, e, what)) ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 150);
}

// One box more than a block: the last one alone in its own.
TEST(CiouCheckGolden, TheCaseOf257Boxes) {
  const json entry = golden::find_case(golden::load_ciou(), golden::kCaseOf257Boxes);
  const Items inputs = golden::items_of_257_boxes();
  CheckRequest request = check_support::ciou_request(golden::dtype_of(entry), "yolo", inputs.count);
  request.inputs = inputs.values;
  const Items outputs = kernel_outputs(request, inputs);
  Reference forward, backward;
  request.loss->evaluate({Pass::forward, request.dtype, "yolo"}, inputs, forward);
  request.loss->evaluate({Pass::backward, request.dtype, "yolo"}, inputs, backward);
  const json& expected = entry.at("expected");
  double sum = 0;
  for (const double loss : outputs.at("loss")) sum += loss;
  const double right_sum = expected.at("loss_sum");
  EXPECT_NEAR(sum, right_sum, 1e-5 * right_sum);
  int compared = 0;
  for (const auto& [column, values] : expected.at("columns").items()) {
    const auto i = static_cast<std::size_t>(std::stoul(column));
    if (expect_right(outputs.at("loss")[i], values.at("loss"), forward.at("loss"), i, column)) ++compared;
    for (std::size_t c = 0; c < 4; ++c) {
      const std::size_t e = c * 257 + i;
      if (expect_right(outputs.at("d_pred")[e], values.at("d_pred").at(c), backward.at("d_pred"), e, column))
        ++compared;
    }
  }
  EXPECT_EQ(compared, 9 * 5);
  check_support::expect_none_failed(check_case(request, host()));
}

TEST(CiouCheckGolden, EachTypeOccurs) {
  std::map<Dtype, int> cases;
  for (const json& entry : golden::listed_cases()) ++cases[golden::dtype_of(entry)];
  EXPECT_GE(cases[Dtype::f16], 1);
  EXPECT_GE(cases[Dtype::f32], 8);
  EXPECT_GE(cases[Dtype::f64], 6);
}

// Few and special boxes may prove little; none is rejected.
TEST(CiouCheckGolden, TheCheckRejectsNoneOfThem) {
  for (const json& entry : golden::listed_cases()) {
    SCOPED_TRACE(entry.at("id").get<std::string>());
    check_support::expect_none_failed(check_case(request_of(entry), host()));
  }
}

TEST(CiouCheckGolden, TheSameBoxesInEveryType) {
  for (const json& entry : golden::listed_cases()) {
    for (const Dtype dtype : kAllDtypes) {
      SCOPED_TRACE(entry.at("id").get<std::string>() + ' ' + std::string(name(dtype)));
      CheckRequest request = request_of(entry);
      request.dtype = dtype;
      request.skip.insert("guards");
      check_support::expect_none_failed(check_case(request, host()));
    }
  }
}

// Whether some element of `wrong` lies outside what the check accepts by default.
bool rejected(const std::vector<double>& wrong, const ReferenceValues& right) {
  for (std::size_t e = 0; e < wrong.size(); ++e) {
    const double slack = 2 * right.bound[e];
    if (!(wrong[e] >= right.low[e] - slack && wrong[e] <= right.high[e] + slack)) return true;
  }
  return false;
}

// What typical wrong implementations return in these cases.
TEST(CiouCheckGolden, KnownWrongValuesAreRejected) {
  int told_apart = 0;
  for (const json& entry : golden::listed_cases()) {
    const json faults = entry.value("known_wrong", json::object());
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      Reference reference;
      find_loss("ciou").evaluate({pass, golden::dtype_of(entry), "yolo"}, golden::items_of(entry), reference);
      for (const auto& [fault, outputs] : faults.items()) {
        for (const auto& [output, right] : reference) {
          if (!outputs.contains(output)) continue;
          EXPECT_TRUE(rejected(golden::flat(outputs.at(output)), right))
              << entry.at("id") << ' ' << fault << ' ' << output;
          ++told_apart;
        }
      }
    }
  }
  EXPECT_GE(told_apart, 19);
}

}  // namespace
}  // namespace lossgrad
