// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/suggest.hpp"

namespace lossgrad {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorKind::data, path.string() + ": " + what);
}

constexpr std::size_t kMostNamesLookedAt = 1000;

std::string nearest_file(const std::filesystem::path& path) {
  std::error_code unreadable;
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::vector<std::string> names;
  for (auto entry = std::filesystem::directory_iterator(folder, unreadable);
       !unreadable && entry != std::filesystem::directory_iterator() && names.size() < kMostNamesLookedAt;
       entry.increment(unreadable)) {
    names.push_back(entry->path().filename().string());
  }
  return nearest_name(path.filename().string(), names);
}

// An open new file in the folder of `path`; its name goes to `temporary`.
int make_temporary_beside(const std::filesystem::path& path, std::string& temporary) {
  std::error_code unknown;  // what cannot be looked at fails below, with its reason
  if (std::filesystem::is_directory(path, unknown)) fail(path, file_error_text(path, EISDIR));
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 && errno == ENAMETOOLONG)
    fail(path, "cannot be written: " + file_error_text(path, errno));
  temporary = (path.parent_path() / ".lossgrad.XXXXXX").string();  // as long as any name may be
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file >= 0) return file;
  // /proc: a folder in which nothing can be made says ENOENT too, and no name near it would help.
  const int error_number = errno;
  const bool no_place = error_number == ENOENT && std::filesystem::is_directory(path.parent_path(), unknown);
  fail(path, "cannot be written: " +
                 (no_place ? "its folder takes no new files" : file_error_text(path, error_number)));
}

// The mode of the file that is replaced; of a new one what open() would have given it.
mode_t mode_to_be(const std::filesystem::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return status.st_mode & 0777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

std::optional<std::filesystem::path> absolute_from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value != '/') return std::nullopt;
  return std::filesystem::path(value);
}

}  // namespace

std::string file_error_text(const std::filesystem::path& path, int error_number) {
  switch (error_number) {
    case ENOENT: {
      std::error_code ignored;
      if (std::filesystem::is_symlink(std::filesystem::symlink_status(path, ignored)))
        return "is a link to a file that does not exist";
      const std::string nearest = nearest_file(path);
      return "no such file" + (nearest.empty() ? "" : "; did you mean '" + nearest + "'?");
    }
    case EACCES:
      return "permission denied";
    case EISDIR:
      return "is a directory, a file is expected";
    case ENOTDIR:
      return "a part of the path is not a folder";
    case ENOSPC:
      return "no space left on the disk";
    default:
      return std::system_category().message(error_number);
  }
}

std::string read_file(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) fail(path, file_error_text(path, errno));
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) fail(path, file_error_text(path, errno));
  if (S_ISDIR(status.st_mode)) fail(path, file_error_text(path, EISDIR));
  std::string content;
  content.reserve(static_cast<std::size_t>(status.st_size));
  std::string block(1 << 20, '\0');
  while (true) {
    const ssize_t count = ::read(file.get(), block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(path, file_error_text(path, errno));
    if (count == 0) return content;
    content.append(block, 0, static_cast<std::size_t>(count));
  }
}

void require_writable_atomically(const std::filesystem::path& path) {
  std::string temporary;
  const FileDescriptor file(make_temporary_beside(path, temporary));
  ::unlink(temporary.c_str());
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  std::string temporary;
  FileDescriptor file(make_temporary_beside(path, temporary));
  const bool written = ::fchmod(file.get(), mode_to_be(path)) == 0 &&
                       write_exactly(file.get(), std::as_bytes(std::span(content))) &&
                       ::fsync(file.get()) == 0 && file.close() &&
                       ::rename(temporary.c_str(), path.c_str()) == 0;
  if (!written) {
    const int error_number = errno;
    ::unlink(temporary.c_str());
    fail(path, "cannot be written: " + file_error_text(path, error_number));
  }
}

std::optional<std::filesystem::path> user_cache_folder() {
  if (const auto xdg = absolute_from_environment("XDG_CACHE_HOME")) return *xdg / "lossgrad";
  if (const auto home = absolute_from_environment("HOME")) return *home / ".cache" / "lossgrad";
  return std::nullopt;
}

FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

bool FileDescriptor::close() {
  const int fd = fd_;
  fd_ = -1;
  return ::close(fd) == 0;
}

bool read_exactly(int fd, std::span<std::byte> to) {
  while (!to.empty()) {
    const ssize_t count = ::read(fd, to.data(), to.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    to = to.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

bool write_exactly(int fd, std::span<const std::byte> from) {
  while (!from.empty()) {
    const ssize_t count = ::write(fd, from.data(), from.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    from = from.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace lossgrad
