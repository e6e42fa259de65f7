// SPDX-License-Identifier: Apache-2.0
#include "mutants/kernel_text.hpp"

namespace lossgrad::mutants {

const TestedLoss& tested_loss() {
  static const TestedLoss loss{
      "cosine", {{"n_rows", 120}, {"n_dim", 200}}, {"gaussian", "sparse", "tail_heavy"}};
  return loss;
}

}  // namespace lossgrad::mutants
