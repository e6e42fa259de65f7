// SPDX-License-Identifier: Apache-2.0
#include "mutants/cosine/cosine_wrong_kernels.hpp"

namespace lossgrad::mutants {

std::vector<WrongKernel> wrong_kernels() {
  std::vector<WrongKernel> all;
  for (const auto& part : {wrong_sum_kernels(), wrong_value_kernels(), wrong_gradient_kernels(),
                           wrong_row_kernels(), wrong_convention_kernels(), wrong_propagation_kernels()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace lossgrad::mutants
