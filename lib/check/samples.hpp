// SPDX-License-Identifier: Apache-2.0
// Which items and components of a case are compared with finite differences.
#pragma once

#include <cstdint>
#include <vector>

#include "check/input_source.hpp"

namespace lossgrad {

struct Sample {
  Items item;              // one item
  std::int64_t index = 0;  // in the case
  GradientOracles oracles;
  // At most 8 components of the differentiated inputs, those away from kinks, and the first step along each.
  struct Component {
    std::size_t index;
    double first_step;
  };
  std::vector<Component> components;
  double value_error = 0;  // bound of the rounding error of the value in double
};

// Up to request.fd_samples items, evenly spread, with finite inputs and away from kinks.
std::vector<Sample> draw_samples(const CheckRequest& request, const InputSource& source);

}  // namespace lossgrad
