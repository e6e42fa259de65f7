// SPDX-License-Identifier: Apache-2.0
// Injects a fault of a loss's dictionary into the built-in kernel and looks which checks catch it.
#pragma once

#include "check/check.hpp"
#include "device/backend.hpp"
#include "losses/fault.hpp"
#include "results/results.hpp"

namespace lossgrad {

// The case in which the fault shows, with the faulty kernel in the place of the built-in one.
CheckRequest fault_request(const Loss& loss, const Fault& fault, Dtype dtype);

// Checks the faulty kernel in that case. `caught`: the check that the fault names failed, for the reason that
// it names, with no other outputs among its worst elements, and the checks that cannot see it passed.
// `equivalent`: in a type in which the fault does not show that check does not fail; or a race that no order
// of threads of this device shows. With `diagnose` the result says what a diagnosis of the faulty kernel
// suggests.
FaultResult check_fault(const Loss& loss, const Fault& fault, Dtype dtype, Backend& backend, bool diagnose);

// The faulty kernels of the main block size, so that those of many faults can be compiled at once.
std::vector<Kernel> fault_kernels(const Loss& loss, const Fault& fault, Dtype dtype);

}  // namespace lossgrad
