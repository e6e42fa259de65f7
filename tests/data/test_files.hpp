// SPDX-License-Identifier: Apache-2.0
// What the tests of the readers share: the sample files, errors as text, bytes from text.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/error.hpp"

namespace lossgrad::test {

inline std::filesystem::path sample(std::string_view name) {
  return std::filesystem::path(LOSSGRAD_SOURCE_DIR) / "data" / "samples" / name;
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The message of the data error that `action` throws. Another kind, or none, gives a text that no test
// expects.
template <class Action>
std::string data_error(Action action) {
  try {
    action();
  } catch (const Error& error) {
    const std::string message = error.what();
    if (error.kind() != ErrorKind::data) return "wrong kind of error: " + message;
    if (message.find('\n') != std::string::npos) return "more than one line: " + message;
    return message;
  }
  return "no error";
}

}  // namespace lossgrad::test
