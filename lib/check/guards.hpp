// SPDX-License-Identifier: Apache-2.0
// Checks of a kernel's manners at small sizes, and of the bits it repeats.
#pragma once

#include "check/case_context.hpp"

namespace lossgrad {

// Sizes around the block (0, 1, BLOCK-1, BLOCK, BLOCK+1, 2*BLOCK ...), each with aligned and misaligned
// bases: every element right, canaries and inputs intact. Then a second launch on other inputs in the same
// buffers.
Findings check_small_sizes(const CaseContext& context, const ReadyKernel& kernel);

// The same bits from every block size, and on backends that can order threads under shuffled schedules.
Findings check_same_bits(const CaseContext& context, Pass pass);

}  // namespace lossgrad
