// SPDX-License-Identifier: Apache-2.0
#include "app/json_output.hpp"

#include <fstream>
#include <ostream>
#include <system_error>

#include <unistd.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "results/run_json.hpp"

namespace lossgrad::app {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& target, const std::string& why) {
  throw Error(ErrorKind::data, "--json " + target + ": cannot be written: " + why);
}

// The file behind a symbolic link, so that writing replaces the file and not the link.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  return error ? path : target;
}

void require_writable_folder(const std::string& target, const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  if (!fs::is_directory(folder, error)) fail(target, "there is no folder " + folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    fail(target, "folder " + folder.string() + ": " + std::system_category().message(errno));
  }
}

}  // namespace

JsonOutput::JsonOutput(const std::string& target, std::ostream& standard_output)
    : standard_output_(standard_output) {
  if (target.empty()) return;
  if (target == "-") {
    kind_ = Kind::standard_output;
    return;
  }
  path_ = resolved(target);
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (error && status.type() != fs::file_type::not_found) fail(target, error.message());
  if (fs::is_directory(status)) fail(target, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    kind_ = Kind::stream;
    if (::access(path_.c_str(), W_OK) != 0) fail(target, std::system_category().message(errno));
    return;
  }
  kind_ = Kind::regular_file;
  require_writable_folder(target, path_);
}

void JsonOutput::save(const Run& run) const {
  if (kind_ == Kind::regular_file) write_file_atomically(path_, to_json(run));
}

void JsonOutput::finish(const Run& run) const {
  switch (kind_) {
    case Kind::none:
      return;
    case Kind::standard_output:
      standard_output_ << to_json(run);
      return;
    case Kind::regular_file:
      save(run);
      return;
    case Kind::stream:
      break;
  }
  std::ofstream stream(path_);
  errno = 0;
  stream << to_json(run) << std::flush;
  if (!stream) fail(path_.string(), std::system_category().message(errno));
}

}  // namespace lossgrad::app
