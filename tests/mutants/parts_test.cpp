// SPDX-License-Identifier: Apache-2.0
// Wrong kernels in which one part of the formula is off are reported as that; others are not.
#include <map>

#include <gtest/gtest.h>

#include "mutants/wrong_kernels.hpp"

namespace lossgrad::mutants {
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
      {"corners_read_as_centres", {}},
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

std::map<std::string, Expected> faults() {
  return tested_loss().name == "ciou" ? ciou_faults() : cosine_faults();
}

CheckRequest request_for(const WrongKernel& kernel) {
  CheckRequest request = request_for_case(Dtype::f32, kernel.convention, kernel.sizes, kernel.parameters);
  request.passes = {kernel.pass};
  request.scenario = kernel.scenario;
  request.skip = {"oracles", "self_consistency", "guards", "repeatability", "own_saved"};
  request.make_kernel = [kernel, block = main_block(request)](const KernelOptions& options) {
    std::optional<Kernel> made;
    if (options.dtype != Dtype::f32 || options.block != block) return made;
    made = options.pass == kernel.pass ? kernel_from_text(kernel.text, options) : builtin_kernel(options);
    return made;
  };
  return request;
}

TEST(Parts, AreNamedWhenOneExplainsTheDifference) {
  const auto backend = open_backend(BackendKind::host);
  std::map<std::string, Expected> expected = faults();
  for (const WrongKernel& kernel : wrong_kernels()) {
    const auto found = expected.find(kernel.name);
    if (found == expected.end()) continue;
    const auto results = check_case(request_for(kernel), *backend);
    const CheckResult* const result = find_check(results, kernel.pass, "reference");
    ASSERT_NE(result, nullptr);
    ASSERT_EQ(name(result->verdict), "failed") << kernel.name;
    EXPECT_EQ(result->part ? result->part->name : "", found->second.part) << kernel.name;
    EXPECT_EQ(result->part ? result->part->text : "", found->second.text) << kernel.name;
    EXPECT_EQ(result->part ? result->part->factor : 0, found->second.factor) << kernel.name;
    expected.erase(found);
  }
  for (const auto& [missing, fault] : expected) ADD_FAILURE() << "no wrong kernel is called " << missing;
}

TEST(Parts, AreNotNamedWhereRoundingAloneFails) {
  const auto backend = open_backend(BackendKind::host);
  CheckRequest request = request_for_case(Dtype::f32, "", {}, {});
  request.scenario = request.loss->default_scenario();
  request.skip = {"oracles", "self_consistency", "guards", "repeatability"};
  request.tolerance.slack = 1e-3;
  int failed = 0;
  for (const CheckResult& result : check_case(request, *backend)) {
    if (result.verdict == Verdict::failed) ++failed;
    EXPECT_FALSE(result.part.has_value()) << result.check << ": " << result.part->text;
  }
  EXPECT_GE(failed, 2);
}

}  // namespace
}  // namespace lossgrad::mutants
