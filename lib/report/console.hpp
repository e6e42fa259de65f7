// SPDX-License-Identifier: Apache-2.0
// Results as text for people. Reads results only.
#pragma once

#include <iosfwd>
#include <span>

#include "report/console_style.hpp"
#include "results/results.hpp"

namespace lossgrad {

// The results of one case, of all its passes: a heading, a row per check, the worst elements and the
// diagnosis of those that failed, and the command that repeats the case where one failed or is mistrusted.
// Nothing for no results.
void print_case(std::ostream& out, std::span<const CheckResult> results, const ConsoleStyle& style);

// One line: "8 checks: 7 passed, 1 failed in 3.2 s". Says so when the run was stopped or no check ran.
void print_summary(std::ostream& out, const Run& run, double seconds, const ConsoleStyle& style);

}  // namespace lossgrad
