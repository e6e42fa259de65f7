// SPDX-License-Identifier: Apache-2.0
// What the tests of the readers share: the sample files, errors as text, a folder that vanishes, bytes from
// text.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include <unistd.h>

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

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "lossgrad_test_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace lossgrad::test
