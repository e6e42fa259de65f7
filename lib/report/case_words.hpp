// SPDX-License-Identifier: Apache-2.0
// What a case is, in words that the reports share.
#pragma once

#include <string>
#include <vector>

#include "results/results.hpp"

namespace lossgrad {

// "n 100,003"; "rows 4,099", "dim 200"
std::vector<std::string> size_words(const CaseId& id);
// "margin 0.25"
std::vector<std::string> parameter_words(const CaseId& id);
// "256": the third part of an id NAME__DTYPE__BLOCK[__VARIANT]; empty for other ids.
std::string block_in(const std::string& kernel_id);

}  // namespace lossgrad
