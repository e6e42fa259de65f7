// SPDX-License-Identifier: Apache-2.0
// Ridders' steps and extrapolation together, for a function of one variable.
#pragma once

#include <vector>

#include "math/ridders.hpp"

namespace lossgrad::test {

// The function's values err by at most `noise`.
template <class Function>
DerivativeEstimate ridders_derivative(Function function, double x, double first_step, double noise) {
  std::vector<double> forward, backward, widths;
  for (const double step : ridders_steps(first_step, kRiddersSteps)) {
    const double above = x + step, below = x - step;
    forward.push_back(function(above));
    backward.push_back(function(below));
    widths.push_back(above - below);
  }
  return ridders_extrapolate(forward, backward, widths, noise);
}

}  // namespace lossgrad::test
