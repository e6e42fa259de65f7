// SPDX-License-Identifier: Apache-2.0
// Numbers in the reasons of results.
#pragma once

#include <string>

namespace lossgrad {

// In so many significant digits; a NaN of either sign is "nan".
std::string number(double value, int digits = 9);

}  // namespace lossgrad
