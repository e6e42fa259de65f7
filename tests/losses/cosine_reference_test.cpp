// SPDX-License-Identifier: Apache-2.0
// Properties of the cosine reference: its bounds hold for float code that sums in any order and not for sums
// held in 16 bits, gradients obey the laws of the cosine, conventions differ only where eps matters, hulls
// hold both sides of every kink.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "losses/cosine/cosine.hpp"
#include "losses/cosine/cosine_kernel.hpp"
#include "losses/loss.hpp"
#include "math/random.hpp"
#include "math/ridders.hpp"

namespace lossgrad {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::array kConventions = {"exact", "torch", "similarity", "product", "normalize"};

const Loss& cosine() { return find_loss("cosine"); }

Items drawn(const std::string& scenario, Dtype dtype, std::int64_t n_dim, std::int64_t rows,
            double margin = 0.1, std::uint64_t seed = 5) {
  Items items;
  items.count = rows;
  items.sizes = {{"n_rows", rows}, {"n_dim", n_dim}};
  items.parameters = {{"margin", static_cast<float>(margin)}};
  cosine().generate(scenario, dtype, seed, items);
  return items;
}

Items one_row(std::vector<double> x1, std::vector<double> x2, double y, double margin = 0, double dy = 1) {
  Items items;
  items.count = 1;
  items.sizes = {{"n_rows", 1}, {"n_dim", static_cast<std::int64_t>(x1.size())}};
  items.parameters = {{"margin", margin}};
  items.values = {{"x1", std::move(x1)}, {"x2", std::move(x2)}, {"y", {y}}, {"dy", {dy}}};
  return items;
}

ReferenceValues losses_of(const Items& items, Dtype dtype, const std::string& convention) {
  Reference reference;
  cosine().evaluate({Pass::forward, dtype, convention}, items, reference);
  return reference.at("loss");
}
Reference gradients_of(const Items& items, Dtype dtype, const std::string& convention) {
  Reference reference;
  cosine().evaluate({Pass::backward, dtype, convention}, items, reference);
  return reference;
}

std::span<const double> row(const Items& items, const char* argument, std::size_t i) {
  const auto n_dim = static_cast<std::size_t>(items.sizes.at("n_dim"));
  return items.at(argument).subspan(i * n_dim, n_dim);
}
std::span<const double> row(const std::vector<double>& values, std::size_t i, std::size_t n_dim) {
  return std::span(values).subspan(i * n_dim, n_dim);
}

double dot(std::span<const double> a, std::span<const double> b) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<long double>(a[i]) * b[i];
  return static_cast<double>(sum);
}
double norm(std::span<const double> a) { return std::sqrt(dot(a, a)); }

// Float code in several orders of summation.

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

// Error over bound; infinite for a NaN.
double usage(double got, double low, double high, double bound) {
  if (std::isnan(got)) return std::numeric_limits<double>::infinity();
  const double error = got < low ? low - got : got > high ? got - high : 0;
  return error == 0 ? 0 : error / bound;
}
double usage(double got, const ReferenceValues& right, std::size_t e) {
  return usage(got, right.low[e], right.high[e], right.bound[e]);
}
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
TEST(CosineReference, ValuesAreThoseOfLongDouble) {
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

TEST(CosineReference, SumsHeldIn16BitsAreOutside) {
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

// Laws of the cosine.

// cos does not change along a row, so that its gradient is at right angles to it.
TEST(CosineReference, GradientsAreAtRightAnglesToTheirRow) {
  int compared = 0;
  for (const char* convention : {"exact", "similarity", "product", "normalize"}) {
    for (const char* scenario :
         {"gaussian", "unit", "near_parallel", "orthogonal", "large_offset", "sparse"}) {
      for (const std::int64_t n_dim : {1, 2, 31, 200}) {
        const Items items = drawn(scenario, Dtype::f64, n_dim, 50, -0.9);
        const Reference gradients = gradients_of(items, Dtype::f64, convention);
        for (const auto& [output, values] : gradients) {
          const char* own = output == "dx1" ? "x1" : "x2";
          for (std::size_t i = 0; i < 50; ++i) {
            const auto x = row(items, own, i), d = row(values.low, i, static_cast<std::size_t>(n_dim));
            const auto bound = row(values.bound, i, static_cast<std::size_t>(n_dim));
            double slack = 0;
            for (std::size_t e = 0; e < x.size(); ++e) slack += std::abs(x[e]) * bound[e];
            EXPECT_LE(std::abs(dot(x, d)), slack) << convention << ' ' << scenario << ' ' << n_dim;
            EXPECT_LE(slack, 1e-11 * std::abs(items.at("dy")[i]) + 1e-300) << "says something";
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_EQ(compared, 4 * 6 * 4 * 2 * 50);
}

Items scaled(Items items, const char* argument, double factor) {
  for (double& value : items.values[argument]) value *= factor;
  return items;
}

// Longer rows have the same cosine and gradients as much smaller; powers of two scale without rounding.
TEST(CosineReference, ScaleLaws) {
  const Items items = drawn("gaussian", Dtype::f64, 31, 100);
  const auto loss = losses_of(items, Dtype::f64, "exact");
  const Reference gradients = gradients_of(items, Dtype::f64, "exact");
  const Items longer = scaled(scaled(items, "x1", 4), "x2", 0.125);
  EXPECT_EQ(losses_of(longer, Dtype::f64, "exact").low, loss.low);
  const Reference shorter = gradients_of(longer, Dtype::f64, "exact");
  const Reference doubled = gradients_of(scaled(items, "dy", -2), Dtype::f64, "exact");
  for (std::size_t e = 0; e < 3100; ++e) {
    EXPECT_EQ(shorter.at("dx1").low[e], gradients.at("dx1").low[e] / 4);
    EXPECT_EQ(shorter.at("dx2").low[e], gradients.at("dx2").low[e] * 8);
    EXPECT_DOUBLE_EQ(shorter.at("dx1").bound[e], gradients.at("dx1").bound[e] / 4);
    for (const char* output : {"dx1", "dx2"})
      EXPECT_EQ(doubled.at(output).low[e], -2 * gradients.at(output).low[e]);
  }
}

TEST(CosineReference, ExchangedRowsExchangeTheGradients) {
  const Items items = drawn("gaussian", Dtype::f64, 31, 100);
  Items exchanged = items;
  std::swap(exchanged.values["x1"], exchanged.values["x2"]);
  const auto a = losses_of(items, Dtype::f64, "exact"), b = losses_of(exchanged, Dtype::f64, "exact");
  const Reference da = gradients_of(items, Dtype::f64, "exact"),
                  db = gradients_of(exchanged, Dtype::f64, "exact");
  for (std::size_t i = 0; i < 100; ++i) EXPECT_LE(std::abs(a.low[i] - b.low[i]), a.bound[i]);
  for (std::size_t e = 0; e < 3100; ++e) {
    EXPECT_LE(std::abs(da.at("dx1").low[e] - db.at("dx2").low[e]), da.at("dx1").bound[e]);
    EXPECT_LE(std::abs(da.at("dx2").low[e] - db.at("dx1").low[e]), da.at("dx2").bound[e]);
  }
}

// A row turned round: 1 - cos becomes 1 + cos.
TEST(CosineReference, TheNegativeRowHasTheNegativeCosine) {
  Items items = drawn("gaussian", Dtype::f64, 31, 100);
  items.values["y"].assign(100, 1.0);
  const auto loss = losses_of(items, Dtype::f64, "exact").low;
  const auto turned = losses_of(scaled(items, "x1", -1), Dtype::f64, "exact").low;
  for (std::size_t i = 0; i < 100; ++i) EXPECT_NEAR(loss[i] + turned[i], 2, 1e-15);
}

TEST(CosineReference, InactiveRowsAreExactlyZero) {
  int inactive = 0;
  for (const Dtype dtype : kAllDtypes) {
    const Items items = drawn("gaussian", dtype, 31, 200, 0.9);
    const auto loss = losses_of(items, dtype, "exact");
    const Reference gradients = gradients_of(items, dtype, "exact");
    for (std::size_t i = 0; i < 200; ++i) {
      const double cos = dot(row(items, "x1", i), row(items, "x2", i)) / norm(row(items, "x1", i)) /
                         norm(row(items, "x2", i));
      if (items.at("y")[i] > 0 || cos > 0.89) continue;
      EXPECT_EQ(loss.low[i], 0);
      for (const char* output : {"dx1", "dx2"}) {
        for (std::size_t e = 31 * i; e < 31 * (i + 1); ++e) {
          const ReferenceValues& d = gradients.at(output);
          EXPECT_EQ(d.low[e], 0);
          EXPECT_EQ(d.high[e], 0);
          EXPECT_LE(d.bound[e], format_of(dtype).min_subnormal) << name(dtype);
        }
      }
      ++inactive;
    }
  }
  EXPECT_GT(inactive, 150);
}

// Conventions.

TEST(CosineReference, ConventionsAgreeWhereNoEpsMatters) {
  int compared = 0;
  for (const char* scenario : {"gaussian", "unit", "orthogonal", "sparse", "large_offset"}) {
    for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
      const Items items = drawn(scenario, dtype, 31, 60);
      const auto exact = losses_of(items, dtype, "exact");
      const Reference exact_gradients = gradients_of(items, dtype, "exact");
      for (const char* convention : kConventions) {
        const auto loss = losses_of(items, dtype, convention);
        // 1e-12 in the square of each norm.
        const bool adds = std::string(convention) == "torch";
        const auto share_of_eps = [&](std::size_t i) {
          const auto x1 = row(items, "x1", i), x2 = row(items, "x2", i);
          return 1e-14 + (adds ? 2e-12 * (1 / dot(x1, x1) + 1 / dot(x2, x2)) : 0);
        };
        for (std::size_t i = 0; i < 60; ++i) EXPECT_NEAR(loss.low[i], exact.low[i], share_of_eps(i));
        for (const auto& [output, values] : gradients_of(items, dtype, convention)) {
          const ReferenceValues& right = exact_gradients.at(output);
          for (std::size_t e = 0; e < right.low.size(); ++e) {
            const double norm_of_own = norm(row(items, output == "dx1" ? "x1" : "x2", e / 31));
            EXPECT_NEAR(values.low[e], right.low[e], 10 * share_of_eps(e / 31) / norm_of_own) << convention;
            EXPECT_LE(values.bound[e], 1.5 * right.bound[e]) << convention;
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_EQ(compared, 5 * 2 * 5 * 2 * 60 * 31);
}

// ... and only there: a norm of 1e-9 is short for three of them, 1e-13 for four.
TEST(CosineReference, ConventionsDifferWhereEpsMatters) {
  const auto losses = [](double length) {
    std::vector<double> all;
    for (const char* convention : kConventions)
      all.push_back(
          losses_of(one_row({0.6 * length, 0.8 * length}, {4, 3}, 1), Dtype::f64, convention).low[0]);
    return all;  // exact, torch, similarity, product, normalize
  };
  const auto at_9 = losses(1e-9), at_13 = losses(1e-13);
  EXPECT_NEAR(at_9[0], 0.04, 1e-14);
  EXPECT_NEAR(at_9[1], 1 - 0.96 * 1e-9 / std::sqrt(1e-18 + 1e-12), 1e-12);
  EXPECT_NEAR(at_9[2], 1 - 0.096, 1e-14);
  EXPECT_NEAR(at_9[3], 1 - 0.96 * 5e-9 / 1e-8, 1e-14);
  EXPECT_NEAR(at_9[4], 0.04, 1e-14);
  EXPECT_NEAR(at_13[0], 0.04, 1e-14);
  EXPECT_NEAR(at_13[4], 1 - 0.096, 1e-14);
}

TEST(CosineReference, ZeroRowsAreNanInExactOnly) {
  int zero_rows = 0;
  for (const Dtype dtype : kAllDtypes) {
    for (const std::int64_t n_dim : {1, 31}) {
      const Items items = drawn("zero_row", dtype, n_dim, 120);
      for (const char* convention : kConventions) {
        const bool exact = std::string(convention) == "exact";
        const auto loss = losses_of(items, dtype, convention);
        const Reference gradients = gradients_of(items, dtype, convention);
        for (std::size_t i = 0; i < 120; ++i) {
          const bool zero = norm(row(items, "x1", i)) == 0 || norm(row(items, "x2", i)) == 0;
          zero_rows += zero && exact ? 1 : 0;
          EXPECT_EQ(std::isnan(loss.low[i]), zero && exact) << convention << i;
          if (zero && !exact) {
            EXPECT_NEAR(loss.low[i], items.at("y")[i] > 0 ? 1 : 0, 1e-12);
          }
          for (const auto& [output, values] : gradients) {
            for (std::size_t e = 0; e < static_cast<std::size_t>(n_dim); ++e) {
              EXPECT_EQ(std::isnan(values.low[i * static_cast<std::size_t>(n_dim) + e]), zero && exact)
                  << convention << i << output;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(zero_rows, 300);
}

// Kinks.

struct Sides {
  std::vector<double> dx1, dx2;
};
// The active branch by the formula in double; the other one is zero.
Sides active_gradient(const Items& items, std::size_t i) {
  const auto x1 = row(items, "x1", i), x2 = row(items, "x2", i);
  const double r1 = 1 / norm(x1), r2 = 1 / norm(x2), cos = dot(x1, x2) * r1 * r2;
  const double dy = items.at("dy")[i] * (items.at("y")[i] > 0 ? -1 : 1);
  Sides sides;
  for (std::size_t e = 0; e < x1.size(); ++e) {
    sides.dx1.push_back(dy * (x2[e] * r2 - cos * x1[e] * r1) * r1);
    sides.dx2.push_back(dy * (x1[e] * r1 - cos * x2[e] * r2) * r2);
  }
  return sides;
}

TEST(CosineReference, TheHullOfTheHingeHoldsBothSides) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    for (const std::int64_t n_dim : {2, 31, 200}) {
      for (const double margin : {0.0, 0.5, -0.25}) {
        Items items = drawn("near_margin", dtype, n_dim, 100, margin);
        items.values["y"].assign(100, -1.0);
        const Reference gradients = gradients_of(items, dtype, "exact");
        int kinks = 0;
        for (std::size_t i = 0; i < 100; ++i) {
          const Sides active = active_gradient(items, i);
          for (const char* output : {"dx1", "dx2"}) {
            const ReferenceValues& d = gradients.at(output);
            const auto& side = output[2] == '1' ? active.dx1 : active.dx2;
            for (std::size_t k = 0; k < side.size(); ++k) {
              const std::size_t e = i * side.size() + k;
              const bool kink = (d.flags[e] & kKink) != 0;
              kinks += kink ? 1 : 0;
              if (!kink) continue;
              EXPECT_LE(d.low[e], 0);
              EXPECT_GE(d.high[e], 0);
              EXPECT_LE(usage(side[k], d, e), 1) << output << e;
              EXPECT_NEAR(d.high[e] - d.low[e], std::abs(side[k]), d.bound[e]) << "and nothing more";
            }
          }
        }
        // In short rows a few ulp are more than the bound.
        EXPECT_GT(kinks, (n_dim == 2 ? 10 : 80) * 2 * n_dim) << name(dtype) << ' ' << n_dim << ' ' << margin;
      }
    }
  }
}

TEST(CosineReference, ADecidedHingeIsNoKink) {
  for (const double excess : {1e-3, -1e-3}) {
    const double cos = 0.5 + excess;
    const Items items = one_row({1, 0}, {cos, std::sqrt(1 - cos * cos)}, -1, 0.5);
    const Reference gradients = gradients_of(items, Dtype::f64, "exact");
    for (const char* output : {"dx1", "dx2"}) {
      const ReferenceValues& d = gradients.at(output);
      for (std::size_t e = 0; e < 2; ++e) EXPECT_EQ(d.flags[e] & kKink, 0);
      EXPECT_EQ(d.low[1] != 0, excess > 0) << output;
    }
  }
}

TEST(CosineReference, LabelOneHasNoHinge) {
  const Items items = one_row({1, 1, 1, 1}, {1, 1, 1, -1}, 1, 0.5);
  for (const auto& [output, d] : gradients_of(items, Dtype::f32, "exact")) {
    for (std::size_t e = 0; e < 4; ++e) EXPECT_EQ(d.flags[e] & kKink, 0) << output;
  }
}

TEST(CosineReference, DyZeroLeavesNoKink) {
  const Items items = one_row({1, 1, 1, 1}, {1, 1, 1, -1}, -1, 0.5, 0);
  for (const auto& [output, d] : gradients_of(items, Dtype::f32, "exact")) {
    for (std::size_t e = 0; e < 4; ++e) {
      EXPECT_EQ(d.flags[e] & kKink, 0) << output;
      EXPECT_EQ(d.low[e], 0);
      EXPECT_EQ(d.high[e], 0);
    }
  }
}

// A norm that is the least one within rounding: its own gradient has the part along the row, or not.
void expect_both_sides(const Items& items, const std::string& convention, Dtype dtype) {
  const Reference gradients = gradients_of(items, dtype, convention);
  const auto x1 = row(items, "x1", 0), x2 = row(items, "x2", 0);
  const Sides with = active_gradient(items, 0);
  const double r1 = 1 / norm(x1), r2 = 1 / norm(x2);
  for (std::size_t e = 0; e < x1.size(); ++e) {
    const ReferenceValues& d = gradients.at("dx1");
    const double without = -x2[e] * r2 * r1;  // y = 1, dy = 1
    EXPECT_NE(d.flags[e] & kKink, 0) << convention << e;
    EXPECT_LE(usage(with.dx1[e], d, e), 1) << convention << e;
    EXPECT_LE(usage(without, d, e), 1) << convention << e;
    EXPECT_NEAR(d.high[e] - d.low[e], std::abs(without - with.dx1[e]), 2 * d.bound[e]) << convention;
  }
}

TEST(CosineReference, UndecidedMaximaHoldBothSides) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const auto of_length = [&](double length) {
      return std::vector<double>{round_to(dtype, -0.6 * length), round_to(dtype, 0.8 * length)};
    };
    expect_both_sides(one_row(of_length(kCosineNormalizeEps), {3, 4}, 1), "normalize", dtype);
    // 2e-9 * 5 = 1e-8.
    expect_both_sides(one_row(of_length(2e-9), {3, 4}, 1), "product", dtype);
  }
  // Of the product, the other row's gradient as well.
  const Reference product = gradients_of(one_row({2e-9, 0}, {3, 4}, 1), Dtype::f64, "product");
  EXPECT_NE(product.at("dx2").flags[0] & kKink, 0);
  // Of normalize, not.
  const Reference normalize = gradients_of(one_row({1e-12, 0}, {3, 4}, 1), Dtype::f64, "normalize");
  EXPECT_NEAR(normalize.at("dx2").low[0], normalize.at("dx2").high[0], 4 * normalize.at("dx2").bound[0]);
}

// The gradient of similarity does not see its maxima: the least norm is no kink.
TEST(CosineReference, SimilarityIsSmoothAtItsLeastNorm) {
  for (const Dtype dtype : {Dtype::f32, Dtype::f64}) {
    const double a = round_to(dtype, 0.6e-8), b = round_to(dtype, -0.8e-8);
    for (const auto& [output, d] : gradients_of(one_row({a, b}, {3, 4}, 1), dtype, "similarity")) {
      for (std::size_t e = 0; e < 2; ++e) {
        EXPECT_LE(d.high[e] - d.low[e], 0.5 * d.bound[e]) << name(dtype) << output;
      }
    }
  }
}

TEST(CosineReference, BothMaximaUndecided) {
  const Items items = one_row({0.6e-12, 0.8e-12}, {1e-12, 0}, 1);
  const Reference gradients = gradients_of(items, Dtype::f64, "normalize");
  const Sides with = active_gradient(items, 0);
  for (std::size_t e = 0; e < 2; ++e) {
    for (const auto* right : {&with.dx1[e]}) EXPECT_LE(usage(*right, gradients.at("dx1"), e), 1);
    EXPECT_LE(usage(with.dx2[e], gradients.at("dx2"), e), 1);
    const double without1 = -items.at("x2")[e] * 1e24, without2 = -items.at("x1")[e] * 1e24;
    EXPECT_LE(usage(without1, gradients.at("dx1"), e), 1);
    EXPECT_LE(usage(without2, gradients.at("dx2"), e), 1);
  }
}

// Away from the least norm nothing is undecided.
TEST(CosineReference, DecidedMaximaAreNoKinks) {
  for (const char* convention : {"normalize", "product", "similarity"}) {
    for (const double length : {1e-14, 1e-10, 1e-6, 1.0}) {
      for (const auto& [output, d] : gradients_of(one_row({length, 0}, {3, 4}, 1), Dtype::f32, convention)) {
        EXPECT_EQ((d.flags[0] | d.flags[1]) & kKink, 0) << convention << length << output;
      }
    }
  }
}

// NaN.

TEST(CosineReference, NanWithLabelMinusOneMayBeZeroToo) {
  for (const double y : {1.0, -1.0}) {
    for (const char* convention : kConventions) {
      const Items items = one_row({kNan, 1}, {1, 2}, y);
      EXPECT_TRUE(std::isnan(losses_of(items, Dtype::f32, convention).low[0]));
      EXPECT_EQ(losses_of(items, Dtype::f32, convention).flags[0] & kZeroToo, 0) << "the loss is NaN";
      for (const auto& [output, d] : gradients_of(items, Dtype::f32, convention)) {
        for (std::size_t e = 0; e < 2; ++e) {
          EXPECT_TRUE(std::isnan(d.low[e])) << convention << output;
          EXPECT_EQ((d.flags[e] & kZeroToo) != 0, y < 0) << convention << output;
        }
      }
    }
    const Items zero = one_row({0, 0}, {1, 2}, y);
    for (const auto& [output, d] : gradients_of(zero, Dtype::f32, "exact"))
      EXPECT_EQ((d.flags[0] & kZeroToo) != 0, y < 0) << output;
    for (const auto& [output, d] : gradients_of(zero, Dtype::f32, "torch"))
      EXPECT_EQ(d.flags[0] & kZeroToo, 0) << output;
  }
}

TEST(CosineReference, NanStaysInItsRow) {
  Items items = drawn("gaussian", Dtype::f32, 31, 3);
  const Items clean = items;
  items.values["x2"][31 + 5] = kNan;
  items.values["dy"][2] = kNan;
  items.values["y"] = {1, 1, 1};
  const auto loss = losses_of(items, Dtype::f32, "exact");
  EXPECT_FALSE(std::isnan(loss.low[0]));
  EXPECT_TRUE(std::isnan(loss.low[1]));
  EXPECT_FALSE(std::isnan(loss.low[2])) << "the loss does not depend on dy";
  for (const auto& [output, d] : gradients_of(items, Dtype::f32, "exact")) {
    for (std::size_t e = 0; e < 31; ++e) {
      EXPECT_TRUE(std::isfinite(d.low[e]));
      EXPECT_TRUE(std::isnan(d.low[31 + e])) << output << e;
      EXPECT_TRUE(std::isnan(d.low[62 + e])) << output << e;
    }
  }
}

TEST(CosineReference, SquaresBeyondTheRangeAreFlagged) {
  const auto flags = [](double length, Dtype dtype, const char* convention) {
    return losses_of(one_row({0.6 * length, 0.8 * length}, {0.8 * length, 0.6 * length}, 1), dtype,
                     convention)
        .flags[0];
  };
  EXPECT_NE(flags(1e21, Dtype::f32, "exact") & kOverflow, 0);
  EXPECT_NE(flags(1e21, Dtype::f32, "similarity") & kOverflow, 0);
  EXPECT_EQ(flags(1e21, Dtype::f64, "exact") & kOverflow, 0);
  EXPECT_NE(flags(1e160, Dtype::f64, "exact") & kOverflow, 0);
  // The product of the squares is infinite, the squares are not: many kernels form it.
  EXPECT_NE(flags(1e10, Dtype::f32, "exact") & kOverflow, 0);
  EXPECT_EQ(flags(1e10, Dtype::f32, "similarity") & kOverflow, 0);
  EXPECT_EQ(flags(1e9, Dtype::f32, "exact") & kOverflow, 0);
}

TEST(CosineReference, AlmostEveryElementHasAFiniteBound) {
  for (const ScenarioInfo& scenario : cosine().scenarios()) {
    const bool extreme = scenario.name == "tiny_norm" || scenario.name == "zero_row";
    const Items items = drawn(scenario.name, Dtype::f32, 31, 500);
    for (const char* convention : kConventions) {
      for (const auto& [output, d] : gradients_of(items, Dtype::f32, convention)) {
        const auto unbounded =
            std::count_if(d.bound.begin(), d.bound.end(), [](double bound) { return !std::isfinite(bound); });
        EXPECT_LE(unbounded, extreme ? 0.2 * 500 * 31 : 0.03 * 500 * 31)
            << scenario.name << ' ' << convention << ' ' << output;
      }
    }
  }
}

// Closed gradient, automatic differentiation and differences of the value, along random directions.

struct Along {
  double closed = 0, error = 0;
};
Along along(const GradientOracles& oracles, std::span<const double> direction) {
  Along sum;
  for (std::size_t e = 0; e < direction.size(); ++e) {
    sum.closed += oracles.closed[e] * direction[e];
    sum.error += oracles.closed_error[e] * std::abs(direction[e]);
  }
  return sum;
}

std::vector<double> random_direction(ItemRandom& random, std::size_t size) {
  std::vector<double> direction(size);
  for (double& x : direction) x = random.normal();
  const double length = norm(direction);
  for (double& x : direction) x /= length;
  return direction;
}

struct Counts {
  int automatic = 0, differences = 0;
};

void compare_oracles(const Items& items, const char* convention, std::int64_t i, Counts& counts) {
  const GradientOracles oracles = cosine().oracles(convention, items, i);
  const std::size_t size = oracles.point.size();
  ASSERT_EQ(size, 2 * static_cast<std::size_t>(items.sizes.at("n_dim")));
  ASSERT_EQ(oracles.closed.size(), size);
  ASSERT_EQ(oracles.closed_error.size(), size);
  ASSERT_EQ(oracles.smooth_radius.size(), size);
  ItemRandom random(11, 0, i);
  const auto direction = random_direction(random, size);
  const double radius = *std::min_element(oracles.smooth_radius.begin(), oracles.smooth_radius.end());
  const Along right = along(oracles, direction);
  if (radius == 0 || !std::isfinite(right.closed)) return;
  const double automatic = cosine().derivative_along(convention, items, i, direction);
  EXPECT_NEAR(automatic, right.closed, 4 * right.error) << convention << i;
  ++counts.automatic;
  const auto value = [&](double step) {
    auto moved = oracles.point;
    for (std::size_t e = 0; e < size; ++e) moved[e] += step * direction[e];
    return cosine().value_at(convention, items, i, moved);
  };
  // Moving along one component only, in units of the radius: its own scale.
  const DerivativeEstimate difference = ridders_derivative(value, 0, radius, 1e-15);
  if (!(difference.error < 1e-4 * std::abs(right.closed))) return;
  EXPECT_NEAR(difference.value, right.closed, 10 * difference.error + 4 * right.error) << convention << i;
  ++counts.differences;
}

TEST(CosineReference, ClosedGradientAutomaticDifferentiationAndDifferencesAgree) {
  for (const char* convention : kConventions) {
    Counts counts;
    for (const ScenarioInfo& scenario : cosine().scenarios()) {
      for (const std::int64_t n_dim : {1, 2, 31, 200}) {
        SCOPED_TRACE(scenario.name + " dim " + std::to_string(n_dim));
        const Items items = drawn(scenario.name, Dtype::f64, n_dim, 20);
        for (std::int64_t i = 0; i < 20; ++i) compare_oracles(items, convention, i, counts);
      }
    }
    EXPECT_GT(counts.automatic, 14 * 4 * 20 / 2) << convention;
    EXPECT_GT(counts.differences, 14 * 4 * 20 / 4) << convention;
  }
}

// A change of one component by less than its radius stays on one side: the difference is the derivative.
TEST(CosineReference, RadiiStayClearOfKinks) {
  int compared = 0;
  for (const char* convention : kConventions) {
    Items items = drawn("gaussian", Dtype::f64, 2, 100, 0.3);
    // Norms about the least ones.
    for (std::size_t i = 0; i < 40; ++i) {
      const double factor = std::pow(10.0, -7 - static_cast<double>(i % 7));
      for (std::size_t e = 2 * i; e < 2 * i + 2; ++e) items.values["x1"][e] *= factor;
    }
    for (std::int64_t i = 0; i < 100; ++i) {
      const GradientOracles oracles = cosine().oracles(convention, items, i);
      for (std::size_t c = 0; c < 4; ++c) {
        const double radius = oracles.smooth_radius[c];
        if (radius == 0) continue;
        const auto value = [&](double x) {
          auto moved = oracles.point;
          moved[c] = x;
          return cosine().value_at(convention, items, i, moved);
        };
        const auto difference = ridders_derivative(value, oracles.point[c], radius, 1e-15);
        if (!(difference.error < 1e-3 * std::abs(oracles.closed[c]))) continue;
        EXPECT_NEAR(difference.value, oracles.closed[c], 10 * difference.error + 4 * oracles.closed_error[c])
            << convention << ' ' << i << ' ' << c;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 600);
}

TEST(CosineReference, ValuesAtThePointAreThoseOfTheReference) {
  for (const char* convention : kConventions) {
    const Items items = drawn("gaussian", Dtype::f64, 31, 50);
    const auto loss = losses_of(items, Dtype::f64, convention);
    for (std::int64_t i = 0; i < 50; ++i) {
      const GradientOracles oracles = cosine().oracles(convention, items, i);
      const auto e = static_cast<std::size_t>(i);
      EXPECT_LE(usage(cosine().value_at(convention, items, i, oracles.point), loss, e), 1);
    }
  }
  EXPECT_EQ(cosine().value_from_outputs("exact", {{"loss", {0.25}}}, {}), 0.25);
}

}  // namespace
}  // namespace lossgrad
