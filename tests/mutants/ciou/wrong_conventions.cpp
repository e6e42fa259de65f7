// SPDX-License-Identifier: Apache-2.0
// Kernels of one convention where another is checked, and conventions with one choice missing.
#include "mutants/ciou/ciou_wrong_kernels.hpp"

namespace lossgrad::mutants {
namespace {

constexpr Pass kForward = Pass::forward;

// The kernel of another convention.
WrongKernel kernel_of(const std::string& other, const std::string& checked, Pass pass,
                      const std::vector<Dtype>& dtypes) {
  return {.name = checked + (pass == kForward ? "_values" : "") + "_by_the_kernel_of_" + other,
          .pass = pass,
          .dtypes = dtypes,
          .convention = checked,
          .kernel_convention = other};
}

std::vector<WrongKernel> exchanged() {
  return {
      kernel_of("yolo", "ultralytics", Pass::backward, kEveryDtype),
      kernel_of("torchvision", "ultralytics", Pass::backward, kEveryDtype),
      kernel_of("paddle", "ultralytics", kForward, kEveryDtype),
      kernel_of("ultralytics", "mmdetection", Pass::backward, kEveryDtype),
      kernel_of("paddle", "mmdetection", kForward, kEveryDtype),
      kernel_of("ultralytics", "paddle", Pass::backward, kEveryDtype),
      kernel_of("mmdetection", "paddle", kForward, kEveryDtype),
      kernel_of("yolo", "keras", Pass::backward, kEveryDtype),
      kernel_of("ultralytics", "keras", kForward, kEveryDtype),
      kernel_of("keras", "yolo", Pass::backward, kEveryDtype),
      kernel_of("ultralytics", "torchvision", Pass::backward, kEveryDtype),
  };
}

std::vector<WrongKernel> choices_missing() {
  return {
      {.name = "no_eps_in_heights_of_areas",
       .text = {{}, {{"pair.ph = pair.height, th = th + eps;", "(void)eps;"}}},
       .dtypes = kWideDtypes,
       .convention = "ultralytics"},
      {.name = "alpha_not_gated",
       .pass = kForward,
       .text = {{}, {{"(iou_value > C(0.5) ? C(1) : C(0)) * ", ""}}},
       .outputs = {"loss[0]", "alpha[0]"},
       .dtypes = kEveryDtype,
       .convention = "mmdetection"},
      {.name = "alpha_gated_the_other_way",
       .pass = kForward,
       .text = {{}, {{"iou_value > C(0.5)", "iou_value < C(0.5)"}}},
       .outputs = {"loss[0]", "alpha[0]"},
       .dtypes = kEveryDtype,
       .convention = "mmdetection"},
      {.name = "eps_of_alpha_in_the_gated_one",
       .pass = kForward,
       .text = {{},
                {{"(v_value / (one_minus_iou + v_value))",
                  "(v_value / (one_minus_iou + v_value + C(1e-3)))"}}},
       .outputs = {"loss[0]", "alpha[0]"},
       .dtypes = kWideDtypes,
       .convention = "mmdetection"},
      {.name = "eps_a_hundredfold",
       .text = {{}, {{"kEps = 1e-9", "kEps = 1e-7"}}},
       .dtypes = kEveryDtype,
       .convention = "paddle"},
      {.name = "union_eps_once",
       .text = {{}, {{"pair.united = pair.united + eps;", "(void)eps;"}}},
       .dtypes = kEveryDtype,
       .convention = "keras"},
      {.name = "constant_squared_in_values_alone",
       .text = {{}, {{"by_v = by_v * CiouConstants<C>::kFourOverPiSquared;", "(void)by_v;"}}},
       .outputs = {"d_pred[2]", "d_pred[3]"},
       .dtypes = kEveryDtype,
       .convention = "keras"},
  };
}

}  // namespace

std::vector<WrongKernel> wrong_convention_kernels() {
  std::vector<WrongKernel> all = exchanged();
  for (WrongKernel& kernel : choices_missing()) all.push_back(std::move(kernel));
  return all;
}

}  // namespace lossgrad::mutants
