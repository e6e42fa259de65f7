// SPDX-License-Identifier: Apache-2.0
// The two CIoU kernels as values. Forward (pred, target, loss, iou, v, alpha, N); backward (dy, pred, target,
// iou, v, alpha, d_pred, N). Boxes [4, N], the rest [N]; grid cdiv(N, BLOCK_N), BLOCK_N threads.
#pragma once

#include <span>

#include "kernel/kernel.hpp"
#include "losses/ciou/ciou.hpp"
#include "losses/loss.hpp"

namespace lossgrad {

// yolo (the default), torchvision, ultralytics, mmdetection, paddle, keras.
std::span<const CiouConvention> ciou_conventions();
// Throws ErrorKind::usage with the nearest names.
const CiouConvention& find_ciou_convention(std::string_view name);

inline constexpr int kCiouDefaultBlock = 256;
const BlockInfo& ciou_block();

// block_n: a multiple of 32 from 32 to 1024, else ErrorKind::usage.
class YoloCiouLossForward : public Kernel {
 public:
  explicit YoloCiouLossForward(Dtype dtype, int block_n = kCiouDefaultBlock,
                               const CiouConvention& convention = ciou_conventions()[0]);
  [[nodiscard]] int block_n() const { return static_cast<int>(constant("block_n")); }
};

class YoloCiouLossBackward : public Kernel {
 public:
  explicit YoloCiouLossBackward(Dtype dtype, int block_n = kCiouDefaultBlock,
                                const CiouConvention& convention = ciou_conventions()[0]);
  [[nodiscard]] int block_n() const { return static_cast<int>(constant("block_n")); }
};

}  // namespace lossgrad
