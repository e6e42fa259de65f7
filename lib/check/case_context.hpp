// SPDX-License-Identifier: Apache-2.0
// What the parts of one case share, and what they find.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "check/case_kernels.hpp"
#include "check/input_source.hpp"

namespace lossgrad {

struct CaseContext {
  const CheckRequest& request;
  Backend& backend;
  const CaseKernels& kernels;
  const InputSource& source;
};

struct Findings {
  std::vector<std::string> lines;  // one per finding; the first becomes the reason
  std::int64_t compared = 0;
  double seconds = 0;
};

}  // namespace lossgrad
