// SPDX-License-Identifier: Apache-2.0
#include "losses/ciou/ciou_kernel.hpp"

#include <array>

#include "base/error.hpp"
#include "embedded/losses_text.hpp"
#include "losses/entry_point.hpp"
#include "losses/named.hpp"
#include "losses/storage_source.hpp"

namespace lossgrad {
namespace {

constexpr std::array kConventions = {
    CiouConvention{"yolo", "eps 1e-7 in union, diagonal, heights and alpha; alpha carries a gradient", "",
                   1e-7, true},
    // github.com/pytorch/vision, torchvision/ops/ciou_loss.py
    CiouConvention{"torchvision",
                   "eps 1e-7 in union, diagonal and alpha, plain aspect ratios; alpha is held fixed", "", 0,
                   false},
    // github.com/ultralytics/ultralytics, ultralytics/utils/metrics.py, bbox_iou(xywh=False, CIoU=True): the
    // path that its training takes. Loss 1 - CIoU.
    CiouConvention{.name = "ultralytics",
                   .summary = "eps 1e-7; heights with eps in the areas too; alpha is held fixed",
                   .kernel_choices = "CiouUltralytics",
                   .aspect_eps = 1e-7,
                   .alpha_through = false,
                   .alpha_eps_first = true,
                   .eps_in_areas = true},
    // github.com/open-mmlab/mmdetection, mmdet/models/losses/iou_loss.py since 08/2021 (pull request 5835):
    // ciou_loss with the eps of class CIoULoss.
    CiouConvention{
        .name = "mmdetection",
        .summary = "eps 1e-6, none in alpha, which is held fixed and 0 unless iou > 0.5; loss clamped",
        .kernel_choices = "CiouMmdetection",
        .aspect_eps = 1e-6,
        .alpha_through = false,
        .eps = 1e-6,
        .alpha_eps = 0,
        .enclosing_clamped = true,
        .alpha_gated = true,
        .loss_clamped = true},
    // github.com/PaddlePaddle/PaddleDetection, ppdet/modeling/bbox_utils.py, bbox_iou(ciou=True) of 2.x. Loss
    // 1 - CIoU.
    CiouConvention{.name = "paddle",
                   .summary = "eps 1e-9, lost in alpha below f64; areas at least 0; alpha is held fixed",
                   .kernel_choices = "CiouPaddle",
                   .aspect_eps = 1e-9,
                   .alpha_through = false,
                   .eps = 1e-9,
                   .alpha_eps = 1e-9,
                   .alpha_eps_first = true,
                   .areas_clamped = true},
    // github.com/keras-team/keras-cv, keras_cv/src/bounding_box/iou.py, compute_ciou; keras-hub and keras
    // alike until keras-team/keras pull request 20784 (01/2025) took the constant out of the square.
    CiouConvention{.name = "keras",
                   .summary =
                       "keras-cv, keras before 2025: (4/pi^2)^2 in v; eps in the areas' heights, twice in "
                       "the union; alpha carries a gradient",
                   .kernel_choices = "CiouKeras",
                   .aspect_eps = 1e-7,
                   .alpha_through = true,
                   .alpha_eps_first = true,
                   .union_eps_twice = true,
                   .eps_in_areas = true,
                   .constant_squared = true},
};

std::string flag(bool value) { return value ? "true" : "false"; }

// What the entry point adds to the constants for the choices that are not the contract's.
std::string choices(const CiouConvention& convention) {
  return convention.kernel_choices.empty() ? "" : ", " + std::string(convention.kernel_choices);
}

Kernel::Parts common_parts(Pass pass, Dtype dtype, int block_n, const CiouConvention& convention) {
  if (block_n < 32 || block_n > 1024 || block_n % 32 != 0) {
    throw Error(ErrorKind::usage, "--block-n: found " + std::to_string(block_n) +
                                      ", expected a multiple of 32 from 32 to 1024");
  }
  Kernel::Parts parts;
  parts.name = pass == Pass::forward ? "yolo_ciou_loss_forward" : "yolo_ciou_loss_backward";
  parts.pass = pass;
  parts.dtype = dtype;
  parts.constants = {{"block_n", block_n}};
  if (convention.name != kConventions[0].name) parts.variants = {std::string(convention.name)};
  parts.kernel_source = storage_source(dtype) + std::string(losses_text::ciou_kernels_cuh());
  parts.launch = {"N", static_cast<std::uint32_t>(block_n), static_cast<std::uint32_t>(block_n)};
  return parts;
}

Kernel::Parts forward_parts(Dtype dtype, int block_n, const CiouConvention& convention) {
  Kernel::Parts parts = common_parts(Pass::forward, dtype, block_n, convention);
  parts.arguments = {{"pred", ArgumentRole::input, {"4", "N"}},
                     {"target", ArgumentRole::constant, {"4", "N"}},
                     {"loss", ArgumentRole::output, {"N"}},
                     {"iou", ArgumentRole::saved, {"N"}},
                     {"v", ArgumentRole::saved, {"N"}},
                     {"alpha", ArgumentRole::saved, {"N"}},
                     {"N", ArgumentRole::size, {}}};
  parts.entry_point_source = entry_point_source(
      parts, std::to_string(block_n) + ", " + flag(convention.aspect_eps != 0) + choices(convention));
  return parts;
}

Kernel::Parts backward_parts(Dtype dtype, int block_n, const CiouConvention& convention) {
  Kernel::Parts parts = common_parts(Pass::backward, dtype, block_n, convention);
  parts.arguments = {{"dy", ArgumentRole::upstream, {"N"}},
                     {"pred", ArgumentRole::input, {"4", "N"}},
                     {"target", ArgumentRole::constant, {"4", "N"}},
                     {"iou", ArgumentRole::saved, {"N"}},
                     {"v", ArgumentRole::saved, {"N"}},
                     {"alpha", ArgumentRole::saved, {"N"}},
                     {"d_pred", ArgumentRole::gradient, {"4", "N"}},
                     {"N", ArgumentRole::size, {}}};
  parts.entry_point_source =
      entry_point_source(parts, std::to_string(block_n) + ", " + flag(convention.aspect_eps != 0) + ", " +
                                    flag(convention.alpha_through) + choices(convention));
  return parts;
}

}  // namespace

std::span<const CiouConvention> ciou_conventions() { return kConventions; }

const CiouConvention& find_ciou_convention(std::string_view name) {
  return find_named(kConventions, "convention", name);
}

const BlockInfo& ciou_block() {
  static const BlockInfo block{"block_n",
                               "boxes and threads of a block: multiples of 32 from 32 to 1024 (default 256)"};
  return block;
}

YoloCiouLossForward::YoloCiouLossForward(Dtype dtype, int block_n, const CiouConvention& convention)
    : Kernel(forward_parts(dtype, block_n, convention)) {}

YoloCiouLossBackward::YoloCiouLossBackward(Dtype dtype, int block_n, const CiouConvention& convention)
    : Kernel(backward_parts(dtype, block_n, convention)) {}

}  // namespace lossgrad
