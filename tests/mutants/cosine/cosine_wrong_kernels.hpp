// SPDX-License-Identifier: Apache-2.0
// The parts of the cosine embedding loss's table of wrong kernels.
#pragma once

#include <vector>

#include "mutants/wrong_kernels.hpp"

namespace lossgrad::mutants {

std::vector<WrongKernel> wrong_sum_kernels();          // elements, warps and sweeps lost; narrow accumulators
std::vector<WrongKernel> wrong_value_kernels();        // wrong values, and pairs that do not fit together
std::vector<WrongKernel> wrong_gradient_kernels();     // wrong gradients
std::vector<WrongKernel> wrong_row_kernels();          // wrong rows, order, leftovers
std::vector<WrongKernel> wrong_convention_kernels();   // each convention's kernel for each other one
std::vector<WrongKernel> wrong_propagation_kernels();  // wrong for what is not finite alone

// A row of 1000 elements is shared by 2 warps in f32 (4 in f64), one of 2000 by 4; of 200 by one warp.
inline const Sizes kTwoWarps = {{"n_rows", 67}, {"n_dim", 1000}};
inline const Sizes kFourWarps = {{"n_rows", 35}, {"n_dim", 2000}};

}  // namespace lossgrad::mutants
