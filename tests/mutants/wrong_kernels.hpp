// SPDX-License-Identifier: Apache-2.0
// Wrong kernels of the tested loss, each with what the check has to say about it.
#pragma once

#include <string>
#include <vector>

#include "mutants/kernel_text.hpp"

namespace lossgrad::mutants {

struct WrongKernel {
  std::string name = {};
  Pass pass = Pass::backward;  // whose kernel is wrong; the other one is the built-in
  KernelText text = {};
  std::string check = "reference";            // the named check that fails
  std::string reason = "elements are wrong";  // is part of its reason
  // The outputs among which the worst elements of a failed reference check are: "d_pred[2]", or "dx1" for all
  // components; empty: any.
  std::vector<std::string> outputs = {};
  std::vector<Dtype> dtypes = {Dtype::f32};  // where the fault is larger than the storage's rounding
  std::string convention = {};               // checked; empty: the loss's default
  std::string kernel_convention = {};        // of the wrong kernel; empty: the same
  std::string scenario = "mixed";
  Sizes sizes = {};            // what is missing is as the tested loss says
  Parameters parameters = {};  // what is missing has the loss's default
  int block = kOwnBlock;
  bool every_block_size = false;  // offered for the repeatability check
  bool f64_build = false;         // offered for the self_consistency check
  bool nan_inputs = false;        // NaN in an input of every 16th item, and in the dy of others
  // The pass whose checks run, where it is not the wrong kernel's: backward after a wrong forward.
  std::optional<Pass> checked = {};
  // Checks that pass: what tells apart a fault that one check alone sees.
  std::vector<std::string> blind = {};
};

std::vector<WrongKernel> wrong_kernels();  // of the tested loss

inline const std::vector<Dtype> kEveryDtype = {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16};
inline const std::vector<Dtype> kWideDtypes = {Dtype::f32, Dtype::f64};

}  // namespace lossgrad::mutants
