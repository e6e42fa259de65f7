// SPDX-License-Identifier: Apache-2.0
// The parts of CIoU's table of wrong kernels.
#pragma once

#include <vector>

#include "mutants/wrong_kernels.hpp"

namespace lossgrad::mutants {

std::vector<WrongKernel> wrong_backward_kernels();  // wrong gradients
// Wrong values, and pairs of kernels that do not fit together.
std::vector<WrongKernel> wrong_forward_kernels();
std::vector<WrongKernel> wrong_convention_kernels();
std::vector<WrongKernel> wrong_memory_kernels();  // wrong elements, order, leftovers, in either pass

}  // namespace lossgrad::mutants
