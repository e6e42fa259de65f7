// SPDX-License-Identifier: Apache-2.0
// Input distributions of the cosine embedding loss. Row i depends only on scenario, dtype, seed, i, the row's
// length and the margin.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "losses/loss.hpp"

namespace lossgrad {

std::span<const ScenarioInfo> cosine_scenarios();

struct CosineRow {
  std::vector<double> x1, x2;
  double y = 1;
  double dy = 1;
};

class CosineSampler {
 public:
  // Throws ErrorKind::internal for a name that is not in cosine_scenarios().
  CosineSampler(std::string_view scenario, Dtype dtype, std::int64_t n_dim, double margin);
  // Values as `dtype` holds them.
  [[nodiscard]] CosineRow operator()(std::uint64_t seed, std::int64_t row) const;

 private:
  std::size_t index_ = 0;
  Dtype dtype_;
  std::size_t n_dim_;
  double margin_;
};

}  // namespace lossgrad
