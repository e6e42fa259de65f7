// SPDX-License-Identifier: Apache-2.0
// Exactly representable kinks: whatever a right kernel does at a tie is accepted (the derivative from either
// side along any axis, the midpoint, any mixture over the operations that tie), and what lies outside of the
// hull is rejected.
#include <array>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "check/comparison.hpp"
#include "losses/ciou/ciou.hpp"
#include "losses/ciou/ciou_kernel.hpp"
#include "losses/loss.hpp"

namespace lossgrad {

using Slopes = std::array<double, 4>;  // by pred's cx, cy, w, h

// The share of the first operand's derivative where two operands are equal.
using TieRule = std::function<double(const Slopes& first, const Slopes& second)>;

// A value with its derivatives, as automatic differentiation carries them, and a rule for ties.
struct Tied {
  double value = 0;
  Slopes slopes{};
  Tied() = default;
  Tied(double exact) : value(exact) {}  // NOLINT(google-explicit-constructor): the formula writes T(1.0)
  Tied(double exact, const Slopes& derivatives) : value(exact), slopes(derivatives) {}

  static const TieRule* rule;

  static Tied linear(double value, const Tied& a, double by_a, const Tied& b, double by_b) {
    Tied result(value);
    for (std::size_t c = 0; c < 4; ++c) result.slopes[c] = by_a * a.slopes[c] + by_b * b.slopes[c];
    return result;
  }
  friend Tied operator+(const Tied& a, const Tied& b) { return linear(a.value + b.value, a, 1, b, 1); }
  friend Tied operator-(const Tied& a, const Tied& b) { return linear(a.value - b.value, a, 1, b, -1); }
  friend Tied operator-(const Tied& a) { return linear(-a.value, a, -1, a, 0); }
  friend Tied operator*(const Tied& a, const Tied& b) {
    return linear(a.value * b.value, a, b.value, b, a.value);
  }
  friend Tied operator/(const Tied& a, const Tied& b) {
    return linear(a.value / b.value, a, 1 / b.value, b, -a.value / (b.value * b.value));
  }
  friend Tied chosen(bool first, const Tied& a, const Tied& b) {
    if (a.value != b.value) return first ? a : b;
    const double share = (*rule)(a.slopes, b.slopes);
    return linear(a.value, a, share, b, 1 - share);
  }
  friend Tied min_of(const Tied& a, const Tied& b) { return chosen(a.value < b.value, a, b); }
  friend Tied max_of(const Tied& a, const Tied& b) { return chosen(a.value > b.value, a, b); }
  friend Tied abs_of(const Tied& a) { return max_of(a, -a); }
  friend Tied atan_of(const Tied& a) {
    return linear(std::atan(a.value), a, 1 / (1 + a.value * a.value), a, 0);
  }
  friend Tied indicator_less(const Tied& a, const Tied& b) { return Tied(a.value < b.value ? 1.0 : 0.0); }
};
const TieRule* Tied::rule = nullptr;

namespace {

using Random = std::mt19937_64;
using Box = std::array<double, 4>;

double eighths(Random& random, int least, int most) {
  return static_cast<double>(least + static_cast<int>(random() % static_cast<unsigned>(most - least + 1))) /
         8;
}

struct Pair {
  Box pred, target;
};
// Few binary digits, so that every edge is a number of every storage type. Sides of at least 2 and centres at
// most 1 apart: the boxes overlap.
double side(Random& random) { return eighths(random, 4, 16) * 4; }
Box random_box(Random& random) {
  return {eighths(random, -40, 40), eighths(random, -40, 40), side(random), side(random)};
}
Pair overlapping(Random& random) {
  const Box target = random_box(random);
  return {
      {target[0] + eighths(random, -8, 8), target[1] + eighths(random, -8, 8), side(random), side(random)},
      target};
}
// A new centre of pred that puts one of its edges (`side` of the axis: -1 lower, 1 upper) on one of target's.
void put_edge(Pair& pair, std::size_t axis, int side, int of_target) {
  pair.pred[axis] = pair.target[axis] + (of_target * pair.target[axis + 2] - side * pair.pred[axis + 2]) / 2;
}
int either_side(Random& random) { return random() % 2 == 0 ? -1 : 1; }

struct Kink {
  std::string name;
  std::function<Pair(Random&)> make;
};
const std::vector<Kink>& kinks() {
  static const std::vector<Kink> list = {
      {"shared_edge",
       [](Random& random) {
         Pair pair = overlapping(random);
         const int side = either_side(random);
         put_edge(pair, random() % 2, side, side);
         return pair;
       }},
      {"two_shared_edges",
       [](Random& random) {
         Pair pair = overlapping(random);
         for (const std::size_t axis : {0, 1}) {
           const int side = either_side(random);
           put_edge(pair, axis, side, side);
         }
         return pair;
       }},
      {"touching_edges",
       [](Random& random) {
         Pair pair = overlapping(random);
         const int side = either_side(random);
         put_edge(pair, random() % 2, side, -side);
         return pair;
       }},
      {"touching_corners",
       [](Random& random) {
         Pair pair = overlapping(random);
         for (const std::size_t axis : {0, 1}) {
           const int side = either_side(random);
           put_edge(pair, axis, side, -side);
         }
         return pair;
       }},
      {"same_width_same_centre",
       [](Random& random) {
         Pair pair = overlapping(random);
         pair.pred[0] = pair.target[0];
         pair.pred[2] = pair.target[2];
         return pair;
       }},
      {"identical",
       [](Random& random) {
         const Box box = random_box(random);
         return Pair{box, box};
       }},
  };
  return list;
}

// The derivatives of the loss by the formula, with what the convention holds fixed held fixed.
Slopes derivatives_of(const Pair& pair, const CiouConvention& convention, CiouForm form,
                      const TieRule& rule) {
  Tied::rule = &rule;
  const auto moving = [&](std::size_t c) {
    Slopes slopes{};
    slopes[c] = 1;
    return Tied(pair.pred[c], slopes);
  };
  const CiouBox<Tied> pred{moving(0), moving(1), moving(2), moving(3)};
  const CiouBox<Tied> target{pair.target[0], pair.target[1], pair.target[2], pair.target[3]};
  const CiouValues<Tied> r = ciou_values(pred, target, convention, form, false);
  const Tied alpha = convention.alpha_through ? r.alpha : Tied(r.alpha.value);
  return ciou_clamped_loss(Tied(1.0) - r.iou + r.d2 / r.c2_eps + alpha * r.v, convention).slopes;
}

// What kernels do at ties: the derivative from one side along an axis, one operand always, the midpoint, and
// mixtures that differ from operation to operation.
std::vector<TieRule> tie_rules(Random& random) {
  std::vector<TieRule> rules = {[](const Slopes&, const Slopes&) { return 1.0; },
                                [](const Slopes&, const Slopes&) { return 0.0; },
                                [](const Slopes&, const Slopes&) { return 0.5; }};
  for (int mixture = 0; mixture < 6; ++mixture) {
    rules.emplace_back([choice = Random(random())](const Slopes&, const Slopes&) mutable {
      return static_cast<double>(choice() % 3) / 2;
    });
  }
  return rules;
}

bool accepted(Dtype dtype, double got, const ReferenceValues& right, std::size_t e) {
  Comparison comparison(dtype, {});
  comparison.add("d_pred", 0, static_cast<std::int64_t>(e), got,
                 {right.low[e], right.high[e], right.bound[e], right.sharp_low[e], right.sharp_high[e],
                  right.sharp_bound[e], right.flags[e]},
                 {});
  return !comparison.failed();
}

ReferenceValues ciou_gradients(const Pair& pair, Dtype dtype, const std::string& convention) {
  Items items;
  items.count = 1;
  items.values["pred"] = {pair.pred.begin(), pair.pred.end()};
  items.values["target"] = {pair.target.begin(), pair.target.end()};
  items.values["dy"] = {1};
  Reference reference;
  find_loss("ciou").evaluate({Pass::backward, dtype, convention}, items, reference);
  return reference.at("d_pred");
}

// A value further from the hull than the slack times the bound, and rounding to the type, allow. Returns
// whether there is a bound to be outside of.
bool expect_rejected_outside(Dtype dtype, const ReferenceValues& right, std::size_t e,
                             const std::string& what) {
  if (!std::isfinite(right.bound[e])) return false;
  const double margin =
      round_to(dtype, 3 * right.bound[e] + 4 * ulp(dtype, right.high[e]) + 4 * ulp(dtype, right.low[e]));
  EXPECT_FALSE(accepted(dtype, right.high[e] + margin, right, e)) << what;
  EXPECT_FALSE(accepted(dtype, right.low[e] - margin, right, e)) << what;
  return true;
}

using CiouVariant = std::tuple<std::string, Dtype>;
class CiouHull : public ::testing::TestWithParam<CiouVariant> {};

TEST_P(CiouHull, HoldsWhateverARightKernelDoesAtATie) {
  const auto& [name_of_convention, dtype] = GetParam();
  const CiouConvention& convention = find_ciou_convention(name_of_convention);
  for (const Kink& kink : kinks()) {
    Random random(7);
    int undecided = 0, rejected = 0;
    for (int i = 0; i < 100; ++i) {
      const Pair pair = kink.make(random);
      const ReferenceValues right = ciou_gradients(pair, dtype, name_of_convention);
      for (std::size_t c = 0; c < 4; ++c) {
        std::string what = kink.name + ' ' + std::to_string(i) + " component " + std::to_string(c);
        undecided += (right.flags[c] & kKink) != 0 ? 1 : 0;
        std::vector<TieRule> rules = tie_rules(random);
        for (const bool lesser : {true, false}) {  // min and max from the left and from the right
          rules.emplace_back([c, lesser](const Slopes& first, const Slopes& second) {
            return (first[c] < second[c]) == lesser ? 1.0 : 0.0;
          });
        }
        for (std::size_t rule = 0; rule < rules.size(); ++rule) {
          for (const CiouForm form : {CiouForm::corner, CiouForm::centre}) {
            const double got = round_to(dtype, derivatives_of(pair, convention, form, rules[rule])[c]);
            EXPECT_TRUE(accepted(dtype, got, right, c))
                << what << " rule " << rule << ": " << got << " not in [" << right.low[c] << ", "
                << right.high[c] << "] +- " << right.bound[c];
          }
        }
        rejected += expect_rejected_outside(dtype, right, c, what) ? 1 : 0;
      }
    }
    // Equal boxes have no bound in f16 where nothing keeps alpha's denominator from zero.
    const bool without_eps = name_of_convention == "mmdetection" || name_of_convention == "paddle";
    const bool excused = kink.name == "identical" && dtype == Dtype::f16 && without_eps;
    EXPECT_TRUE(rejected > 0 || excused) << kink.name << ": no component has a bound";
    // An overlap of 0 times 0 has the gradient zero from every side.
    if (kink.name == "touching_corners") {
      EXPECT_EQ(undecided, 0);
    } else {
      EXPECT_GE(undecided, 100) << kink.name << ": at least one component of each pair";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CiouHull,
                         ::testing::Combine(::testing::Values("yolo", "torchvision", "ultralytics",
                                                              "mmdetection", "paddle", "keras"),
                                            ::testing::Values(Dtype::f32, Dtype::f64, Dtype::f16,
                                                              Dtype::bf16)),
                         [](const auto& instance) {
                           return std::get<0>(instance.param) + '_' +
                                  std::string(name(std::get<1>(instance.param)));
                         });

// Rows of ones and minus ones: the cosine is a multiple of 2/n_dim, n_dim a power of four, and exactly the
// margin.
class CosineHull : public ::testing::TestWithParam<Dtype> {};

TEST_P(CosineHull, HoldsBothSidesAndTheMiddleWhereTheCosineIsTheMargin) {
  const Dtype dtype = GetParam();
  for (const std::size_t n_dim : {4, 16, 64, 256}) {
    for (std::size_t differing = 1; differing < n_dim / 2; differing += n_dim / 4) {
      const double cos = 1 - 2 * static_cast<double>(differing) / static_cast<double>(n_dim);
      Items items;
      items.count = 1;
      items.sizes = {{"n_rows", 1}, {"n_dim", static_cast<std::int64_t>(n_dim)}};
      items.parameters = {{"margin", cos}};
      std::vector<double> x1(n_dim, 1), x2(n_dim, 1);
      std::fill_n(x2.begin(), differing, -1.0);
      items.values = {{"x1", x1}, {"x2", x2}, {"y", {-1}}, {"dy", {1}}};
      Reference reference;
      find_loss("cosine").evaluate({Pass::backward, dtype, "exact"}, items, reference);
      for (const char* output : {"dx1", "dx2"}) {
        const ReferenceValues& right = reference.at(output);
        for (std::size_t e = 0; e < n_dim; ++e) {
          const std::string what = std::string(output) + ' ' + std::to_string(n_dim) + ' ' +
                                   std::to_string(differing) + ' ' + std::to_string(e);
          const double other = output[2] == '1' ? x2[e] : x1[e], own = output[2] == '1' ? x1[e] : x2[e];
          const double active = (other - cos * own) / static_cast<double>(n_dim);
          EXPECT_NE(right.flags[e] & kKink, 0) << what;
          for (const double share : {0.0, 0.5, 1.0})
            EXPECT_TRUE(accepted(dtype, round_to(dtype, share * active), right, e)) << what << ' ' << share;
          EXPECT_TRUE(expect_rejected_outside(dtype, right, e, what)) << what << ": no bound";
          EXPECT_FALSE(accepted(dtype, -active, right, e)) << what;
          EXPECT_FALSE(accepted(dtype, 2 * active, right, e)) << what;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, CosineHull, ::testing::Values(Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16),
                         [](const auto& instance) { return std::string(name(instance.param)); });

}  // namespace
}  // namespace lossgrad
