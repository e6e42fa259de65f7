// SPDX-License-Identifier: Apache-2.0
// Properties of the reference: two forms agree, the bound holds for plain float code in either form, hulls
// hold every one-sided derivative, non-finite inputs reach what depends on them.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "losses/ciou/ciou.hpp"
#include "losses/ciou/ciou_kernel.hpp"
#include "losses/loss.hpp"
#include "math/dual.hpp"

namespace lossgrad {

// Plain float arithmetic for the templated formula: what a straightforward f32 implementation does.
struct F {
  float value = 0;
  F() = default;
  F(double exact) : value(static_cast<float>(exact)) {}  // NOLINT
  friend F operator+(F a, F b) { return make(a.value + b.value); }
  friend F operator-(F a, F b) { return make(a.value - b.value); }
  friend F operator-(F a) { return make(-a.value); }
  friend F operator*(F a, F b) { return make(a.value * b.value); }
  friend F operator*(F a, double b) { return make(a.value * static_cast<float>(b)); }
  friend F operator/(F a, F b) { return make(a.value / b.value); }
  static F make(float v) {
    F f;
    f.value = v;
    return f;
  }
  friend F min_of(F a, F b) { return make(a.value < b.value ? a.value : b.value); }
  friend F max_of(F a, F b) { return make(a.value > b.value ? a.value : b.value); }
  friend F abs_of(F a) { return make(std::fabs(a.value)); }
  friend F atan_of(F a) { return make(std::atan(a.value)); }
  friend F indicator_less(F a, F b) { return make(a.value < b.value ? 1.0f : 0.0f); }
};

namespace {

struct PlainCode {
  std::array<double, 4> gradient;
  double loss, iou, v, alpha;
};

PlainCode plain_float_code(const Items& items, std::size_t i, CiouForm form,
                           const CiouConvention& convention) {
  const auto n = static_cast<std::size_t>(items.count);
  const auto box = [&](const std::string& argument) {
    const auto values = items.at(argument);
    return CiouBox<F>{values[i], values[n + i], values[2 * n + i], values[3 * n + i]};
  };
  const auto pred = box("pred");
  const auto r = ciou_values(pred, box("target"), convention, form, true);
  const auto d =
      ciou_gradient(pred, r, ciou_factors(pred, r, r.iou, r.alpha, convention), F(items.at("dy")[i]));
  return {
      {d.cx.value, d.cy.value, d.w.value, d.h.value}, r.loss.value, r.iou.value, r.v.value, r.alpha.value};
}

double usage(double got, double low, double high, double bound) {
  if (std::isnan(got)) return std::numeric_limits<double>::infinity();
  const double error = got < low ? low - got : got > high ? got - high : 0;
  return error == 0 ? 0 : error / bound;
}

class Conventions : public testing::TestWithParam<std::string> {};

TEST_P(Conventions, PlainFloatCodeInEitherFormStaysWithinItsBound) {
  const CiouConvention& convention = find_ciou_convention(GetParam());
  const Loss& loss = find_loss("ciou");
  for (const ScenarioInfo& scenario : loss.scenarios()) {
    if (scenario.name == "non_finite") continue;  // the comparison's rules decide there
    Items items;
    items.count = 4000;
    loss.generate(scenario.name, Dtype::f32, 3, items);
    Reference forward, backward;
    loss.evaluate({Pass::forward, Dtype::f32, GetParam()}, items, forward);
    loss.evaluate({Pass::backward, Dtype::f32, GetParam()}, items, backward);
    const ReferenceValues& d = backward["d_pred"];
    const ReferenceValues& l = forward["loss"];
    for (std::size_t i = 0; i < 4000; ++i) {
      const auto corner = plain_float_code(items, i, CiouForm::corner, convention);
      const auto centre = plain_float_code(items, i, CiouForm::centre, convention);
      if (std::isfinite(l.low[i])) {
        EXPECT_LE(usage(corner.loss, l.low[i], l.high[i], l.bound[i]), 1) << scenario.name << i;
        EXPECT_LE(usage(centre.loss, l.sharp_low[i], l.sharp_high[i], l.sharp_bound[i]), 1)
            << scenario.name << i;
        EXPECT_LE(usage(centre.loss, l.low[i], l.high[i], l.bound[i]), 1) << scenario.name << i;
      }
      for (std::size_t c = 0; c < 4; ++c) {
        const std::size_t e = c * 4000 + i;
        if ((d.flags[e] & kOutOfRange) != 0 || !std::isfinite(d.low[e])) continue;
        EXPECT_LE(usage(corner.gradient[c], d.low[e], d.high[e], d.bound[e]), 1)
            << scenario.name << i << ' ' << c;
        EXPECT_LE(usage(centre.gradient[c], d.sharp_low[e], d.sharp_high[e], d.sharp_bound[e]), 1)
            << scenario.name << i << ' ' << c;
        EXPECT_LE(usage(centre.gradient[c], d.low[e], d.high[e], d.bound[e]), 1)
            << scenario.name << i << ' ' << c;
      }
    }
  }
}

std::vector<std::string> convention_names() {
  std::vector<std::string> names;
  for (const CiouConvention& convention : ciou_conventions()) names.emplace_back(convention.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Ciou, Conventions, testing::ValuesIn(convention_names()),
                         [](const auto& instance) { return instance.param; });

// Corner arithmetic loses whole overlaps (thin boxes at coordinate 640: no bound exists); the accurate form
// does not.
TEST(CiouReference, AlmostEveryElementHasAFiniteBound) {
  const Loss& loss = find_loss("ciou");
  for (const ScenarioInfo& scenario : loss.scenarios()) {
    if (scenario.name == "non_finite") continue;  // the comparison's rules decide there
    Items items;
    items.count = 4000;
    loss.generate(scenario.name, Dtype::f32, 4, items);
    Reference backward;
    loss.evaluate({Pass::backward, Dtype::f32, "yolo"}, items, backward);
    int unbounded = 0, sharp_unbounded = 0;
    for (const double bound : backward["d_pred"].bound) unbounded += std::isinf(bound) ? 1 : 0;
    for (const double bound : backward["d_pred"].sharp_bound) sharp_unbounded += std::isinf(bound) ? 1 : 0;
    EXPECT_LE(unbounded, 400) << scenario.name;
    EXPECT_LE(sharp_unbounded, 16) << scenario.name;
  }
}

// Differences of the double value to either side lie within the hull.
TEST(CiouReference, OneSidedDerivativesLieInTheHull) {
  const Loss& loss = find_loss("ciou");
  Items items;
  items.count = 2000;
  loss.generate("touching", Dtype::f64, 5, items);
  items.values["dy"].assign(2000, 1.0);
  Reference backward;
  loss.evaluate({Pass::backward, Dtype::f64, "yolo"}, items, backward);
  const ReferenceValues& d = backward["d_pred"];
  int kinks = 0;
  for (std::int64_t i = 0; i < 2000; ++i) {
    std::vector<double> point;
    for (std::size_t c = 0; c < 4; ++c)
      point.push_back(items.at("pred")[c * 2000 + static_cast<std::size_t>(i)]);
    for (std::size_t c = 0; c < 4; ++c) {
      const std::size_t e = c * 2000 + static_cast<std::size_t>(i);
      kinks += (d.flags[e] & kKink) != 0 ? 1 : 0;
      const double h = 1e-6 * (std::abs(point[2]) + std::abs(point[3]));
      for (const double step : {h, -h}) {
        auto moved = point;
        moved[c] += step;
        const double slope =
            (loss.value_at("yolo", items, i, moved) - loss.value_at("yolo", items, i, point)) /
            (moved[c] - point[c]);
        const double slack = 1e-5 * (std::abs(d.low[e]) + std::abs(d.high[e]) + 1 / point[2] + 1 / point[3]);
        EXPECT_GE(slope, d.low[e] - slack) << i << ' ' << c;
        EXPECT_LE(slope, d.high[e] + slack) << i << ' ' << c;
      }
    }
  }
  EXPECT_GT(kinks, 1000);
}

TEST(CiouReference, NonFiniteInputsReachWhatDependsOnThem) {
  Items items;
  items.count = 2;
  items.values["pred"] = {std::numeric_limits<double>::quiet_NaN(), 5, 2, 5, 2, 4, 3, 2};
  items.values["target"] = {2.75, 5.625, 2, 5.625, 3, 3, 3.5, 3};
  items.values["dy"] = {1, 1};
  Reference forward, backward;
  find_loss("ciou").evaluate({Pass::forward, Dtype::f32, "yolo"}, items, forward);
  find_loss("ciou").evaluate({Pass::backward, Dtype::f32, "yolo"}, items, backward);
  EXPECT_TRUE(std::isnan(forward["loss"].low[0]));
  EXPECT_TRUE(std::isnan(forward["iou"].low[0]));
  EXPECT_TRUE(std::isfinite(forward["v"].low[0])) << "v does not depend on the centre";
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_TRUE(std::isnan(backward["d_pred"].low[2 * c])) << c;
    EXPECT_TRUE(std::isfinite(backward["d_pred"].low[2 * c + 1])) << c;
  }
}

TEST(CiouReference, DyZeroLeavesNoKink) {
  Items items;
  items.count = 1;
  items.values["pred"] = items.values["target"] = {1, 1, 2, 2};
  items.values["dy"] = {0};
  Reference backward;
  find_loss("ciou").evaluate({Pass::backward, Dtype::f32, "yolo"}, items, backward);
  for (std::size_t c = 0; c < 4; ++c) {
    EXPECT_EQ(backward["d_pred"].low[c], 0);
    EXPECT_EQ(backward["d_pred"].high[c], 0);
    EXPECT_EQ(backward["d_pred"].flags[c] & kKink, 0);
  }
}

// Corner contact: the overlap is 0 * 0, so either branch has the same gradient.
TEST(CiouReference, CornerContactIsNoKink) {
  Items items;
  items.count = 1;
  items.values["pred"] = {0, 0, 2, 2};
  items.values["target"] = {2, 2, 2, 2};
  items.values["dy"] = {1};
  Reference backward;
  find_loss("ciou").evaluate({Pass::backward, Dtype::f64, "yolo"}, items, backward);
  for (std::size_t c = 0; c < 4; ++c) EXPECT_EQ(backward["d_pred"].flags[c] & kKink, 0) << c;
}

}  // namespace
}  // namespace lossgrad
