// SPDX-License-Identifier: Apache-2.0
#include "mutants/ciou/ciou_wrong_kernels.hpp"

namespace lossgrad::mutants {

std::vector<WrongKernel> joined(const std::vector<std::vector<WrongKernel>>& parts) {
  std::vector<WrongKernel> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

std::vector<WrongKernel> wrong_kernels() {
  return joined({wrong_backward_kernels(), wrong_forward_kernels(), wrong_memory_kernels(),
                 wrong_propagation_kernels()});
}

}  // namespace lossgrad::mutants
