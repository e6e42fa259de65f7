// SPDX-License-Identifier: Apache-2.0
// The command line: the only user of CLI11. Options named after arguments (--pred FILE) and sizes (--n N)
// come from the losses, so a new loss brings its own.
#pragma once

#include <string>
#include <vector>

#include "app/options.hpp"

namespace lossgrad::app {

// `arguments`: without the program's name. Throws ErrorKind::usage, one line.
CommandLine parse_command_line(const std::vector<std::string>& arguments);

}  // namespace lossgrad::app
