// SPDX-License-Identifier: Apache-2.0
// A folder that only this user can enter and that goes, with its content, when the object does.
#pragma once

#include <filesystem>

namespace lossgrad::host {

class TemporaryFolder {
 public:
  // Below $TMPDIR or /tmp. Throws ErrorKind::device when it cannot be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace lossgrad::host
