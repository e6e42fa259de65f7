// SPDX-License-Identifier: Apache-2.0
#include "losses/ciou/ciou_scenarios.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "losses/loss.hpp"

namespace lossgrad {
namespace {

Items drawn(const std::string& scenario, Dtype dtype, std::int64_t first, std::int64_t count,
            std::uint64_t seed = 9) {
  Items items;
  items.first = first;
  items.count = count;
  find_loss("ciou").generate(scenario, dtype, seed, items);
  return items;
}

double share(const std::string& scenario, Dtype dtype, const std::function<bool(const CiouSample&)>& holds) {
  const CiouSampler sampler(scenario);
  int count = 0;
  for (int i = 0; i < 2000; ++i) count += holds(sampler(dtype, 1, i)) ? 1 : 0;
  return count / 2000.0;
}

double overlap(const CiouSample& s, std::size_t axis) {
  return std::min({s.pred[axis + 2], s.target[axis + 2],
                   0.5 * (s.pred[axis + 2] + s.target[axis + 2]) - std::abs(s.pred[axis] - s.target[axis])});
}
bool overlaps(const CiouSample& s) { return overlap(s, 0) > 0 && overlap(s, 1) > 0; }

// NaN equals NaN here.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TEST(CiouScenarios, AnItemDependsOnlyOnSeedAndIndex) {
  for (const ScenarioInfo& scenario : ciou_scenarios()) {
    for (const Dtype dtype : kAllDtypes) {
      const Items all = drawn(scenario.name, dtype, 0, 100), part = drawn(scenario.name, dtype, 37, 10);
      for (std::size_t i = 0; i < 10; ++i) {
        ASSERT_TRUE(same(part.at("dy")[i], all.at("dy")[37 + i]));
        for (const char* boxes : {"pred", "target"}) {
          for (std::size_t c = 0; c < 4; ++c)
            ASSERT_TRUE(same(part.at(boxes)[c * 10 + i], all.at(boxes)[c * 100 + 37 + i])) << boxes;
        }
      }
      const Items other = drawn(scenario.name, dtype, 0, 100, 10);
      for (const char* argument : {"pred", "dy"}) {
        const auto values = other.at(argument);
        EXPECT_FALSE(std::equal(values.begin(), values.end(), all.at(argument).begin(), same))
            << scenario.name << ": another seed, other values of " << argument;
      }
    }
  }
}

TEST(CiouScenarios, ValuesAreFiniteNumbersOfTheStorageType) {
  for (const ScenarioInfo& scenario : ciou_scenarios()) {
    if (scenario.name == "non_finite") continue;
    for (const Dtype dtype : kAllDtypes) {
      for (const auto& [argument, values] : drawn(scenario.name, dtype, 0, 3000).values) {
        for (const double value : values) {
          ASSERT_TRUE(std::isfinite(value)) << scenario.name << ' ' << name(dtype);
          ASSERT_EQ(round_to(dtype, value), value);
        }
      }
    }
  }
}

TEST(CiouScenarios, HoldWhatTheirNamesSay) {
  EXPECT_EQ(share("overlapping", Dtype::f32, overlaps), 1);
  EXPECT_EQ(share("disjoint", Dtype::f32, overlaps), 0);
  EXPECT_EQ(share("identical", Dtype::f32, [](const CiouSample& s) { return s.pred == s.target; }), 1);
  EXPECT_LT(share("near_identical", Dtype::f32, [](const CiouSample& s) { return s.pred == s.target; }),
            0.01);
  EXPECT_EQ(share("zero_size", Dtype::f32,
                  [](const CiouSample& s) { return s.pred[2] * s.pred[3] * s.target[2] * s.target[3] == 0; }),
            1);
  EXPECT_EQ(share("negative_size", Dtype::f32,
                  [](const CiouSample& s) {
                    return std::min({s.pred[2], s.pred[3], s.target[2], s.target[3]}) < 0;
                  }),
            1);
  EXPECT_GT(share("far", Dtype::f32, [](const CiouSample& s) { return std::abs(s.pred[0]) > 1e6; }), 0.1);
  EXPECT_GT(share("thin", Dtype::f32, [](const CiouSample& s) { return s.target[2] / s.target[3] > 1e4; }),
            0.1);
  EXPECT_GT(share("tiny", Dtype::f32, [](const CiouSample& s) { return s.target[2] * s.target[3] < 1e-7; }),
            0.3);
  EXPECT_GT(share("typical", Dtype::f32, overlaps), 0.85);
  EXPECT_EQ(share("normalised", Dtype::f32,
                  [](const CiouSample& s) { return s.target[0] >= 0 && s.target[0] <= 1; }),
            1);
  EXPECT_EQ(share("nested", Dtype::f64,
                  [](const CiouSample& s) {
                    return (s.pred[2] <= s.target[2] && s.pred[3] <= s.target[3]) ||
                           (s.pred[2] >= s.target[2] && s.pred[3] >= s.target[3]);
                  }),
            1);
}

// The smallest distance between two edges of one axis, one of each box.
double closest_edges(const CiouSample& s) {
  double closest = std::numeric_limits<double>::infinity();
  for (std::size_t axis = 0; axis < 2; ++axis) {
    for (const double mine : {-0.5, 0.5}) {
      for (const double other : {-0.5, 0.5}) {
        closest = std::min(closest, std::abs(s.pred[axis] + mine * s.pred[axis + 2] - s.target[axis] -
                                             other * s.target[axis + 2]));
      }
    }
  }
  return closest;
}

TEST(CiouScenarios, NearTouchingFillsTheWayToTheEdge) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const auto between = [&](double least, double most) {
      return share("near_touching", dtype,
                   [&](const CiouSample& s) { return closest_edges(s) >= least && closest_edges(s) < most; });
    };
    const double least = dtype == Dtype::f64 ? 1e-14 : 1e-6;
    EXPECT_EQ(between(0, 0.1001), 1) << name(dtype);
    for (double decade = least; decade < 0.05; decade *= 10)
      EXPECT_GT(between(decade, 10 * decade), 0.03) << name(dtype) << ' ' << decade;
  }
}

// The largest difference of two components, in the target's size.
double largest_difference(const CiouSample& s) {
  double largest = 0;
  for (std::size_t i = 0; i < 4; ++i)
    largest = std::max(largest, std::abs(s.pred[i] - s.target[i]) / s.target[2 + i % 2]);
  return largest;
}

TEST(CiouScenarios, NearEqualFillsTheWayToEquality) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const auto between = [&](double least, double most) {
      return share("near_equal", dtype, [&](const CiouSample& s) {
        return largest_difference(s) >= least && largest_difference(s) < most;
      });
    };
    const double least = dtype == Dtype::f64 ? 1e-14 : 1e-6;
    EXPECT_EQ(between(0, 0.1001), 1) << name(dtype);
    for (double decade = least; decade < 0.05; decade *= 10)
      EXPECT_GT(between(decade, 10 * decade), 0.03) << name(dtype) << ' ' << decade;
  }
}

// In every storage type, some edge of one box lies exactly on an edge of the other.
TEST(CiouScenarios, TouchingBoxesShareEdgesExactly) {
  for (const Dtype dtype : kAllDtypes) {
    EXPECT_EQ(
        share("touching", dtype,
              [](const CiouSample& s) {
                for (std::size_t axis = 0; axis < 2; ++axis) {
                  for (const double p : {-0.5, 0.5}) {
                    for (const double t : {-0.5, 0.5}) {
                      if (s.pred[axis] + p * s.pred[axis + 2] == s.target[axis] + t * s.target[axis + 2])
                        return true;
                    }
                  }
                }
                return false;
              }),
        1)
        << name(dtype);
  }
}

TEST(CiouScenarios, OneBoxInFourHasOneElementThatIsNotFinite) {
  for (const Dtype dtype : kAllDtypes) {
    const CiouSampler sampler("non_finite");
    int items = 0, nans = 0, negative = 0;
    std::array<int, 9> places{};
    for (int i = 0; i < 4000; ++i) {
      const CiouSample s = sampler(dtype, 3, i);
      const std::array<double, 9> all = {s.pred[0],   s.pred[1],   s.pred[2],   s.pred[3], s.target[0],
                                         s.target[1], s.target[2], s.target[3], s.dy};
      int odd = 0;
      for (std::size_t place = 0; place < all.size(); ++place) {
        if (std::isfinite(all[place])) continue;
        ++odd, ++places[place];
        nans += std::isnan(all[place]) ? 1 : 0;
        negative += all[place] < 0 ? 1 : 0;
      }
      ASSERT_LE(odd, 1);
      items += odd;
    }
    EXPECT_NEAR(items, 1000, 100) << name(dtype);
    EXPECT_NEAR(nans, 500, 80) << name(dtype);
    EXPECT_NEAR(negative, 250, 60) << name(dtype);
    for (std::size_t place = 0; place < 8; ++place) EXPECT_NEAR(places[place], 83, 40) << place;
    EXPECT_NEAR(places[8], 333, 70);
  }
}

TEST(CiouScenarios, UpstreamIsSignedAndNeverConstant) {
  const Items items = drawn("mixed", Dtype::f32, 0, 4000);
  int negative = 0, zero = 0;
  for (const double dy : items.at("dy")) negative += dy < 0 ? 1 : 0, zero += dy == 0 ? 1 : 0;
  EXPECT_NEAR(negative, 2000, 150);
  EXPECT_GT(zero, 20);
  EXPECT_LT(zero, 150);
}

}  // namespace
}  // namespace lossgrad
