// SPDX-License-Identifier: Apache-2.0
// Right values and bounds of the CIoU loss.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "losses/ciou/ciou.hpp"
#include "losses/loss.hpp"

namespace lossgrad {

// Box i of an array [4, count].
template <class T>
CiouBox<T> ciou_box_at(std::span<const double> boxes, std::int64_t count, std::int64_t i) {
  const auto at = [&](std::int64_t component) {
    return T(boxes[static_cast<std::size_t>(component * count + i)]);
  };
  return {at(0), at(1), at(2), at(3)};
}

// As Loss::evaluate.
void evaluate_ciou(const ReferenceRequest& request, const Items& items, Reference& reference);

// The closed gradient of one box by pred (cx, cy, w, h) in double for dy = 1, with the double's own rounding
// as its error: infinity where an intermediate overflowed.
struct CiouClosedGradient {
  std::array<double, 4> values, errors;
};
CiouClosedGradient ciou_closed_gradient(const Items& items, std::int64_t index,
                                        const CiouConvention& convention);

}  // namespace lossgrad
