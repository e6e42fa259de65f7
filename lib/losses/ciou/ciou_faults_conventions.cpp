// SPDX-License-Identifier: Apache-2.0
// Each convention's kernel checked as each other convention, and conventions with one choice missing.
// NOLINTBEGIN(readability-function-size): tables
#include "losses/ciou/ciou_faults.hpp"
#include "losses/ciou/ciou_kernel.hpp"

namespace lossgrad {
namespace {

Fault taken_for(std::string_view kernel, std::string_view checked, Pass pass) {
  Fault fault;
  fault.name = std::string(kernel) + "_taken_for_" + std::string(checked);
  fault.family = FaultFamily::convention;
  fault.summary = "the convention were " + std::string(kernel);
  fault.pass = pass;
  fault.convention = checked;
  fault.kernel_convention = kernel;
  return fault;
}

std::vector<Fault> choices_missing() {
  return {
      {.name = "no_eps_in_heights_of_areas",
       .family = FaultFamily::eps,
       .summary = "eps were left out of the heights in the areas",
       .edits = {{"pair.ph = pair.height, th = th + eps;", "(void)eps;"}},
       .dtypes = {Dtype::f32, Dtype::f64, Dtype::f16},
       .elsewhere = "less than the rounding of bf16 storage",
       .convention = "ultralytics"},
      {.name = "alpha_not_gated",
       .family = FaultFamily::branch,
       .summary = "alpha were not gated by the IoU",
       .pass = Pass::forward,
       .edits = {{"(iou_value > C(0.5) ? C(1) : C(0)) * ", ""}},
       .outputs = {"loss[0]", "alpha[0]"},
       .convention = "mmdetection"},
      {.name = "alpha_gated_the_other_way",
       .family = FaultFamily::branch,
       .summary = "alpha were gated below IoU 0.5 instead of above",
       .pass = Pass::forward,
       .edits = {{"iou_value > C(0.5)", "iou_value < C(0.5)"}},
       .outputs = {"loss[0]", "alpha[0]"},
       .convention = "mmdetection"},
      {.name = "eps_of_alpha_in_the_gated_one",
       .family = FaultFamily::eps,
       .summary = "1e-3 stood in alpha's denominator",
       .pass = Pass::forward,
       .edits = {{"(v_value / (one_minus_iou + v_value))",
                  "(v_value / (one_minus_iou + v_value + C(1e-3)))"}},
       .outputs = {"loss[0]", "alpha[0]"},
       .convention = "mmdetection"},
      {.name = "eps_a_hundredfold",
       .family = FaultFamily::eps,
       .summary = "eps were 1e-7 instead of 1e-9",
       .edits = {{"kEps = 1e-9", "kEps = 1e-7"}},
       .convention = "paddle"},
      {.name = "union_eps_once",
       .family = FaultFamily::eps,
       .summary = "eps stood in the union once instead of twice",
       .edits = {{"pair.united = pair.united + eps;", "(void)eps;"}},
       .convention = "keras"},
      {.name = "constant_squared_in_values_alone",
       .family = FaultFamily::inconsistent,
       .summary = "4/pi^2 were squared in the values and not in the gradient",
       .edits = {{"by_v = by_v * CiouConstants<C>::kFourOverPiSquared;", "(void)by_v;"}},
       .outputs = {"d_pred[2]", "d_pred[3]"},
       .convention = "keras"},
  };
}

}  // namespace

std::vector<Fault> ciou_convention_faults() {
  std::vector<Fault> all = choices_missing();
  for (const CiouConvention& kernel : ciou_conventions()) {
    for (const CiouConvention& checked : ciou_conventions()) {
      if (kernel.name == checked.name) continue;
      for (const Pass pass : {Pass::forward, Pass::backward})
        all.push_back(taken_for(kernel.name, checked.name, pass));
    }
  }
  return all;
}

}  // namespace lossgrad
// NOLINTEND(readability-function-size)
