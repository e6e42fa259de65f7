// SPDX-License-Identifier: Apache-2.0
#include "data/byte_source.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/files.hpp"

namespace lossgrad {
namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(std::string name, std::uint64_t size, int fd) : ByteSource(std::move(name), size), fd_(fd) {}
  ~FileSource() override { ::close(fd_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  FileSource(FileSource&&) = delete;
  FileSource& operator=(FileSource&&) = delete;

  void read(std::uint64_t offset, std::span<std::byte> into) override {
    while (!into.empty()) {
      const ssize_t count = ::pread(fd_, into.data(), into.size(), static_cast<off_t>(offset));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail_at(offset, "cannot be read: " + file_error_text(name(), errno));
      if (count == 0) fail_at(offset, "the file became shorter while it was read");
      offset += static_cast<std::uint64_t>(count);
      into = into.subspan(static_cast<std::size_t>(count));
    }
  }

 private:
  int fd_;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string name, std::span<const std::byte> bytes)
      : ByteSource(std::move(name), bytes.size()), bytes_(bytes) {}

  void read(std::uint64_t offset, std::span<std::byte> into) override {
    if (offset > bytes_.size() || into.size() > bytes_.size() - offset) {
      throw Error(ErrorKind::internal, name() + ": read past the end of memory");
    }
    if (!into.empty()) std::memcpy(into.data(), bytes_.data() + offset, into.size());
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace

void ByteSource::fail(const std::string& what) const { throw Error(ErrorKind::data, name_ + ": " + what); }

void ByteSource::fail_at(std::uint64_t byte, const std::string& what) const {
  fail("byte " + std::to_string(byte) + ": " + what);
}

std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path) {
  const auto fail = [&path](const std::string& what) {
    throw Error(ErrorKind::data, path.string() + ": " + what);
  };
  // Without O_NONBLOCK the opening of a pipe that nobody writes to would never return.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) fail(file_error_text(path, errno));
  struct stat status {};
  const bool known = ::fstat(fd, &status) == 0;
  if (known && S_ISREG(status.st_mode)) {
    return std::make_unique<FileSource>(path.string(), static_cast<std::uint64_t>(status.st_size), fd);
  }
  const std::string why = known ? "" : file_error_text(path, errno);
  ::close(fd);
  if (!known) fail(why);
  fail(S_ISDIR(status.st_mode) ? "is a directory, a file is expected"
                               : "is not a regular file, a file on disk is expected");
  return nullptr;
}

std::unique_ptr<ByteSource> view_memory(std::span<const std::byte> bytes, std::string name) {
  return std::make_unique<MemorySource>(std::move(name), bytes);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string result = "'";
  for (const char c : text.substr(0, kLongest)) result += c >= ' ' && c <= '~' ? c : '?';
  result += text.size() > kLongest ? "...'" : "'";
  return result;
}

}  // namespace lossgrad
