// SPDX-License-Identifier: Apache-2.0
// What the conventions do at their gates, at their clamps and with their eps.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "losses/ciou/ciou.hpp"
#include "losses/ciou/ciou_kernel.hpp"
#include "losses/loss.hpp"

namespace lossgrad {
namespace {

Items one_pair(const std::vector<double>& pred, const std::vector<double>& target) {
  Items items;
  items.count = 1;
  items.values["pred"] = pred;
  items.values["target"] = target;
  items.values["dy"] = {1};
  return items;
}

Reference evaluated(const Items& items, Pass pass, Dtype dtype, const std::string& convention) {
  Reference reference;
  find_loss("ciou").evaluate({pass, dtype, convention}, items, reference);
  return reference;
}

double forward_value(const Items& items, const std::string& convention, const std::string& output) {
  return evaluated(items, Pass::forward, Dtype::f64, convention).at(output).sharp_low[0];
}

// d loss / d (w or h) of pred in double, with the gate as it is there.
double gradient_in_double(const Items& items, std::size_t component) {
  return find_loss("ciou").oracles("mmdetection", items, 0).closed[component];
}

// Half of the target's height: an IoU of 0.5 - 1.25e-13.
Items at_the_gate(double height) { return one_pair({0, 0, 2000, height}, {0, 0, 2000, 2000}); }

TEST(CiouConventions, TheValueJumpsAtTheGate) {
  const Reference forward = evaluated(at_the_gate(1000), Pass::forward, Dtype::f32, "mmdetection");
  const ReferenceValues &alpha = forward.at("alpha"), &loss = forward.at("loss"), &v = forward.at("v");
  const double open_alpha = v.low[0] / (0.5 + v.low[0]);
  EXPECT_EQ(alpha.low[0], 0);
  EXPECT_NEAR(alpha.high[0], open_alpha, 1e-6);
  EXPECT_NEAR(loss.high[0] - loss.low[0], open_alpha * v.low[0], 1e-6);
  EXPECT_NE(alpha.flags[0] & kKink, 0);
  EXPECT_NE(loss.flags[0] & kKink, 0);
  EXPECT_EQ(v.flags[0] & kKink, 0);
  EXPECT_EQ(forward.at("iou").flags[0] & kKink, 0);
  EXPECT_LT(alpha.bound[0], 1e-5) << "the hull is wide, the bound is not";
}

TEST(CiouConventions, AwayFromTheGateItIsDecided) {
  for (const double height : {999.0, 1001.0}) {
    const Reference forward = evaluated(at_the_gate(height), Pass::forward, Dtype::f32, "mmdetection");
    EXPECT_EQ(forward.at("alpha").flags[0] & kKink, 0) << height;
    EXPECT_EQ(forward.at("alpha").low[0] > 0, height > 1000);
  }
  EXPECT_EQ(forward_value(at_the_gate(1000), "mmdetection", "alpha"), 0) << "f64 tells it from 0.5";
}

// Both sides of the gate, and what lies between them.
TEST(CiouConventions, GradientsAtTheGateHoldBothSides) {
  const Reference backward = evaluated(at_the_gate(1000), Pass::backward, Dtype::f32, "mmdetection");
  const ReferenceValues& d = backward.at("d_pred");
  const double below = gradient_in_double(at_the_gate(1000), 3);
  const double above = gradient_in_double(at_the_gate(1000.000001), 3);
  ASSERT_GT(std::abs(above - below), 5e-6);
  EXPECT_NE(d.flags[3] & kKink, 0);
  EXPECT_LE(d.low[3], std::min(above, below) + d.bound[3]);
  EXPECT_GE(d.high[3], std::max(above, below) - d.bound[3]);
  EXPECT_LT(d.high[3] - d.low[3], 1.01 * std::abs(above - below) + 4 * d.bound[3]);
}

// A saved iou in f16 may be on the other side: kernels that take alpha from it again are right as well.
TEST(CiouConventions, RoundingOfTheSavedIouReachesTheGate) {
  const Items items = at_the_gate(1000.1);
  EXPECT_EQ(evaluated(items, Pass::backward, Dtype::f32, "mmdetection").at("d_pred").flags[3] & kKink, 0);
  EXPECT_NE(evaluated(items, Pass::backward, Dtype::f16, "mmdetection").at("d_pred").flags[3] & kKink, 0);
}

// Boxes turned inside out: the enclosing sides are 0, the distance over eps is far beyond the clamp.
TEST(CiouConventions, NoGradientPassesTheClamp) {
  const Items items = one_pair({0, 0, -2, -2}, {1, 0, -2, -2});
  EXPECT_EQ(forward_value(items, "mmdetection", "loss"), 2);
  EXPECT_GT(forward_value(items, "yolo", "loss"), 1);
  const Reference backward = evaluated(items, Pass::backward, Dtype::f32, "mmdetection");
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_EQ(backward.at("d_pred").low[c], 0) << c;
    EXPECT_EQ(backward.at("d_pred").high[c], 0) << c;
  }
}

TEST(CiouConventions, IdenticalBoxesAreAKinkWithZeroInItsHull) {
  const Items items = one_pair({5, 5, 20, 10}, {5, 5, 20, 10});
  for (const CiouConvention& convention : ciou_conventions()) {
    const Reference backward = evaluated(items, Pass::backward, Dtype::f32, std::string(convention.name));
    for (std::size_t c = 0; c < 4; ++c) {
      EXPECT_NE(backward.at("d_pred").flags[c] & kKink, 0) << convention.name << c;
      EXPECT_LE(backward.at("d_pred").low[c], 0) << convention.name << c;
      EXPECT_GE(backward.at("d_pred").high[c], 0) << convention.name << c;
    }
  }
}

// 0/0 where eps is missing from alpha or lost in 1 + eps: NaN is right there, and so is any fraction.
TEST(CiouConventions, AlphaOfIdenticalBoxesMayBeNanWithoutItsEps) {
  const Items items = one_pair({5, 5, 20, 10}, {5, 5, 20, 10});
  const auto flags = [&](const std::string& convention, Dtype dtype) {
    return evaluated(items, Pass::forward, dtype, convention).at("alpha").flags[0];
  };
  for (const char* convention : {"yolo", "torchvision", "ultralytics", "keras"})
    EXPECT_EQ(flags(convention, Dtype::f32) & kOutOfRange, 0) << convention;
  for (const char* convention : {"mmdetection", "paddle"})
    EXPECT_NE(flags(convention, Dtype::f32) & kOutOfRange, 0) << convention;
  EXPECT_EQ(flags("paddle", Dtype::f64) & kOutOfRange, 0);
  for (const char* convention : {"mmdetection", "paddle"}) {
    const Reference forward = evaluated(items, Pass::forward, Dtype::f32, convention);
    EXPECT_LE(forward.at("alpha").bound[0], 1.01) << convention;
    EXPECT_LT(forward.at("loss").bound[0], 1e-5) << convention;
  }
}

// Areas of the size of eps, apart by half a side.
TEST(CiouConventions, EpsIsWhereItBelongs) {
  const double side = 0x1p-10;
  const Items items = one_pair({0, 0, side, side}, {side / 2, 0, side, 2 * side});
  const double inter = side * side / 2;
  const auto iou = [&](const std::string& convention) { return forward_value(items, convention, "iou"); };
  const double areas = 3 * side * side;
  EXPECT_NEAR(iou("yolo"), inter / (areas - inter + 1e-7), 1e-14);
  EXPECT_NEAR(iou("torchvision"), inter / (areas - inter + 1e-7), 1e-14);
  EXPECT_NEAR(iou("ultralytics"), inter / (areas + 2e-7 * side - inter + 1e-7), 1e-14);
  EXPECT_NEAR(iou("mmdetection"), inter / (areas - inter + 1e-6), 1e-14);
  EXPECT_NEAR(iou("paddle"), inter / (areas - inter + 1e-9), 1e-14);
  EXPECT_NEAR(iou("keras"), inter / (areas + 2e-7 * side - inter + 2e-7), 1e-14);
  const double v = forward_value(items, "ultralytics", "v");
  EXPECT_NEAR(forward_value(items, "keras", "v"), v * kFourOverPiSquared, 1e-14);
}

}  // namespace
}  // namespace lossgrad
