// SPDX-License-Identifier: Apache-2.0
// Rows for tests of the cosine reference, and looks into what it says of them.
#pragma once

#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "losses/loss.hpp"

namespace lossgrad::cosine_rows {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
inline constexpr std::array kConventions = {"exact", "torch", "similarity", "product", "normalize"};

inline const Loss& cosine() { return find_loss("cosine"); }

inline Items drawn(const std::string& scenario, Dtype dtype, std::int64_t n_dim, std::int64_t rows,
                   double margin = 0.1, std::uint64_t seed = 5) {
  Items items;
  items.count = rows;
  items.sizes = {{"n_rows", rows}, {"n_dim", n_dim}};
  items.parameters = {{"margin", static_cast<float>(margin)}};
  cosine().generate(scenario, dtype, seed, items);
  return items;
}

inline Items one_row(std::vector<double> x1, std::vector<double> x2, double y, double margin = 0,
                     double dy = 1) {
  Items items;
  items.count = 1;
  items.sizes = {{"n_rows", 1}, {"n_dim", static_cast<std::int64_t>(x1.size())}};
  items.parameters = {{"margin", margin}};
  items.values = {{"x1", std::move(x1)}, {"x2", std::move(x2)}, {"y", {y}}, {"dy", {dy}}};
  return items;
}

inline ReferenceValues losses_of(const Items& items, Dtype dtype, const std::string& convention) {
  Reference reference;
  cosine().evaluate({Pass::forward, dtype, convention}, items, reference);
  return reference.at("loss");
}
inline Reference gradients_of(const Items& items, Dtype dtype, const std::string& convention) {
  Reference reference;
  cosine().evaluate({Pass::backward, dtype, convention}, items, reference);
  return reference;
}

inline std::span<const double> row(const Items& items, const char* argument, std::size_t i) {
  const auto n_dim = static_cast<std::size_t>(items.sizes.at("n_dim"));
  return items.at(argument).subspan(i * n_dim, n_dim);
}
inline std::span<const double> row(const std::vector<double>& values, std::size_t i, std::size_t n_dim) {
  return std::span(values).subspan(i * n_dim, n_dim);
}

inline double dot(std::span<const double> a, std::span<const double> b) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<long double>(a[i]) * b[i];
  return static_cast<double>(sum);
}
inline double norm(std::span<const double> a) { return std::sqrt(dot(a, a)); }

// Error over bound; infinite for a NaN.
inline double usage(double got, double low, double high, double bound) {
  if (std::isnan(got)) return std::numeric_limits<double>::infinity();
  const double error = got < low ? low - got : got > high ? got - high : 0;
  return error == 0 ? 0 : error / bound;
}
inline double usage(double got, const ReferenceValues& right, std::size_t e) {
  return usage(got, right.low[e], right.high[e], right.bound[e]);
}

}  // namespace lossgrad::cosine_rows
