// SPDX-License-Identifier: Apache-2.0
#include "check/number.hpp"

#include <array>
#include <cmath>
#include <cstdio>

namespace lossgrad {

std::string number(double value, int digits) {
  if (std::isnan(value)) return "nan";
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.*g", digits, value);
  return text.data();
}

}  // namespace lossgrad
