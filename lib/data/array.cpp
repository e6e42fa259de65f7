// SPDX-License-Identifier: Apache-2.0
#include "data/array.hpp"

namespace lossgrad {

std::string shape_text(const std::vector<std::int64_t>& shape) {
  constexpr std::size_t kMost = 8;
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size() && i < kMost; ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  if (shape.size() > kMost) text += ", ... " + std::to_string(shape.size()) + " dimensions";
  return text + "]";
}

}  // namespace lossgrad
