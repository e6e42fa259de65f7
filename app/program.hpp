// SPDX-License-Identifier: Apache-2.0
// The program without its process: arguments in, exit code out. Every error becomes one line on `err` here.
#pragma once

#include <string>
#include <vector>

#include "app/commands.hpp"

namespace lossgrad::app {

int run_program(const std::vector<std::string>& arguments, const Environment& environment);

}  // namespace lossgrad::app
