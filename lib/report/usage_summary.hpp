// SPDX-License-Identifier: Apache-2.0
// How near to their bounds the results of a whole run came.
#pragma once

#include <iosfwd>

#include "results/results.hpp"

namespace lossgrad {

// A row per loss, dtype, pass and check that measured bound usage: cases, their boxes or rows, elements
// compared, kinks, the largest usage and where it was. Prints nothing where no row has more than one case:
// the cases' own tables say all of it.
void print_usage_summary(std::ostream& out, const Run& run);

}  // namespace lossgrad
