// SPDX-License-Identifier: Apache-2.0
// Files: whole-file reading with clear errors, atomic writing, the user's cache folder, owned descriptors.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lossgrad {

// Errors (all ErrorKind::data, one line, starting with the path): no such file, is a directory, permission
// denied.
std::string read_file(const std::filesystem::path& path);

// What an error number of open, read or write means for `path`, in a few words; for a file that does not
// exist with the nearest name in its folder: "no such file; did you mean 'boxes.npy'?"
std::string file_error_text(const std::filesystem::path& path, int error_number);

// Writes to a temporary file in the same folder, flushes it to disk and renames it over `path`: a reader sees
// the old or the new content, never a part. A file that is replaced keeps its mode. Throws ErrorKind::data
// and removes the temporary when anything fails.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

// Throws what write_file_atomically would throw before it writes: makes that temporary file and removes it.
void require_writable_atomically(const std::filesystem::path& path);

// $XDG_CACHE_HOME/lossgrad, else $HOME/.cache/lossgrad; nothing when neither variable is set to an absolute
// path.
std::optional<std::filesystem::path> user_cache_folder();

// Owns what open() or mkostemp() gave, a failure (-1) included.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  FileDescriptor(FileDescriptor&&) = delete;
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  // Closes now, so that an error on close (a full disk over a network) is seen.
  bool close();

 private:
  int fd_;
};

// All of the bytes, however many calls that takes and whatever signal comes between; false at an error (errno
// says which), and for reading at an early end of the file.
bool read_exactly(int fd, std::span<std::byte> to);
bool write_exactly(int fd, std::span<const std::byte> from);

}  // namespace lossgrad
