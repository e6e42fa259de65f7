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
    CiouConvention{"yolo", "eps 1e-7 in union, diagonal, heights and alpha; alpha carries a gradient", 1e-7,
                   true},
    CiouConvention{"torchvision",
                   "eps 1e-7 in union, diagonal and alpha, plain aspect ratios; alpha is held fixed", 0,
                   false},
};

std::string flag(bool value) { return value ? "true" : "false"; }

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
  parts.entry_point_source =
      entry_point_source(parts, std::to_string(block_n) + ", " + flag(convention.aspect_eps != 0));
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
                                    flag(convention.alpha_through));
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
