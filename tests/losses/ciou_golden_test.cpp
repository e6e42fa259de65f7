// SPDX-License-Identifier: Apache-2.0
// The reference against values computed elsewhere in 160-digit arithmetic.
#include <cmath>

#include <gtest/gtest.h>

#include "losses/ciou/ciou.hpp"
#include "losses/ciou_golden_cases.hpp"
#include "losses/loss.hpp"

namespace lossgrad {
namespace {

using golden::number;

void expect_close(double got, double right, const std::string& what) {
  if (std::isnan(right)) {
    EXPECT_TRUE(std::isnan(got)) << what;
    return;
  }
  EXPECT_NEAR(got, right, 1e-9 * std::abs(right) + 1e-15) << what;
}

std::string label(const nlohmann::json& entry, const std::string& what, std::size_t i) {
  return entry.at("id").get<std::string>() + " " + what + " " + std::to_string(i);
}

TEST(CiouGolden, ForwardValues) {
  ASSERT_EQ(golden::listed_cases().size(), 20u);
  for (const auto& entry : golden::listed_cases()) {
    const Items items = golden::items_of(entry);
    Reference reference;
    find_loss("ciou").evaluate({Pass::forward, Dtype::f64, "yolo"}, items, reference);
    for (const char* output : {"loss", "iou", "v", "alpha"}) {
      const auto right = golden::flat(entry.at("expected").at(output));
      for (std::size_t i = 0; i < right.size(); ++i) {
        expect_close(reference[output].sharp_low[i], right[i], label(entry, output, i));
      }
    }
  }
}

TEST(CiouGolden, GradientsWhereTheyAreUnique) {
  for (const auto& entry : golden::listed_cases()) {
    const Items items = golden::items_of(entry);
    Reference reference;
    find_loss("ciou").evaluate({Pass::backward, Dtype::f64, "yolo"}, items, reference);
    const auto right = golden::flat(entry.at("expected").at("d_pred"));
    for (std::size_t e = 0; e < right.size(); ++e) {
      const ReferenceValues& d = reference["d_pred"];
      if (d.sharp_high[e] > d.sharp_low[e]) {
        EXPECT_TRUE(entry.at("expected").contains("set")) << label(entry, "d_pred", e);
        EXPECT_LE(d.sharp_low[e], right[e] + 1e-12);
        EXPECT_GE(d.sharp_high[e], right[e] - 1e-12);
      } else {
        expect_close(d.sharp_low[e], right[e], label(entry, "d_pred", e));
      }
    }
  }
}

// The hull over undecided branches is the set that the cases name, component by component.
TEST(CiouGolden, HullsAtKinks) {
  int sets = 0;
  for (const auto& entry : golden::listed_cases()) {
    if (!entry.at("expected").contains("set")) continue;
    const Items items = golden::items_of(entry);
    Reference reference;
    find_loss("ciou").evaluate({Pass::backward, Dtype::f64, "yolo"}, items, reference);
    const ReferenceValues& d = reference["d_pred"];
    for (const auto& set : entry.at("expected").at("set")) {
      const auto column = set.at("column").get<std::size_t>();
      for (std::size_t c = 0; c < 4; ++c) {
        const std::size_t e = c * static_cast<std::size_t>(items.count) + column;
        expect_close(d.low[e], number(set.at("componentwise_lo").at(c)), label(entry, "low", c));
        expect_close(d.high[e], number(set.at("componentwise_hi").at(c)), label(entry, "high", c));
      }
      ++sets;
    }
  }
  EXPECT_GE(sets, 4);
}

// The cases give the gradient with alpha held fixed too, with eps in the aspect ratios: a mixture of our
// conventions.
TEST(CiouGolden, GradientsWithAlphaHeldFixed) {
  using T = RunningError<Dtype::f64>;
  const CiouConvention fixed{"fixed", "", "", kCiouEps, false};
  std::size_t compared = 0;
  for (const auto& entry : golden::listed_cases()) {
    const auto& expected = entry.at("expected");
    if (!expected.contains("d_pred_alpha_detached") || expected.contains("set")) continue;
    const Items items = golden::items_of(entry);
    const auto n = static_cast<std::size_t>(items.count);
    const auto right = golden::flat(expected.at("d_pred_alpha_detached"));
    const auto box = [&](const std::string& argument, std::size_t i) {
      const auto values = items.at(argument);
      return CiouBox<T>{values[i], values[n + i], values[2 * n + i], values[3 * n + i]};
    };
    for (std::size_t i = 0; i < n; ++i) {
      const auto pred = box("pred", i);
      const auto r = ciou_values(pred, box("target", i), fixed, CiouForm::centre, true);
      const auto d =
          ciou_gradient(pred, r, ciou_factors(pred, r, r.iou, r.alpha, fixed), T(items.at("dy")[i]));
      const std::array parts = {d.cx.value, d.cy.value, d.w.value, d.h.value};
      for (std::size_t c = 0; c < 4; ++c)
        expect_close(parts[c], right[c * n + i], label(entry, "detached", c));
    }
    compared += right.size();
  }
  EXPECT_GE(compared, 80u);
}

// 257 boxes given by formulas: one more than a block.
TEST(CiouGolden, TheCaseOf257Boxes) {
  const Items items = golden::items_of_257_boxes();
  const std::size_t n = 257;
  Reference forward, backward;
  find_loss("ciou").evaluate({Pass::forward, Dtype::f64, "yolo"}, items, forward);
  find_loss("ciou").evaluate({Pass::backward, Dtype::f64, "yolo"}, items, backward);
  double sum = 0;
  for (const double loss : forward["loss"].low) sum += loss;
  const nlohmann::json expected =
      golden::find_case(golden::load_ciou(), golden::kCaseOf257Boxes).at("expected");
  EXPECT_NEAR(sum, expected.at("loss_sum").get<double>(), 1e-9);
  ASSERT_GE(expected.at("columns").size(), 3u);
  for (const auto& [column, values] : expected.at("columns").items()) {
    const auto i = static_cast<std::size_t>(std::stoul(column));
    expect_close(forward["loss"].low[i], values.at("loss"), column);
    for (std::size_t c = 0; c < 4; ++c)
      expect_close(backward["d_pred"].sharp_low[c * n + i], values.at("d_pred").at(c), column);
  }
}

// Their numbers run to 23; 20 and 21 are left out (data/golden/README.md).
TEST(CiouGolden, EveryReportedCaseIsHere) {
  const auto all = golden::ids(golden::load_ciou());
  ASSERT_EQ(all.size(), 21u);
  int number = 0;
  for (const std::string& id : all) {
    number += number == 19 ? 3 : 1;
    EXPECT_EQ(id.rfind("ciou-h" + std::string(number < 10 ? "0" : "") + std::to_string(number) + '-', 0), 0u)
        << id;
  }
  EXPECT_EQ(golden::listed_cases().size() + 1, all.size());
}

}  // namespace
}  // namespace lossgrad
