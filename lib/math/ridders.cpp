// SPDX-License-Identifier: Apache-2.0
#include "math/ridders.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lossgrad {
namespace {

constexpr double kShrink = 1.4;
constexpr double kShrinkSquared = kShrink * kShrink;

}  // namespace

std::vector<double> ridders_steps(double first_step, int count) {
  std::vector<double> steps(static_cast<std::size_t>(count));
  for (double& step : steps) {
    step = first_step;
    first_step /= kShrink;
  }
  return steps;
}

DerivativeEstimate ridders_extrapolate(std::span<const double> forward, std::span<const double> backward,
                                       std::span<const double> widths, double noise) {
  DerivativeEstimate best{0, std::numeric_limits<double>::infinity()};
  std::vector<double> previous;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (!(widths[i] > 0)) break;
    std::vector<double> row(i + 1);
    row[0] = (forward[i] - backward[i]) / widths[i];
    const double rounding = 2 * noise / widths[i];
    double factor = kShrinkSquared;
    for (std::size_t j = 1; j <= i; ++j, factor *= kShrinkSquared) {
      row[j] = (row[j - 1] * factor - previous[j - 1]) / (factor - 1);
      // Two neighbours of an entry agree by chance now and then, at steps that are still too large; three do
      // not.
      if (j == i) continue;
      const double error = std::max({std::abs(row[j] - row[j - 1]), std::abs(row[j] - previous[j - 1]),
                                     std::abs(row[j] - previous[j])}) +
                           4 * rounding;
      if (error <= best.error) best = {row[j], error};
    }
    previous = std::move(row);
  }
  return best;
}

}  // namespace lossgrad
