// SPDX-License-Identifier: Apache-2.0
// Checks of gradients against differences: lossgrad's own oracles against each other, and a kernel's backward
// against its own forward.
#pragma once

#include <functional>

#include "check/case_context.hpp"
#include "results/results.hpp"

namespace lossgrad {

// Closed gradient, automatic differentiation and Ridders' differences of the value, in double, on samples of
// the case. A disagreement is a defect of lossgrad and the reason says so. Fills verdict, reason, compared,
// worst. `heartbeat` is called with the fraction that is done; it may throw, which ends the work.
void check_oracles(const CheckRequest& request, const InputSource& source, CheckResult& result,
                   const std::function<void(double)>& heartbeat);

// The f64 backward kernel against Ridders' differences of the f64 forward kernel's own values on samples of
// the case. `heartbeat` as above.
void check_self_consistency(const CaseContext& context, CheckResult& result,
                            const std::function<void(double)>& heartbeat);

}  // namespace lossgrad
