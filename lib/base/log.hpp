// SPDX-License-Identifier: Apache-2.0
// Log lines go to standard error through spdlog's default logger; results never pass through it.
#pragma once

namespace lossgrad {

enum class Verbosity { quiet, normal, verbose };

// verbose: everything; else warnings and errors (quiet is about results).
void set_up_log(Verbosity verbosity);

}  // namespace lossgrad
