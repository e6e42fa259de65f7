// SPDX-License-Identifier: Apache-2.0
// The parts of the cosine embedding loss's dictionary of deviations.
#pragma once

#include <vector>

#include "losses/fault.hpp"

namespace lossgrad {

const std::vector<Fault>& cosine_faults();  // all of them

std::vector<Fault> cosine_sum_faults();          // elements, warps and sweeps lost; narrow accumulators
std::vector<Fault> cosine_value_faults();        // wrong values, and pairs that do not fit together
std::vector<Fault> cosine_gradient_faults();     // wrong gradients
std::vector<Fault> cosine_row_faults();          // wrong rows, order, leftovers
std::vector<Fault> cosine_propagation_faults();  // wrong for what is not finite alone
std::vector<Fault> cosine_convention_faults();   // each convention's kernel for each other one

// A row of 1000 elements is shared by 2 warps in f32 (4 in f64), one of 2000 by 4; of 200 by one warp.
inline const Sizes kTwoWarps = {{"n_rows", 67}, {"n_dim", 1000}};
inline const Sizes kFourWarps = {{"n_rows", 35}, {"n_dim", 2000}};

}  // namespace lossgrad
