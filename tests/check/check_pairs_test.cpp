// SPDX-License-Identifier: Apache-2.0
// The check on real pairs of boxes, in every layout and precision of their files.
#include <array>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "check/check_support.hpp"
#include "data/boxes.hpp"

namespace lossgrad {
namespace {

using check_support::ciou_request;
using check_support::expect_passed;
using check_support::find;
using check_support::host;

std::vector<double> component_major(const std::vector<std::array<double, 4>>& boxes) {
  std::vector<double> values;
  for (std::size_t c = 0; c < 4; ++c) {
    for (const auto& box : boxes) values.push_back(box[c]);
  }
  return values;
}

CheckRequest files_request(const std::string& pred_name, const std::string& target_name, BoxFormat format,
                           Dtype dtype) {
  const std::string folder = std::string(LOSSGRAD_SOURCE_DIR) + "/data/samples/pairs/";
  const BoxList pred = read_boxes(folder + pred_name, {format, {"", "pred", {"target"}}});
  const BoxList target = read_boxes(folder + target_name, {format, {"", "target", {"pred"}}});
  const BoxPairs pairs = pair_boxes(pred, target, MatchRule::row);
  CheckRequest request = ciou_request(dtype, "yolo", static_cast<std::int64_t>(pairs.pred.size()));
  request.inputs = {{"pred", component_major(pairs.pred)}, {"target", component_major(pairs.target)}};
  request.skip = {"repeatability"};
  return request;
}

CheckRequest pairs_request(const std::string& stem, BoxFormat format, Dtype dtype) {
  return files_request("pred_" + stem + ".npy", "target_" + stem + ".npy", format, dtype);
}

void expect_sound_pairs(const std::vector<CheckResult>& results) {
  for (const CheckResult& result : results) {
    if (result.verdict != Verdict::skipped) expect_passed(result);
  }
  EXPECT_GE(find(results, Pass::backward, "reference").kinks, 4 * 93) << "93 pairs are identical";
  EXPECT_EQ(find(results, Pass::forward, "reference").compared, 4 * 651);
}

// The results of each are sound and, but for their times, those of the first.
void expect_same_figures(const std::vector<CheckRequest>& requests) {
  std::string first;
  for (std::size_t number = 0; number < requests.size(); ++number) {
    SCOPED_TRACE("layout " + std::to_string(number));
    const CheckRequest& request = requests[number];
    const auto results = check_case(request, host());
    expect_sound_pairs(results);
    const std::string text = check_support::text_without_times(results);
    if (first.empty()) first = text;
    EXPECT_EQ(text, first);
  }
}

TEST(CheckPairs, SevenLayoutsOfF32GiveTheSameFigures) {
  std::vector<CheckRequest> requests;
  for (const char* stem : {"cxcywh_4xN_f32", "cxcywh_4xN_f32_bigendian", "cxcywh_4xN_f32_header_v3",
                           "cxcywh_Nx4_f32", "cxcywh_Nx4_f32_fortran"})
    requests.push_back(pairs_request(stem, BoxFormat::cxcywh, Dtype::f32));
  for (const std::string file : {"pairs_cxcywh_4xN_f32_stored.npz", "pairs_cxcywh_4xN_f32_deflated.npz"})
    requests.push_back(files_request(file, file, BoxFormat::cxcywh, Dtype::f32));
  expect_same_figures(requests);
}

TEST(CheckPairs, TwoLayoutsOfF64GiveTheSameFigures) {
  expect_same_figures({pairs_request("cxcywh_4xN_f64_header_v2", BoxFormat::cxcywh, Dtype::f64),
                       pairs_request("xywh_Nx4_f64", BoxFormat::xywh, Dtype::f64)});
}

TEST(CheckPairs, OtherPrecisions) {
  expect_sound_pairs(check_case(pairs_request("xyxy_Nx4_f16", BoxFormat::xyxy, Dtype::f16), host()));
  expect_sound_pairs(check_case(pairs_request("cxcywh_4xN_f32", BoxFormat::cxcywh, Dtype::bf16), host()));
}

}  // namespace
}  // namespace lossgrad
