// SPDX-License-Identifier: Apache-2.0
// The bounds of the cosine reference hold for float code that sums in any order, and not for sums held in 16
// bits.
#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "losses/cosine_rows.hpp"

namespace lossgrad {
namespace {

using namespace cosine_rows;

using Summation = std::function<float(const std::vector<float>&, const std::vector<float>&)>;

float product(float a, float b) {
  const volatile float rounded = a * b;  // never fused
  return rounded;
}
float sequential(const std::vector<float>& a, const std::vector<float>& b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += product(a[i], b[i]);
  return sum;
}
float backwards(const std::vector<float>& a, const std::vector<float>& b) {
  float sum = 0;
  for (std::size_t i = a.size(); i-- > 0;) sum += product(a[i], b[i]);
  return sum;
}
float fused(const std::vector<float>& a, const std::vector<float>& b) {
  float sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum = std::fma(a[i], b[i], sum);
  return sum;
}
float pairwise_part(const std::vector<float>& a, const std::vector<float>& b, std::size_t from,
                    std::size_t to) {
  if (to - from == 1) return product(a[from], b[from]);
  const std::size_t middle = (from + to) / 2;
  return pairwise_part(a, b, from, middle) + pairwise_part(a, b, middle, to);
}
float pairwise(const std::vector<float>& a, const std::vector<float>& b) {
  return pairwise_part(a, b, 0, a.size());
}
float strided(const std::vector<float>& a, const std::vector<float>& b) {
  std::array<float, 32> sums{};
  for (std::size_t i = 0; i < a.size(); ++i) sums[i % 32] += product(a[i], b[i]);
  for (std::size_t step = 16; step > 0; step /= 2) {
    for (std::size_t lane = 0; lane < step; ++lane) sums[lane] += sums[lane + step];
  }
  return sums[0];
}

struct FloatSums {
  float x11, x22, x12;
};
struct FloatFactors {
  float r1, r2, k1, k2;
};

// The conventions again, by the sources that cosine.hpp names.
FloatFactors float_factors(const FloatSums& sums, const std::string& convention) {
  if (convention == "torch") {
    const float r1 = 1 / std::sqrt(sums.x11 + 1e-12f), r2 = 1 / std::sqrt(sums.x22 + 1e-12f);
    return {r1, r2, r1, r2};
  }
  const float n1 = std::sqrt(sums.x11), n2 = std::sqrt(sums.x22);
  if (convention == "similarity")
    return {1 / std::max(n1, 1e-8f), 1 / std::max(n2, 1e-8f), n1 == 0 ? 0 : 1 / n1, n2 == 0 ? 0 : 1 / n2};
  if (convention == "product" && n1 * n2 < 1e-8f) return {1e4f, 1e4f, 0, 0};
  if (convention == "normalize") {
    const float r1 = 1 / std::max(n1, 1e-12f), r2 = 1 / std::max(n2, 1e-12f);
    return {r1, r2, n1 < 1e-12f ? 0 : r1, n2 < 1e-12f ? 0 : r2};
  }
  return {1 / n1, 1 / n2, 1 / n1, 1 / n2};
}

struct FloatResult {
  double loss = 0;
  std::vector<double> dx1, dx2;
};

FloatResult float_result(const FloatSums& sums, const Items& items, std::size_t i,
                         const std::string& convention) {
  const FloatFactors f = float_factors(sums, convention);
  const float cosine = sums.x12 * f.r1 * f.r2;
  const auto margin = static_cast<float>(items.parameters.at("margin"));
  const double y = items.at("y")[i];
  const bool active = y > 0 || cosine > margin;
  const float excess = cosine - margin;
  FloatResult result;
  result.loss = y > 0 ? 1.0f - cosine : excess <= 0 ? 0.0f : excess;
  const auto dy = static_cast<float>(items.at("dy")[i]);
  const float coefficient = active ? (y > 0 ? -dy : dy) : 0;
  const auto x1 = row(items, "x1", i), x2 = row(items, "x2", i);
  for (std::size_t e = 0; e < x1.size(); ++e) {
    const auto a = static_cast<float>(x1[e]), b = static_cast<float>(x2[e]);
    result.dx1.push_back(active ? (b * f.r2 - a * (cosine * f.k1)) * f.r1 * coefficient : 0);
    result.dx2.push_back(active ? (a * f.r1 - b * (cosine * f.k2)) * f.r2 * coefficient : 0);
  }
  return result;
}

std::vector<float> floats(std::span<const double> values) { return {values.begin(), values.end()}; }

double sharp_usage(double got, const ReferenceValues& right, std::size_t e) {
  return usage(got, right.sharp_low[e], right.sharp_high[e], right.sharp_bound[e]);
}
bool comparable(const ReferenceValues& right, std::size_t e) {
  return (right.flags[e] & (kOutOfRange | kOverflow)) == 0 && std::isfinite(right.low[e]) &&
         std::isfinite(right.bound[e]);
}

struct Order {
  const char* name;
  Summation sum;
  std::int64_t sharp_to;  // rows up to this length are blocked sums
};
const std::vector<Order>& orders() {
  static const std::vector<Order> all = {{"sequential", sequential, 100},
                                         {"backwards", backwards, 100},
                                         {"fused", fused, 100},
                                         {"pairwise", pairwise, 1 << 20},
                                         {"32 strided accumulators", strided, 3000}};
  return all;
}

struct Usages {
  int compared = 0;
  double largest = 0;
  void add(double used, const std::string& what) {
    ++compared;
    largest = std::max(largest, used);
    EXPECT_LE(used, 1) << what;
  }
};

void compare_float_code(const Items& items, const std::string& convention, Usages& usages,
                        const std::string& what) {
  const auto loss = losses_of(items, Dtype::f32, convention);
  const Reference gradients = gradients_of(items, Dtype::f32, convention);
  const auto n_dim = static_cast<std::size_t>(items.sizes.at("n_dim"));
  for (std::size_t i = 0; i < static_cast<std::size_t>(items.count); ++i) {
    const auto x1 = floats(row(items, "x1", i)), x2 = floats(row(items, "x2", i));
    for (const Order& order : orders()) {
      const FloatSums sums = {order.sum(x1, x1), order.sum(x2, x2), order.sum(x1, x2)};
      const FloatResult got = float_result(sums, items, i, convention);
      const bool sharp = static_cast<std::int64_t>(n_dim) <= order.sharp_to;
      const std::string at = what + ' ' + convention + ' ' + order.name + " row " + std::to_string(i);
      if (comparable(loss, i)) {
        usages.add(usage(got.loss, loss, i), at + " loss");
        if (sharp) usages.add(sharp_usage(got.loss, loss, i), at + " sharp loss");
      }
      for (const char* output : {"dx1", "dx2"}) {
        const ReferenceValues& right = gradients.at(output);
        const auto& values = output[2] == '1' ? got.dx1 : got.dx2;
        for (std::size_t e = 0; e < n_dim; e += 1 + n_dim / 40) {
          if (!comparable(right, i * n_dim + e)) continue;
          usages.add(usage(values[e], right, i * n_dim + e), at + ' ' + output);
          if (sharp) usages.add(sharp_usage(values[e], right, i * n_dim + e), at + " sharp " + output);
        }
      }
    }
  }
}

class OrdersOfSummation : public testing::TestWithParam<std::int64_t> {};

TEST_P(OrdersOfSummation, FloatCodeStaysWithinTheBound) {
  const std::int64_t n_dim = GetParam();
  Usages usages;
  for (const ScenarioInfo& scenario : cosine().scenarios()) {
    const Items items = drawn(scenario.name, Dtype::f32, n_dim, n_dim >= 1000 ? 8 : 60);
    for (const char* convention : kConventions) compare_float_code(items, convention, usages, scenario.name);
  }
  EXPECT_GT(usages.compared, 20000);
  EXPECT_GT(usages.largest, 0.05) << "a bound that is never approached proves little";
}

INSTANTIATE_TEST_SUITE_P(Dims, OrdersOfSummation, testing::Values(1, 2, 31, 100, 1000, 5000));

// The reference's value is the exact one: against long double, where nothing is undecided.
TEST(CosineBound, ValuesAreThoseOfLongDouble) {
  int compared = 0;
  for (const char* scenario : {"gaussian", "near_parallel", "antiparallel", "large_offset", "tail_heavy"}) {
    for (const std::int64_t n_dim : {1, 2, 31, 100, 1000, 5000}) {
      const Items items = drawn(scenario, Dtype::f64, n_dim, 20);
      const auto loss = losses_of(items, Dtype::f64, "exact");
      for (std::size_t i = 0; i < 20; ++i) {
        long double x11 = 0, x22 = 0, x12 = 0;
        const auto x1 = row(items, "x1", i), x2 = row(items, "x2", i);
        for (std::size_t e = 0; e < x1.size(); ++e) {
          const long double a = x1[e], b = x2[e];
          x11 += a * a, x22 += b * b, x12 += a * b;
        }
        const long double cos = x12 / std::sqrt(x11) / std::sqrt(x22);
        const long double margin = items.parameters.at("margin");
        const long double right = items.at("y")[i] > 0 ? 1 - cos : std::max(cos - margin, 0.0L);
        EXPECT_LE(std::abs(static_cast<double>(right - loss.low[i])), 0.5 * loss.bound[i])
            << scenario << n_dim;
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, 600);
}

// Sums in 16 bits.
float narrow_sum(const std::vector<float>& a, const std::vector<float>& b, Dtype dtype) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum = round_to(dtype, sum + static_cast<double>(a[i]) * static_cast<double>(b[i]));
  return static_cast<float>(sum);
}

double share_of_rows_rejected(Dtype storage, Dtype accumulator, std::int64_t n_dim) {
  const std::int64_t rows = 200;
  Items items = drawn("gaussian", storage, n_dim, rows);
  items.values["y"].assign(rows, 1.0);
  const auto loss = losses_of(items, storage, "exact");
  int rejected = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(rows); ++i) {
    const auto x1 = floats(row(items, "x1", i)), x2 = floats(row(items, "x2", i));
    const FloatSums sums = {narrow_sum(x1, x1, accumulator), narrow_sum(x2, x2, accumulator),
                            narrow_sum(x1, x2, accumulator)};
    const double got = round_to(storage, float_result(sums, items, i, "exact").loss);
    rejected += usage(got, loss, i) > 2 ? 1 : 0;
  }
  return rejected / static_cast<double>(rows);
}

TEST(CosineBound, SumsHeldIn16BitsAreOutside) {
  for (const Dtype accumulator : {Dtype::f16, Dtype::bf16}) {
    for (const std::int64_t n_dim : {31, 100, 1000, 5000}) {
      EXPECT_GT(share_of_rows_rejected(Dtype::f32, accumulator, n_dim), 0.95) << name(accumulator) << n_dim;
      EXPECT_EQ(share_of_rows_rejected(accumulator, Dtype::f32, n_dim), 0) << name(accumulator) << n_dim;
    }
    // The output has 16 bits too: what the sum lost must show in it.
    EXPECT_GT(share_of_rows_rejected(accumulator, accumulator, 100), 0.2) << name(accumulator);
    EXPECT_GT(share_of_rows_rejected(accumulator, accumulator, 1000), 0.4) << name(accumulator);
    EXPECT_GT(share_of_rows_rejected(accumulator, accumulator, 5000), 0.6) << name(accumulator);
  }
}

}  // namespace
}  // namespace lossgrad
