// SPDX-License-Identifier: Apache-2.0
#include "mutants/kernel_text.hpp"

namespace lossgrad::mutants {

const TestedLoss& tested_loss() {
  static const TestedLoss loss{"ciou", {{"N", 3000}}};
  return loss;
}

}  // namespace lossgrad::mutants
