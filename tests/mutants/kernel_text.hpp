// SPDX-License-Identifier: Apache-2.0
// CIoU kernels made from text: the built-in source or files of right/, with edits; and checks run on them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "check/check.hpp"
#include "kernel/kernel.hpp"

namespace lossgrad::mutants {

// `find` has to occur exactly `times` times: an edit of the kernel that the table does not follow fails its
// test.
struct Edit {
  std::string find;
  std::string replace;
  int times = 1;
};

// Throws Error(internal) that names the text which was not found as often as stated.
std::string edited(std::string text, const std::vector<Edit>& edits);

// The body of a kernel: empty `files` means the built-in one, else files of tests/mutants/right/, one after
// another.
struct KernelText {
  std::vector<std::string> files;
  std::vector<Edit> edits;
};
Kernel kernel_from_text(const KernelText& text, const KernelOptions& options);

// The built-in kernel of these options, for the pass that a test does not change.
Kernel builtin_kernel(const KernelOptions& options);

// One line for each check that did not pass: "reference: 12 of 4000 elements are wrong ...".
std::string explanation(const std::vector<CheckResult>& results);

const CheckResult* find_check(const std::vector<CheckResult>& results, Pass pass, const std::string& check);

}  // namespace lossgrad::mutants
