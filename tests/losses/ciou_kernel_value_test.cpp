// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "losses/ciou/ciou_kernel.hpp"
#include "losses/loss.hpp"

namespace lossgrad {
namespace {

std::string joined_arguments(const Kernel& kernel) {
  std::string text;
  for (const Argument& argument : kernel.arguments()) text += (text.empty() ? "" : ",") + argument.name;
  return text;
}

TEST(CiouKernel, NamesAreTheAbi) {
  const YoloCiouLossForward forward(Dtype::f32, 256);
  const YoloCiouLossBackward backward(Dtype::bf16, 96);
  EXPECT_EQ(forward.name(), "yolo_ciou_loss_forward");
  EXPECT_EQ(forward.id(), "yolo_ciou_loss_forward__f32__256");
  EXPECT_EQ(forward.entry_point_name(), "yolo_ciou_loss_forward_entry_point");
  EXPECT_EQ(joined_arguments(forward), "pred,target,loss,iou,v,alpha,N");
  EXPECT_EQ(backward.id(), "yolo_ciou_loss_backward__bf16__96");
  EXPECT_EQ(backward.block_n(), 96);
  EXPECT_EQ(joined_arguments(backward), "dy,pred,target,iou,v,alpha,d_pred,N");
  EXPECT_EQ(backward.source(), backward.kernel_source() + "\n\n" + backward.entry_point_source());
  EXPECT_NE(backward.entry_point_source().find("extern \"C\" __global__"), std::string::npos);
}

TEST(CiouKernel, ConventionsAppearInTheIdExceptTheDefault) {
  const YoloCiouLossBackward kernel(Dtype::f32, 256, find_ciou_convention("torchvision"));
  EXPECT_EQ(kernel.id(), "yolo_ciou_loss_backward__f32__256__torchvision");
  EXPECT_NE(kernel.entry_point_source(), YoloCiouLossBackward(Dtype::f32, 256).entry_point_source());
  EXPECT_THROW((void)find_ciou_convention("torchvison"), Error);
}

TEST(CiouKernel, EachConventionHasItsOwnSource) {
  std::set<std::string> forward, backward;
  for (const CiouConvention& convention : ciou_conventions()) {
    forward.insert(YoloCiouLossForward(Dtype::f32, 256, convention).entry_point_source());
    backward.insert(YoloCiouLossBackward(Dtype::f32, 256, convention).entry_point_source());
  }
  EXPECT_EQ(forward.size(), 6u);
  EXPECT_EQ(backward.size(), 6u);
}

TEST(CiouKernel, BlockIsAMultipleOf32From32To1024) {
  for (const int block : {0, -32, 31, 33, 1025, 1056, 2048}) {
    try {
      (void)YoloCiouLossForward(Dtype::f32, block);
      FAIL() << block;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
    }
  }
  for (int block = 32; block <= 1024; block += 32)
    EXPECT_EQ(YoloCiouLossForward(Dtype::f32, block).block_n(), block);
}

TEST(CiouKernel, LaunchShapeCoversEveryBox) {
  const YoloCiouLossForward kernel(Dtype::f32, 256);
  EXPECT_TRUE(kernel.launch_shape({{"N", 0}}).empty());
  EXPECT_EQ(kernel.launch_shape({{"N", 1}}).grid[0], 1u);
  EXPECT_EQ(kernel.launch_shape({{"N", 256}}).grid[0], 1u);
  EXPECT_EQ(kernel.launch_shape({{"N", 257}}).grid[0], 2u);
  EXPECT_EQ(kernel.launch_shape({{"N", 2147483647}}).grid[0], 8388608u);
}

TEST(CiouKernel, ContentHashCoversAllThatDecidesTheBinary) {
  const BuildTarget target{"nvrtc", "13.0", "sm_90", {"--std=c++17"}};
  std::set<std::string> hashes;
  const auto add = [&](const Kernel& kernel, const BuildTarget& build) {
    hashes.insert(kernel.content_hash(build));
  };
  add(YoloCiouLossForward(Dtype::f32, 256), target);
  add(YoloCiouLossForward(Dtype::f32, 256), target);
  EXPECT_EQ(hashes.size(), 1u) << "the same kernel has the same hash";
  add(YoloCiouLossForward(Dtype::f32, 128), target);
  add(YoloCiouLossForward(Dtype::f64, 256), target);
  add(YoloCiouLossBackward(Dtype::f32, 256), target);
  add(YoloCiouLossForward(Dtype::f32, 256, find_ciou_convention("torchvision")), target);
  add(YoloCiouLossForward(Dtype::f32, 256).with_kernel_source("// other"), target);
  for (BuildTarget other : {BuildTarget{"c++", "13.0", "sm_90", {"--std=c++17"}},
                            {"nvrtc", "13.1", "sm_90", {"--std=c++17"}},
                            {"nvrtc", "13.0", "sm_89", {"--std=c++17"}},
                            {"nvrtc", "13.0", "sm_90", {}}}) {
    add(YoloCiouLossForward(Dtype::f32, 256), other);
  }
  EXPECT_EQ(hashes.size(), 10u);
  EXPECT_EQ(hashes.begin()->size(), 32u);
}

TEST(Losses, UnknownNamesGetTheNearest) {
  try {
    (void)find_loss("cio");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_NE(std::string(error.what()).find("did you mean 'ciou'"), std::string::npos);
  }
}

}  // namespace
}  // namespace lossgrad
