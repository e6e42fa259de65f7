// SPDX-License-Identifier: Apache-2.0
// Distributions of box pairs. Each is a documented function of (seed, box index); values are rounded to the
// storage type.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "losses/loss.hpp"
#include "math/dtype.hpp"

namespace lossgrad {

struct CiouSample {
  std::array<double, 4> pred;  // cx, cy, w, h
  std::array<double, 4> target;
  double dy;
};

std::span<const ScenarioInfo> ciou_scenarios();

class CiouSampler {
 public:
  // Throws ErrorKind::internal for an unknown name (the command line has checked it).
  explicit CiouSampler(std::string_view scenario);
  CiouSample operator()(Dtype dtype, std::uint64_t seed, std::int64_t item) const;

 private:
  std::size_t index_ = 0;
};

}  // namespace lossgrad
