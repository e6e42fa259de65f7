// SPDX-License-Identifier: Apache-2.0
// Right values and bounds of the cosine embedding loss.
#pragma once

#include <array>
#include <vector>

#include "losses/cosine/cosine.hpp"
#include "losses/loss.hpp"
#include "losses/right_value.hpp"

namespace lossgrad {

// One row of a run.
struct CosineItem {
  Vector<double> x1, x2;
  double y;
};
CosineItem cosine_item(const Items& items, std::int64_t index);
inline double cosine_margin(const Items& items) { return items.parameters.at("margin"); }

// As Loss::evaluate.
void evaluate_cosine(const ReferenceRequest& request, CosineConvention convention, const Items& items,
                     Reference& reference);

// Gradients of one row with one set of sums; both outputs.
struct CosineGradients {
  std::array<std::vector<RightValue>, 2> values;
  // y = -1 and cos is NaN or undecided against the margin: a right kernel may take the row for inactive, and
  // write zeros where the active branch gives NaN.
  bool nan_or_zero = false;
};
// The closed gradients in double for dy = 1, with the double's own rounding as their error.
CosineGradients cosine_closed_gradients(const CosineItem& item, double margin, CosineConvention convention);

}  // namespace lossgrad
