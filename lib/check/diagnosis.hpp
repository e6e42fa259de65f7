// SPDX-License-Identifier: Apache-2.0
// Says which entry of the loss's dictionary of deviations (losses/fault.hpp), or which other convention,
// explains what a failed kernel computed: the faulty kernels run in f64 on some of the case's items, and the
// ones whose numbers agree with the failed kernel's within its bounds are named.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "check/case_context.hpp"
#include "results/results.hpp"

namespace lossgrad {

// `worst`: items that are known to be wrong; they and the first items of the case are looked at. Best first,
// those of the two best ranks; empty when nothing explains at least nine tenths of the elements that
// are wrong, and of those that it would make wrong. Throws what a backend throws.
std::vector<Diagnosis> diagnose(const CaseContext& context, Pass pass,
                                const std::vector<std::int64_t>& worst);

}  // namespace lossgrad
