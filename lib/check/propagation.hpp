// SPDX-License-Identifier: Apache-2.0
// What becomes of a NaN or an infinity in one element of an input.
#pragma once

#include "check/case_context.hpp"

namespace lossgrad {

// At a small size of its own (two blocks and a ragged tail; long items: few of them), on the case's items.
// One launch as they are; then, for a NaN and either infinity, launches with it in one element of each of
// some scattered items, the inputs and dy in turn, until each item has had it in each of them; and for a NaN
// and infinity one launch for each input and dy with it in the first and last item of each 32 and of all,
// which a warp, a block or a launch may take for its other items. Items that were left alone keep their bits;
// in the others every output is what the reference says for those inputs: what depends on a NaN is NaN.
Findings check_propagation(const CaseContext& context, const ReadyKernel& kernel);

}  // namespace lossgrad
