// SPDX-License-Identifier: Apache-2.0
// The kernels that one case needs, compiled and loaded once.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "check/check_request.hpp"

namespace lossgrad {

struct ReadyKernel {
  Kernel kernel;
  std::shared_ptr<LoadedKernel> loaded;
};

class CaseKernels {
 public:
  // Loads: every pass asked for (and forward where backward is), in the case's dtype; the same in f64 for
  // self_consistency; the other block sizes for repeatability. What is skipped is not loaded.
  CaseKernels(const CheckRequest& request, Backend& backend);

  // Null when the kernel's maker does not offer it.
  [[nodiscard]] const ReadyKernel* find(Pass pass, Dtype dtype, int block) const;
  [[nodiscard]] const ReadyKernel* find(Pass pass, Dtype dtype) const { return find(pass, dtype, block_); }
  [[nodiscard]] int main_block() const { return block_; }
  // The kernel that the case is about. Throws ErrorKind::internal when it was not asked for.
  [[nodiscard]] const ReadyKernel& main(Pass pass) const;

 private:
  using Key = std::tuple<Pass, Dtype, int>;
  const CheckRequest& request_;
  int block_;  // of the main kernels
  std::map<Key, ReadyKernel> kernels_;
};

}  // namespace lossgrad
