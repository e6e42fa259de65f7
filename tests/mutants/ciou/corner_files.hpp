// SPDX-License-Identifier: Apache-2.0
// The kernel written with corners instead of centres, one thread a box: what most right kernels in another
// text and most wrong ones are edits of.
#pragma once

#include <string>
#include <vector>

namespace lossgrad::mutants {

inline const std::vector<std::string> kCornerFiles = {"boxes.cuh", "corner_box.cuh", "strict_ties.cuh",
                                                      "one_thread_a_box.cuh"};

}  // namespace lossgrad::mutants
