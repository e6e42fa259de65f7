// SPDX-License-Identifier: Apache-2.0
// Right kernels of the tested loss, written in other ways than the built-in one.
#pragma once

#include <string>
#include <vector>

#include "mutants/kernel_text.hpp"

namespace lossgrad::mutants {

struct RightKernel {
  std::string name = {};
  KernelText text = {};
  std::vector<Dtype> dtypes = {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16};
  // The first in every dtype; the others in f32 alone: they share all of the arithmetic that a storage type
  // changes.
  std::vector<std::string> conventions = {};
  int block = kOwnBlock;
  bool backward_only = false;
  bool every_block_size = false;
  std::vector<std::string> rejected_in = {};  // scenarios in which it is wrong on the host, and has to fail
  // Scenarios with a few items of those scenarios, on the host: not asked about.
  std::vector<std::string> luck_decides_in = {};
  bool drops_nan = false;  // right for all that is finite: without propagation and the scenario non_finite
};

struct RightCase {
  Sizes sizes;
  Parameters parameters = {};
  std::int64_t fd_samples = 64;
};

std::vector<RightKernel> right_kernels();  // of the tested loss
std::vector<RightCase> right_cases();      // on which each of them runs, in every scenario

}  // namespace lossgrad::mutants
