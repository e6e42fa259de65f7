// SPDX-License-Identifier: Apache-2.0
#include "losses/cosine/cosine_faults.hpp"

namespace lossgrad {

const std::vector<Fault>& cosine_faults() {
  static const std::vector<Fault> faults = [] {
    std::vector<Fault> all;
    for (const auto& part : {cosine_sum_faults(), cosine_value_faults(), cosine_gradient_faults(),
                             cosine_row_faults(), cosine_propagation_faults(), cosine_convention_faults()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return faults;
}

}  // namespace lossgrad
