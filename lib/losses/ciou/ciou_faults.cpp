// SPDX-License-Identifier: Apache-2.0
#include "losses/ciou/ciou_faults.hpp"

namespace lossgrad {

const std::vector<Fault>& ciou_faults() {
  static const std::vector<Fault> faults = [] {
    std::vector<Fault> all;
    for (const auto& part : {ciou_backward_faults(), ciou_forward_faults(), ciou_memory_faults(),
                             ciou_propagation_faults(), ciou_convention_faults()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return faults;
}

}  // namespace lossgrad
