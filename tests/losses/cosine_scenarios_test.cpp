// SPDX-License-Identifier: Apache-2.0
#include "losses/cosine/cosine_scenarios.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "losses/cosine_drawn_rows.hpp"
#include "losses/loss.hpp"

namespace lossgrad {
namespace {

Items drawn(const std::string& scenario, Dtype dtype, std::int64_t n_dim, std::int64_t first,
            std::int64_t count, std::uint64_t seed = 9) {
  Items items;
  items.first = first;
  items.count = count;
  items.sizes = {{"n_rows", first + count + 5}, {"n_dim", n_dim}};
  items.parameters = {{"margin", 0.25}};
  find_loss("cosine").generate(scenario, dtype, seed, items);
  return items;
}

// NaN equals NaN here.
bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

TEST(CosineScenarios, AnItemDependsOnlyOnSeedAndIndex) {
  for (const ScenarioInfo& scenario : cosine_scenarios()) {
    everywhere([&](Dtype dtype, std::int64_t n_dim) {
      const auto dim = static_cast<std::size_t>(n_dim);
      const Items all = drawn(scenario.name, dtype, n_dim, 0, 60);
      // Backwards, so that nothing that a draw leaves behind helps the next.
      for (const std::size_t first : {50u, 37u, 11u, 0u}) {
        const std::size_t count = first == 37 ? 10 : 3;
        const Items part = drawn(scenario.name, dtype, n_dim, static_cast<std::int64_t>(first),
                                 static_cast<std::int64_t>(count));
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_TRUE(same(part.at("dy")[i], all.at("dy")[first + i]));
          ASSERT_EQ(part.at("y")[i], all.at("y")[first + i]);
          for (const char* rows : {"x1", "x2"}) {
            for (std::size_t e = 0; e < dim; ++e)
              ASSERT_TRUE(same(part.at(rows)[i * dim + e], all.at(rows)[(first + i) * dim + e]))
                  << scenario.name;
          }
        }
      }
      const Items other = drawn(scenario.name, dtype, n_dim, 0, 60, 10);
      const auto values = other.at("dy");
      EXPECT_FALSE(std::equal(values.begin(), values.end(), all.at("dy").begin(), same))
          << scenario.name << ": another seed, other values";
    });
  }
}

TEST(CosineScenarios, ValuesAreFiniteNumbersOfTheStorageType) {
  for (const ScenarioInfo& scenario : cosine_scenarios()) {
    if (scenario.name == "non_finite") continue;
    everywhere([&](Dtype dtype, std::int64_t n_dim) {
      const Items items = drawn(scenario.name, dtype, n_dim, 0, 300);
      EXPECT_EQ(items.at("x1").size(), static_cast<std::size_t>(300 * n_dim));
      EXPECT_EQ(items.at("x2").size(), static_cast<std::size_t>(300 * n_dim));
      EXPECT_EQ(items.at("y").size(), 300u);
      for (const auto& [argument, values] : items.values) {
        for (const double value : values) {
          ASSERT_TRUE(std::isfinite(value)) << scenario.name << ' ' << argument;
          ASSERT_EQ(round_to(dtype, value), value) << scenario.name << ' ' << argument;
        }
      }
      for (const double y : items.at("y")) ASSERT_TRUE(y == 1 || y == -1);
    });
  }
}

TEST(CosineScenarios, BothLabelsAndSignedUpstreams) {
  for (const ScenarioInfo& scenario : cosine_scenarios()) {
    const Items items = drawn(scenario.name, Dtype::f32, 2, 0, 2000);
    const auto y = items.at("y"), dy = items.at("dy");
    // The hinge is what these are about.
    const double same = scenario.name.ends_with("_margin") ? 0 : 1000;
    EXPECT_NEAR(static_cast<double>(std::count(y.begin(), y.end(), 1.0)), same, 0.12 * same) << scenario.name;
    const auto negative = std::count_if(dy.begin(), dy.end(), [](double x) { return x < 0; });
    const auto zero = std::count(dy.begin(), dy.end(), 0.0);
    EXPECT_NEAR(static_cast<double>(negative), 1000, 120) << scenario.name;
    EXPECT_GT(zero, 10) << scenario.name;
    EXPECT_LT(zero, 80) << scenario.name;
  }
}

TEST(CosineScenarios, GaussianAndMixed) {
  everywhere([](Dtype dtype, std::int64_t n_dim) {
    EXPECT_EQ(share("gaussian", dtype, n_dim,
                    [](const CosineRow& row) { return !is_zero(row.x1) && !is_zero(row.x2); }),
              1);
    // Alike: cos of x1 and x1 + w * noise, w < 1, is above 0.7.
    const double alike =
        share("gaussian", dtype, n_dim, [](const CosineRow& row) { return cosine(row) > 0.6; });
    EXPECT_GT(alike, 0.4);
    if (n_dim >= 31) {
      EXPECT_LT(alike, 0.6);
    }
    // Members besides gaussian.
    const double zero =
        share("mixed", dtype, n_dim, [](const CosineRow& row) { return is_zero(row.x1) || is_zero(row.x2); });
    EXPECT_GT(zero, 0.002);
    EXPECT_LT(zero, n_dim <= 2 ? 0.2 : 0.06);
  });
}

TEST(CosineScenarios, UnitRowsHaveLengthOneOrNearlySo) {
  everywhere([](Dtype dtype, std::int64_t n_dim) {
    const double tolerance = 8 * rounding(dtype);
    for (const bool first : {true, false}) {
      const auto within = [&](double most) {
        return share("unit", dtype, n_dim, [&](const CosineRow& row) {
          return std::abs(norm(first ? row.x1 : row.x2) - 1) < most;
        });
      };
      EXPECT_EQ(within(0.1 + tolerance), 1);
      EXPECT_GE(within(tolerance), 0.4);
      if (size_in_bytes(dtype) > 2) {
        EXPECT_GT(within(1e-4) - within(1e-6), 0.02);
      }
    }
  });
}

TEST(CosineScenarios, ParallelRowsAreMultiples) {
  everywhere([](Dtype dtype, std::int64_t n_dim) {
    const double tolerance = 4 * rounding(dtype);
    const Property above = [&](const CosineRow& row) { return cosine(row) > 1 - tolerance; };
    const Property below = [&](const CosineRow& row) { return cosine(row) < -1 + tolerance; };
    EXPECT_EQ(share("parallel", dtype, n_dim, above), 1);
    // Half of the near ones are at an angle of up to 0.1 instead.
    EXPECT_GT(share("near_parallel", dtype, n_dim, above), 0.45);
    EXPECT_GT(share("antiparallel", dtype, n_dim, below), 0.7);
    const double widest = std::cos(0.1) - tolerance;
    EXPECT_EQ(
        share("near_parallel", dtype, n_dim, [&](const CosineRow& row) { return cosine(row) > widest; }), 1);
    EXPECT_EQ(
        share("antiparallel", dtype, n_dim, [&](const CosineRow& row) { return cosine(row) < -widest; }), 1);
    if (n_dim < 31) return;
    // Within 4 ulp of a multiple, not a multiple.
    const auto is_multiple = [](const CosineRow& row) {
      const double factor = row.x2[0] / row.x1[0];
      for (std::size_t e = 1; e < row.x1.size(); ++e) {
        if (row.x2[e] != factor * row.x1[e]) return false;
      }
      return true;
    };
    EXPECT_GT(share("parallel", dtype, n_dim, is_multiple), 0.35) << "powers of two";
    EXPECT_LT(share("near_parallel", dtype, n_dim, is_multiple), 0.3) << "small angles round away";
  });
}

TEST(CosineScenarios, HalfOfTheNearParallelComponentsAreWithinFourUlp) {
  everywhere([](Dtype dtype, std::int64_t n_dim) {
    EXPECT_GE(share("near_parallel", dtype, n_dim,
                    [&](const CosineRow& row) {
                      const double factor = norm(row.x2) / norm(row.x1);
                      for (std::size_t e = 0; e < row.x1.size(); ++e) {
                        // The norm's factor is within some ulp itself.
                        const double off = std::abs(row.x2[e] - factor * row.x1[e]);
                        if (off > 12 * ulp(dtype, factor * row.x1[e]) + 8 * ulp(dtype, row.x2[e]))
                          return false;
                      }
                      return true;
                    }),
              0.45);
  });
}

TEST(CosineScenarios, OrthogonalRows) {
  everywhere([](Dtype dtype, std::int64_t n_dim) {
    if (n_dim == 1) return;  // there are none
    const auto below = [&](double most) {
      return share("orthogonal", dtype, n_dim,
                   [&](const CosineRow& row) { return std::abs(cosine(row)) < most; });
    };
    const double all = made_by_cancellation(dtype, n_dim) ? 0.9 : 1;
    EXPECT_GE(below(0.1 + 2 * rounding(dtype)), all);
    EXPECT_GE(below(2 * rounding(dtype)), 0.7 * all);
    if (size_in_bytes(dtype) > 2) {
      EXPECT_GT(below(1e-4) - below(1e-6), 0.01);
    }
    const double exact =
        share("orthogonal", dtype, n_dim, [](const CosineRow& row) { return dot(row.x1, row.x2) == 0; });
    EXPECT_GT(exact, 0.4);
    if (n_dim > 2) {
      EXPECT_LT(exact, 0.7);
    }
  });
}

TEST(CosineScenarios, ZeroRowsInHalfOfThem) {
  everywhere([](Dtype dtype, std::int64_t n_dim) {
    const Property first = [](const CosineRow& row) { return is_zero(row.x1); };
    const Property second = [](const CosineRow& row) { return is_zero(row.x2); };
    EXPECT_NEAR(share("zero_row", dtype, n_dim, first), 1.0 / 3, 0.08);
    EXPECT_NEAR(share("zero_row", dtype, n_dim, second), 1.0 / 3, 0.08);
    EXPECT_NEAR(
        share("zero_row", dtype, n_dim, [&](const CosineRow& row) { return first(row) || second(row); }), 0.5,
        0.08);
    EXPECT_GT(
        share("zero_row", dtype, n_dim, [&](const CosineRow& row) { return first(row) && second(row); }),
        0.1);
  });
}

TEST(CosineScenarios, TinyAndHugeNorms) {
  everywhere([](Dtype dtype, std::int64_t n_dim) {
    const bool wide = dtype == Dtype::f64, half = dtype == Dtype::f16;
    const double least = half ? 1e-6 : wide ? 1e-170 : 1e-24, most = half ? 6e4 : wide ? 1e170 : 1e22;
    // f16 holds short rows with few bits, or as zeros.
    const auto longest = [](const CosineRow& row) {
      double largest = 0;
      for (const auto* x : {&row.x1, &row.x2}) {
        for (const double value : *x) largest = std::max(largest, std::abs(value));
      }
      return largest * std::sqrt(static_cast<double>(row.x1.size()));
    };
    EXPECT_EQ(share("tiny_norm", dtype, n_dim,
                    [&](const CosineRow& row) {
                      return longest(row) <= 1e-2 * std::sqrt(static_cast<double>(n_dim)) * 1.01 &&
                             (half || longest(row) >= least * 0.99);
                    }),
              1);
    EXPECT_EQ(share("huge_norm", dtype, n_dim,
                    [&](const CosineRow& row) {
                      const double scale = std::sqrt(static_cast<double>(n_dim));
                      return longest(row) >= 99 && longest(row) <= most * scale * 1.01;
                    }),
              1);
    const double middle_tiny = std::sqrt(least * 1e-2), middle_huge = std::sqrt(most * 1e2);
    EXPECT_GT(share(
                  "tiny_norm", dtype, n_dim, [&](const CosineRow& row) { return longest(row) < middle_tiny; },
                  0.25, 2400),
              half ? (n_dim > 31 ? 0.1 : 0.25) : 0.3);  // f16 rounds the shortest rows to zeros
    EXPECT_GT(
        share("huge_norm", dtype, n_dim, [&](const CosineRow& row) { return longest(row) > middle_huge; }),
        0.3);
    if (half) return;
    // Squares that underflow, squares that overflow, in the compute type.
    const double smallest_square = wide ? 0x1p-1022 : 0x1p-126, largest = wide ? 0x1p1023 : 0x1p127;
    EXPECT_GT(share("tiny_norm", dtype, n_dim,
                    [&](const CosineRow& row) { return longest(row) < std::sqrt(smallest_square); }),
              0.02);
    EXPECT_GT(share("huge_norm", dtype, n_dim,
                    [&](const CosineRow& row) { return longest(row) > std::sqrt(largest); }),
              0.02);
  });
}

TEST(CosineScenarios, SparseRowsAreMostlyZero) {
  everywhere([](Dtype dtype, std::int64_t n_dim) {
    EXPECT_EQ(share("sparse", dtype, n_dim,
                    [](const CosineRow& row) { return !is_zero(row.x1) && !is_zero(row.x2); }),
              1)
        << "one component is kept";
    if (n_dim < 200) return;
    EXPECT_EQ(share("sparse", dtype, n_dim,
                    [](const CosineRow& row) {
                      const auto zeros = std::count(row.x1.begin(), row.x1.end(), 0.0) +
                                         std::count(row.x2.begin(), row.x2.end(), 0.0);
                      const double part =
                          static_cast<double>(zeros) / (2.0 * static_cast<double>(row.x1.size()));
                      return part > 0.8 && part < 0.97;
                    }),
              1);
  });
}

TEST(CosineScenarios, LargeOffsetsOutweighTheRest) {
  everywhere([](Dtype dtype, std::int64_t n_dim) {
    EXPECT_EQ(share("large_offset", dtype, n_dim,
                    [](const CosineRow& row) {
                      double mean = 0;
                      for (const double x : row.x1) mean += x / static_cast<double>(row.x1.size());
                      return std::abs(mean) > 4 && std::abs(mean) < 1010;
                    }),
              1);
    EXPECT_GT(share("large_offset", dtype, n_dim, [](const CosineRow& row) { return cosine(row) > 0.9; }),
              0.9);
    EXPECT_GT(share("large_offset", dtype, n_dim, [](const CosineRow& row) { return row.x1[0] < 0; }), 0.4);
  });
}

TEST(CosineScenarios, TheTailWeighsMost) {
  everywhere([](Dtype dtype, std::int64_t n_dim) {
    if (n_dim < 31) return;
    const auto part_of_last_eight = [](const std::vector<double>& x) {
      const std::vector<double> tail(x.end() - 8, x.end());
      return dot(tail, tail) / dot(x, x);
    };
    EXPECT_GT(share("tail_heavy", dtype, n_dim,
                    [&](const CosineRow& row) {
                      return part_of_last_eight(row.x1) > 0.4 && part_of_last_eight(row.x2) > 0.4;
                    }),
              0.7);
    // Without the last component alone another loss.
    EXPECT_GT(share("tail_heavy", dtype, n_dim,
                    [](const CosineRow& row) {
                      CosineRow cut = row;
                      cut.x1.back() = cut.x2.back() = 0;
                      return std::abs(cosine(cut) - cosine(row)) > 0.01;
                    }),
              0.7);
  });
}

TEST(CosineScenarios, OneRowInFourHasOneElementThatIsNotFinite) {
  everywhere([](Dtype dtype, std::int64_t n_dim) {
    const auto odd = [](const std::vector<double>& x) {
      return std::count_if(x.begin(), x.end(), [](double e) { return !std::isfinite(e); });
    };
    const auto places = [&](const CosineRow& row) { return odd(row.x1) + odd(row.x2) + odd({row.dy}); };
    const auto at = [&](const Property& holds) {
      return share("non_finite", dtype, n_dim, holds, 0.25, 2400);
    };
    EXPECT_NEAR(at([&](const CosineRow& row) { return places(row) == 1; }), 0.25, 0.07);
    EXPECT_EQ(at([&](const CosineRow& row) { return places(row) > 1; }), 0);
    EXPECT_NEAR(at([&](const CosineRow& row) { return odd(row.x1) == 1; }), 1.0 / 12, 0.05);
    EXPECT_NEAR(at([&](const CosineRow& row) { return odd(row.x2) == 1; }), 1.0 / 12, 0.05);
    EXPECT_NEAR(at([&](const CosineRow& row) { return std::isnan(row.dy); }), 1.0 / 24, 0.03);
    EXPECT_NEAR(at([&](const CosineRow& row) { return std::isinf(row.dy) && row.dy < 0; }), 1.0 / 48, 0.02);
    EXPECT_EQ(at([&](const CosineRow& row) { return row.y == 1 || row.y == -1; }), 1);
  });
}

TEST(CosineScenarios, MixedIsTheDefaultAndNamesAreUnique) {
  EXPECT_EQ(find_loss("cosine").default_scenario(), "mixed");
  std::vector<std::string> names;
  for (const ScenarioInfo& scenario : cosine_scenarios()) {
    EXPECT_FALSE(scenario.summary.empty());
    EXPECT_EQ(scenario.made_of_kinks, scenario.name == "near_margin");
    EXPECT_EQ(scenario.made_of_zeros, scenario.name.ends_with("parallel"));
    names.push_back(scenario.name);
  }
  EXPECT_EQ(names.size(), 17u);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_THROW(CosineSampler("gausian", Dtype::f32, 3, 0), Error);
}

}  // namespace
}  // namespace lossgrad
