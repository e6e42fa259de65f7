// SPDX-License-Identifier: Apache-2.0
// Rows as the cosine scenarios draw them, and how often they have a property: for the tests of the scenarios.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "losses/cosine/cosine_scenarios.hpp"
#include "math/dtype.hpp"

namespace lossgrad {

inline constexpr std::array<std::int64_t, 4> kDims = {1, 2, 31, 200};

inline double dot(const std::vector<double>& a, const std::vector<double>& b) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<long double>(a[i]) * b[i];
  return static_cast<double>(sum);
}
inline double norm(const std::vector<double>& a) { return std::sqrt(dot(a, a)); }
inline double cosine(const CosineRow& row) { return dot(row.x1, row.x2) / norm(row.x1) / norm(row.x2); }
inline bool is_zero(const std::vector<double>& a) {
  return std::all_of(a.begin(), a.end(), [](double x) { return x == 0; });
}

using Property = std::function<bool(const CosineRow&)>;

// Of the first `rows` rows of seed 1.
inline double share(const std::string& scenario, Dtype dtype, std::int64_t n_dim, const Property& holds,
                    double margin = 0.25, int rows = 600) {
  const CosineSampler sampler(scenario, dtype, n_dim, margin);
  int count = 0;
  for (int i = 0; i < rows; ++i) count += holds(sampler(1, i)) ? 1 : 0;
  return count / static_cast<double>(rows);
}

// Calls `look` for every storage type and row length.
inline void everywhere(const std::function<void(Dtype, std::int64_t)>& look) {
  for (const Dtype dtype : kAllDtypes) {
    for (const std::int64_t n_dim : kDims) {
      SCOPED_TRACE(std::string(name(dtype)) + " dim " + std::to_string(n_dim));
      look(dtype, n_dim);
    }
  }
}

// A rounding of the storage type.
inline double rounding(Dtype dtype) { return ulp(dtype, 1.0); }

// Right angles are made by a subtraction in double: f64 shows what it loses in short rows.
inline bool made_by_cancellation(Dtype dtype, std::int64_t n_dim) {
  return dtype == Dtype::f64 && n_dim < 31;
}

}  // namespace lossgrad
