// SPDX-License-Identifier: Apache-2.0
// Log lines go to standard error through spdlog's default logger; results never pass through it.
#pragma once

namespace lossgrad {

enum class Verbosity { quiet, normal, verbose };

// quiet: errors only; normal: warnings and errors; verbose: everything.
void set_up_log(Verbosity verbosity);

}  // namespace lossgrad
