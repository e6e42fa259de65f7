// SPDX-License-Identifier: Apache-2.0
#include "device/host/temporary_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>

#include "base/error.hpp"

namespace lossgrad::host {

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string path = ((error ? "/tmp" : parent) / "lossgrad-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) {
    throw Error(ErrorKind::device,
                path + ": no temporary folder can be made: " + std::system_category().message(errno));
  }
  path_ = path;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace lossgrad::host
