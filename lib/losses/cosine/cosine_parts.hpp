// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "losses/cosine/cosine_reference.hpp"
#include "losses/loss.hpp"

namespace lossgrad {

// As Loss::parts. Forward: 1 or the margin, and cos, with their signs. Backward, for each of dx1 and dx2: the
// terms x2*r2*r1 and -x1*cos*k1*r1, both times the coefficient (-dy, dy, or 0 where the hinge is inactive),
// so that what scales the coefficient scales the whole.
std::vector<LossPart> cosine_parts(Pass pass, CosineConvention convention, const CosineItem& row, double dy,
                                   double margin);

}  // namespace lossgrad
