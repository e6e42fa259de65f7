// SPDX-License-Identifier: Apache-2.0
#include "fuzz_target.hpp"

#include <algorithm>
#include <stdexcept>

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
    // Messages about files have nothing but printable ASCII; those about arguments quote them, and are
    // escaped when printed.
    const auto is_printable = [](char c) { return c >= ' ' && c <= '~'; };
    require(kind != ErrorKind::data || std::all_of(message.begin(), message.end(), is_printable),
            "control characters in: " + message);
    require(message.find('\n') == std::string::npos, "more than one line: " + message);
    return 0;
  }
}

}  // namespace lossgrad::fuzz
