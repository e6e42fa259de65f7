// SPDX-License-Identifier: Apache-2.0
// Which part of a formula a failed comparison is about.
#pragma once

#include <optional>

#include "check/kernel_run.hpp"

namespace lossgrad {

// The one part of the loss's outputs (Loss::parts), or the whole of them, that the kernel takes with another
// constant factor: with this factor, and with it alone, every element looked at is right. Looks at the worst
// items, at others that fail and at some spread over the case: of all outputs together, else of those outputs
// or components that are wrong. Nothing when no part, or more than one, explains what `run` holds.
std::optional<PartFault> part_that_is_off(const CheckRequest& request, const KernelRun& run,
                                          const Kernel& kernel, const Comparison& comparison);

}  // namespace lossgrad
