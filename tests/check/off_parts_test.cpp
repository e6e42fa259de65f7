// SPDX-License-Identifier: Apache-2.0
// Wrong kernels in which one part of the formula is off are reported as that; others are not.
#include <map>

#include <gtest/gtest.h>

#include "check/check_support.hpp"
#include "check/selftest.hpp"

namespace lossgrad {
namespace {

struct Expected {
  std::string part;  // empty: nothing is named
  double factor = 0;
  std::string text = {};
};

std::map<std::string, Expected> ciou_faults() {
  return {
      {"sign_of_iou_part", {"iou", -1, "the IoU part has the other sign"}},
      {"sign_of_distance_part", {"distance", -1, "the distance part has the other sign"}},
      {"sign_of_aspect_part", {"aspect", -1, "the alpha*v part has the other sign"}},
      {"gradient_doubled", {"whole", 2, "the whole gradient is taken twice"}},
      {"distance_part_halved", {"distance", 0.5, "the distance part is taken 0.5 times"}},
      {"iou_part_dropped", {"iou", 0, "the IoU part is missing"}},
      {"distance_part_dropped", {"distance", 0, "the distance part is missing"}},
      {"aspect_part_dropped", {"aspect", 0, "the alpha*v part is missing"}},
      {"sign_of_iou", {"iou", -1, "the IoU part has the other sign"}},
      {"sign_of_distance", {"distance", -1, "the distance part has the other sign"}},
      {"sign_of_alpha_v", {"aspect", -1, "the alpha*v part has the other sign"}},
      {"iou_dropped", {"iou", 0, "the IoU part is missing"}},
      {"distance_dropped", {"distance", 0, "the distance part is missing"}},
      {"alpha_v_dropped", {"aspect", 0, "the alpha*v part is missing"}},
      {"sign_of_angle_lost", {}},
      {"area_term_dropped", {}},
      {"overlap_left_out_of_union_slope", {}},
      {"alpha_detached", {}},
      {"enclosing_box_held_fixed", {}},
      {"sign_of_enclosing_part_in_centres", {}},
      {"centres_read_as_corners", {}},
      {"distance_not_squared", {}},
  };
}

std::map<std::string, Expected> cosine_faults() {
  return {
      {"projection_dropped", {"norm", 0, "the norm term is missing"}},
      {"cos_of_the_other_sign", {"norm", -1, "the norm term has the other sign"}},
      {"projection_dropped_in_one", {"norm", 0, "the norm term of dx2 is missing"}},
      {"second_gradient_negated", {"whole", -1, "the whole gradient of dx2 has the other sign"}},
      {"second_gradient_left_zero", {"whole", 0, "the whole gradient of dx2 is missing"}},
      {"sign_of_coefficient", {"whole", -1, "the whole gradient has the other sign"}},
      {"gradient_doubled", {"whole", 2, "the whole gradient is taken twice"}},
      {"gradient_halved", {"whole", 0.5, "the whole gradient is taken 0.5 times"}},
      {"sign_of_coefficient_where_same", {}},
      {"upstream_dropped", {}},
      {"upstream_squared", {}},
      {"rows_swapped_in_one_gradient", {}},
      {"gradient_labels_ignored", {}},
      {"labels_swapped", {}},
      {"margin_ignored", {}},  // in the hinge too
      {"norm_by_magnitudes", {}},
  };
}

void expect_parts(const Loss& loss, Dtype dtype, std::map<std::string, Expected> expected) {
  for (const Fault& fault : loss.faults()) {
    const auto found = expected.find(fault.name);
    if (found == expected.end()) continue;
    CheckRequest request = fault_request(loss, fault, dtype);
    request.skip = {"oracles", "self_consistency", "guards", "repeatability", "propagation", "own_saved"};
    const auto results = check_case(request, check_support::host());
    const CheckResult& result = check_support::find(results, fault.pass, "reference");
    ASSERT_EQ(name(result.verdict), "failed") << fault.name;
    EXPECT_EQ(result.part ? result.part->name : "", found->second.part) << fault.name;
    EXPECT_EQ(result.part ? result.part->text : "", found->second.text) << fault.name;
    EXPECT_EQ(result.part ? result.part->factor : 0, found->second.factor) << fault.name;
    expected.erase(found);
  }
  for (const auto& [missing, fault] : expected) ADD_FAILURE() << "no fault is called " << missing;
}

TEST(Parts, AreNamedWhenOneExplainsTheDifference) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    SCOPED_TRACE(name(dtype));
    expect_parts(find_loss("ciou"), dtype, ciou_faults());
    expect_parts(find_loss("cosine"), dtype, cosine_faults());
  }
}

void expect_no_part(CheckRequest request) {
  request.skip = {"oracles", "self_consistency", "guards", "repeatability"};
  request.tolerance.slack = 1e-3;
  request.diagnose = false;
  int failed = 0;
  for (const CheckResult& result : check_case(request, check_support::host())) {
    if (result.verdict == Verdict::failed) ++failed;
    EXPECT_FALSE(result.part.has_value()) << result.check << ": " << result.part->text;
  }
  EXPECT_GE(failed, 2);
}

TEST(Parts, AreNotNamedWhereRoundingAloneFails) {
  expect_no_part(check_support::ciou_request(Dtype::f32, "yolo", 3000));
  expect_no_part(check_support::cosine_request(Dtype::f32, "exact", {120, 200}));
}

}  // namespace
}  // namespace lossgrad
