// SPDX-License-Identifier: Apache-2.0
#include "kernel/source_edit.hpp"

#include "base/error.hpp"

namespace lossgrad {

std::string edited(std::string text, const std::vector<SourceEdit>& edits) {
  for (const SourceEdit& edit : edits) {
    int times = 0;
    std::size_t at = text.find(edit.find);
    while (at != std::string::npos) {
      text.replace(at, edit.find.size(), edit.replace);
      ++times;
      at = text.find(edit.find, at + edit.replace.size());
    }
    if (times != edit.times) {
      throw Error(ErrorKind::internal, "found " + std::to_string(times) + " times instead of " +
                                           std::to_string(edit.times) + ": " + edit.find);
    }
  }
  return text;
}

}  // namespace lossgrad
