// SPDX-License-Identifier: Apache-2.0
// The parts of CIoU's dictionary of deviations.
#pragma once

#include <vector>

#include "losses/fault.hpp"

namespace lossgrad {

const std::vector<Fault>& ciou_faults();  // all of them

std::vector<Fault> ciou_backward_faults();     // wrong gradients
std::vector<Fault> ciou_forward_faults();      // wrong values, and pairs that do not fit together
std::vector<Fault> ciou_memory_faults();       // wrong places, leftovers, order
std::vector<Fault> ciou_propagation_faults();  // wrong for what is not finite alone
std::vector<Fault> ciou_convention_faults();   // each convention's kernel for each other one

}  // namespace lossgrad
