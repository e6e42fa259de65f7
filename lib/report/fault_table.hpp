// SPDX-License-Identifier: Apache-2.0
// What became of injected faults, as text for people.
#pragma once

#include <iosfwd>
#include <span>

#include "report/console_style.hpp"
#include "results/results.hpp"

namespace lossgrad {

// A row per fault: family, pass, outcome, largest bound usage, the checks that caught it; why, where it
// slipped or is equivalent. With only_problems just the faults that slipped. Then a line per family.
void print_faults(std::ostream& out, std::span<const FaultResult> faults, const ConsoleStyle& style);

// A row per fault that has numbers of its own: what a diagnosis of the faulty kernel named, and the rank of
// the right name ("-": not among the first two).
void print_confusion(std::ostream& out, std::span<const FaultResult> faults, const ConsoleStyle& style);

// "236 faults: 230 caught, 6 equivalent in 41 s", and how many a diagnosis named.
void print_fault_summary(std::ostream& out, const Run& run, double seconds, const ConsoleStyle& style);

}  // namespace lossgrad
