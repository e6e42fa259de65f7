// SPDX-License-Identifier: Apache-2.0
// Where a reader takes its bytes from: a file on disk or memory. Readers pull blocks, so a large file is
// never held whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lossgrad {

class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  ByteSource(ByteSource&&) = delete;
  ByteSource& operator=(ByteSource&&) = delete;

  // The path, or another name for messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }

  // Fills `into` with the bytes from `offset`. The range lies within size(). Throws ErrorKind::data when the
  // file cannot be read or became shorter since it was opened.
  virtual void read(std::uint64_t offset, std::span<std::byte> into) = 0;

  // ErrorKind::data: "name: what" and "name: byte N: what".
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_at(std::uint64_t byte, const std::string& what) const;

 protected:
  ByteSource(std::string name, std::uint64_t size) : name_(std::move(name)), size_(size) {}

 private:
  std::string name_;
  std::uint64_t size_;
};

// Throws ErrorKind::data: no such file, permission denied, a directory, not a regular file (a pipe has no
// size that a header could be checked against).
std::unique_ptr<ByteSource> open_file(const std::filesystem::path& path);

// A view: `bytes` must outlive the source.
std::unique_ptr<ByteSource> view_memory(std::span<const std::byte> bytes, std::string name);

// The text in single quotes for a message: at most 40 bytes of it, anything but printable ASCII as `?`.
std::string quoted(std::string_view text);

}  // namespace lossgrad
