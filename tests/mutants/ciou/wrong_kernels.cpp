// SPDX-License-Identifier: Apache-2.0
// Faults that the built-in kernel has no place for: it has no barrier. The dictionary of the loss has all
// others.
#include "mutants/wrong_kernels.hpp"

namespace lossgrad::mutants {
namespace {

WrongKernel without_barrier(const std::string& name, const std::string& what_follows) {
  WrongKernel kernel;
  kernel.name = name;
  kernel.text = {{"boxes.cuh", "corner_box.cuh", "shared_tile.cuh"},
                 {{"__syncthreads();  // " + what_follows, ""}}};
  kernel.check = "repeatability";
  kernel.reason = "the result depends on the order of threads";
  return kernel;
}

// Right for boxes that are finite.
WrongKernel dropping_nan(const std::string& name, const std::string& smaller, const std::string& larger) {
  WrongKernel kernel;
  kernel.name = name;
  kernel.pass = Pass::forward;
  kernel.text = {{"boxes.cuh", "corner_box.cuh", "strict_ties.cuh", "one_thread_a_box.cuh"},
                 {{"return a < b || a != a ? a : b;", smaller}, {"return a > b || a != a ? a : b;", larger}}};
  kernel.check = "propagation";
  kernel.reason = " was swallowed: ";
  kernel.blind = {"reference", "guards", "repeatability"};
  return kernel;
}

}  // namespace

std::vector<WrongKernel> wrong_kernels() {
  return {without_barrier("barrier_missing_after_filling", "the predictions are there"),
          without_barrier("barrier_missing_after_refilling", "the targets are there"),
          without_barrier("barrier_missing_before_reuse", "the tile is free again"),
          dropping_nan("corners_by_fmin_and_fmax", "return fmin(a, b);", "return fmax(a, b);"),
          dropping_nan("corners_by_comparisons", "return a < b ? a : b;", "return a > b ? a : b;")};
}

}  // namespace lossgrad::mutants
