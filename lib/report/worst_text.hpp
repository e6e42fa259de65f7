// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "results/results.hpp"

namespace lossgrad {

// Lines that describe one element: what the kernel gave, what is right, and the inputs in full precision.
std::vector<std::string> worst_lines(const WorstElement& element);

}  // namespace lossgrad
