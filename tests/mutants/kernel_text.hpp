// SPDX-License-Identifier: Apache-2.0
// Kernels made from text: the built-in source or files of the loss's folder, with edits; and checks run on
// them. A program tests the kernels of one loss: those of the folder beside this file that it links.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "check/check_request.hpp"
#include "kernel/kernel.hpp"
#include "kernel/source_edit.hpp"

namespace lossgrad::mutants {

struct TestedLoss {
  std::string name;  // as in losses.def, and of the folder
  Sizes sizes;       // of a case that does not say otherwise
  // Scenarios in which differences of the forward kernel say something of every right one; empty: all.
  std::vector<std::string> difference_scenarios = {};
};
const TestedLoss& tested_loss();

// How a kernel is launched that shares its work in another way than the built-in one.
struct OtherLaunch {
  std::uint32_t items_per_block = 1;
  std::uint32_t threads_per_block = 1;
};

// The body of a kernel: empty `files` means the built-in one, else files of <loss>/right/, one after another.
struct KernelText {
  std::vector<std::string> files;
  std::vector<SourceEdit> edits;
  std::function<OtherLaunch(const Sizes&)> launch = {};  // empty: as the built-in one
  bool fast_math = false;
};
Kernel kernel_from_text(const KernelText& text, const KernelOptions& options);

// The built-in kernel of these options, for the pass that a test does not change.
Kernel builtin_kernel(const KernelOptions& options);

// A request for a case of the tested loss: sizes and parameters complete, an empty convention is the default.
CheckRequest request_for_case(Dtype dtype, const std::string& convention, const Sizes& sizes,
                              const Parameters& parameters);

// One line for each check that did not pass: "reference: 12 of 4000 elements are wrong ...".
std::string explanation(const std::vector<CheckResult>& results);

const CheckResult* find_check(const std::vector<CheckResult>& results, Pass pass, const std::string& check);

}  // namespace lossgrad::mutants
