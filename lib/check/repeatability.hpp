// SPDX-License-Identifier: Apache-2.0
// The bits that a kernel repeats.
#pragma once

#include "check/case_context.hpp"

namespace lossgrad {

// The same bits from every block size of Loss::repeatability_blocks(), and from further launches: under
// shuffled schedules on backends that can order threads, as they come on others.
Findings check_same_bits(const CaseContext& context, Pass pass);

}  // namespace lossgrad
