// SPDX-License-Identifier: Apache-2.0
// Edits of a kernel's text.
#pragma once

#include <string>
#include <vector>

namespace lossgrad {

// `find` has to occur exactly `times` times: a kernel that was rewritten since fails loudly.
struct SourceEdit {
  std::string find;
  std::string replace;
  int times = 1;
};

// Throws ErrorKind::internal that names the text which was not found as often as stated.
std::string edited(std::string text, const std::vector<SourceEdit>& edits);

}  // namespace lossgrad
