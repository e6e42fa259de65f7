// SPDX-License-Identifier: Apache-2.0
#include "app/json_output.hpp"

#include <cerrno>
#include <functional>
#include <ostream>
#include <system_error>

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "app/stream_output.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "results/run_json.hpp"

namespace lossgrad::app {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& target, const std::string& why) {
  throw Error(ErrorKind::data, "--json " + target + ": cannot be written: " + why);
}

std::string system_text(int error_number) { return std::system_category().message(error_number); }

void require_open_for_writing(const std::string& target, int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
    fail(target, "descriptor " + std::to_string(descriptor) + " is not open for writing");
}

// The temporary file names the path; the user knows the flag.
void with_flag(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    throw Error(error.kind(), std::string("--json ") + error.what());
  }
}

void require_writable_file(const std::string& target, const fs::path& path, const fs::file_status& status) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  if (!fs::is_directory(folder, error)) fail(target, "there is no folder " + folder.string());
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    fail(target, "folder " + folder.string() + ": " + system_text(errno));
  }
  if (fs::exists(status)) {
    // Replacing the file needs no permission of its own, and root has every one: its mode is asked.
    constexpr auto kAnyWrite = fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write;
    if ((status.permissions() & kAnyWrite) == fs::perms::none) fail(target, "the file is read-only");
    if (::access(path.c_str(), W_OK) != 0) fail(target, system_text(errno));
  }
  with_flag([&] { require_writable_atomically(path); });
}

}  // namespace

JsonOutput::JsonOutput(const std::string& target, std::ostream& standard_output)
    : target_(target), standard_output_(standard_output) {
  if (target.empty()) return;
  if (target == "-") {
    kind_ = Kind::standard_output;
    return;
  }
  const OutputTarget found = follow_links(target);
  path_ = found.path;
  if (found.descriptor) {
    kind_ = Kind::descriptor;
    descriptor_ = *found.descriptor;
    require_open_for_writing(target, descriptor_);
    return;
  }
  std::error_code error;
  const fs::file_status status = fs::status(path_, error);
  if (error && status.type() != fs::file_type::not_found) fail(target, error.message());
  if (fs::is_directory(status)) fail(target, "it is a folder");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    kind_ = Kind::stream;
    if (::access(path_.c_str(), W_OK) != 0) fail(target, system_text(errno));
    return;
  }
  kind_ = Kind::regular_file;
  require_writable_file(target, path_, status);
}

void JsonOutput::save(const Run& run) const {
  if (kind_ == Kind::regular_file) with_flag([&] { write_file_atomically(path_, to_json(run)); });
}

bool JsonOutput::finish(const Run& run) const {
  if (!run.complete && !has_results(run)) return true;
  switch (kind_) {
    case Kind::none:
      return true;
    case Kind::standard_output:
      standard_output_ << to_json(run);
      return true;
    case Kind::regular_file:
      save(run);
      return true;
    case Kind::stream:
    case Kind::descriptor:
      break;
  }
  return write_stream(to_json(run));
}

bool JsonOutput::write_stream(const std::string& text) const {
  standard_output_.flush();  // the descriptor may be the same stream
  try {
    const bool written =
        kind_ == Kind::descriptor ? write_to_descriptor(descriptor_, text) : write_to_stream(path_, text);
    if (!written) spdlog::error("--json {}: interrupted before all of it was read", target_);
    return written;
  } catch (const std::system_error& error) {
    fail(target_, error.code().message());
  }
}

}  // namespace lossgrad::app
