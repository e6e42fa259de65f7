// SPDX-License-Identifier: Apache-2.0
#include "mutants/ciou/ciou_wrong_kernels.hpp"

namespace lossgrad::mutants {

std::vector<WrongKernel> wrong_kernels() {
  std::vector<WrongKernel> all;
  for (const auto& part : {wrong_backward_kernels(), wrong_convention_kernels(), wrong_forward_kernels(),
                           wrong_memory_kernels()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace lossgrad::mutants
