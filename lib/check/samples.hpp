// SPDX-License-Identifier: Apache-2.0
// Which items of a case are compared with finite differences, and along which directions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "check/input_source.hpp"

namespace lossgrad {

// A component of the gradient, or a random direction of length 1 across all of them.
struct Direction {
  std::size_t component = 0;
  std::vector<double> dense;  // empty: along `component`
  double first_step = 0;

  [[nodiscard]] std::vector<double> moved(std::vector<double> point, double step) const;
  // The distance between two points that were moved by step and -step, as rounding left it.
  [[nodiscard]] double width(std::span<const double> above, std::span<const double> below, double step) const;
  // The direction as a vector of `size` components.
  [[nodiscard]] std::vector<double> vector(std::size_t size) const;
  // Sum of gradient * direction, and of magnitudes * |direction|.
  [[nodiscard]] double along(std::span<const double> gradient) const;
  [[nodiscard]] double along_magnitudes(std::span<const double> magnitudes) const;
};

struct Sample {
  Items item;              // one item
  std::int64_t index = 0;  // in the case
  GradientOracles oracles;
  // Away from kinks. At most kMostCoordinates components, and where there are more of them random directions
  // too; with CheckRequest::full_jacobian every component.
  std::vector<Direction> directions;
  double value_error = 0;  // bound of the rounding error of lossgrad's own value in double
};

// Up to request.fd_samples items, evenly spread, with finite inputs and away from kinks; fewer where items
// are so long that their differences would take longer than the rest of the case.
std::vector<Sample> draw_samples(const CheckRequest& request, const InputSource& source);

// "d_pred" and 2 for component 2 of ciou: the gradients' components follow each other in the order of the
// arguments.
struct GradientComponent {
  std::string output;
  std::size_t component = 0;
};
GradientComponent gradient_component(const CheckRequest& request, std::size_t component);

}  // namespace lossgrad
