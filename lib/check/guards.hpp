// SPDX-License-Identifier: Apache-2.0
// A kernel's manners at small sizes.
#pragma once

#include "check/case_context.hpp"

namespace lossgrad {

// Sizes around nothing, the warp and the block (0, 1, 31, BLOCK-1, BLOCK, BLOCK+1, 2*BLOCK ...; long items:
// few of them): every element right, canaries and inputs intact. At some (32 and 33, of smaller blocks BLOCK
// and BLOCK+1; and 2*BLOCK+4 where it is among them) again among NaN and, with other sentinels, with bases
// off alignment: there every element written, also where the reference has no bound. At BLOCK+1 also a second
// launch on other inputs in the same buffers.
Findings check_small_sizes(const CaseContext& context, const ReadyKernel& kernel);

}  // namespace lossgrad
