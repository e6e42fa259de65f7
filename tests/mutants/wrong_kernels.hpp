// SPDX-License-Identifier: Apache-2.0
// Wrong kernels of the tested loss, each with what the check has to say about it.
#pragma once

#include <string>
#include <vector>

#include "mutants/kernel_text.hpp"

namespace lossgrad::mutants {

// From files: faults for which the built-in kernel has no place, and faults of the loss's dictionary
// (losses/fault.hpp) in another kernel's text.
struct WrongKernel {
  std::string name = {};
  Pass pass = Pass::backward;  // whose kernel is wrong; the other one is the built-in
  KernelText text = {};
  std::string scenario = "mixed";
  std::string check = "reference";            // the named check that fails
  std::string reason = "elements are wrong";  // is part of its reason
  std::vector<Dtype> dtypes = {Dtype::f32};   // where the fault is larger than the storage's rounding
  // Checks that pass: what tells apart a fault that one check alone sees.
  std::vector<std::string> blind = {};
  // The name that the diagnosis has to give first or second; empty: none is asked for.
  std::string diagnosis = {};
};

std::vector<WrongKernel> wrong_kernels();  // of the tested loss

}  // namespace lossgrad::mutants
