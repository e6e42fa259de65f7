// SPDX-License-Identifier: Apache-2.0
// Checks of a kernel's manners at small sizes, and of the bits it repeats.
#pragma once

#include "check/case_context.hpp"

namespace lossgrad {

class KernelRun;

// Elements that one launch of the kernel writes.
std::int64_t written_elements(const KernelRun& run, const Kernel& kernel);

// Sizes around nothing, the warp and the block (0, 1, 31, BLOCK-1, BLOCK, BLOCK+1, 2*BLOCK ...), those from
// BLOCK-1 up with aligned and with misaligned bases: every element right, canaries and inputs intact. At
// BLOCK+1 also a second launch on other inputs in the same buffers.
Findings check_small_sizes(const CaseContext& context, const ReadyKernel& kernel);

// The same bits from every block size, and on backends that can order threads under shuffled schedules.
Findings check_same_bits(const CaseContext& context, Pass pass);

}  // namespace lossgrad
