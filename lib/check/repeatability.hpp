// SPDX-License-Identifier: Apache-2.0
// The bits that a kernel repeats.
#pragma once

#include "check/case_context.hpp"

namespace lossgrad {

// The same bits from every block size, and on backends that can order threads under shuffled schedules.
Findings check_same_bits(const CaseContext& context, Pass pass);

}  // namespace lossgrad
