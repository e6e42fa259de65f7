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

}  // namespace

std::vector<WrongKernel> wrong_kernels() {
  return {without_barrier("barrier_missing_after_filling", "the predictions are there"),
          without_barrier("barrier_missing_after_refilling", "the targets are there"),
          without_barrier("barrier_missing_before_reuse", "the tile is free again")};
}

}  // namespace lossgrad::mutants
