// SPDX-License-Identifier: Apache-2.0
#include "fuzz_target.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/printable.hpp"

namespace lossgrad::fuzz {

namespace {
constexpr std::size_t kLongestMessage = 2000;
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::logic_error(what);
}

int accepts(ErrorKind kind, const std::string& start, const std::function<void()>& read) {
  try {
    read();
    return 1;
  } catch (const Error& error) {
    const std::string message = error.what();
    require(error.kind() == kind, "wrong kind of error: " + message);
    require(message.starts_with(start), "does not begin with " + start + ": " + message);
    require(message.size() < kLongestMessage, "long message: " + message);
    // As the program prints it: what the message quotes may hold anything but a line end.
    const std::string shown = escaped_controls(message);
    require(std::none_of(shown.begin(), shown.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }),
            "control characters in: " + message);
    require(message.find('\n') == std::string::npos, "more than one line: " + message);
    return 0;
  }
}

}  // namespace lossgrad::fuzz
