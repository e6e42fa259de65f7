// SPDX-License-Identifier: Apache-2.0
// libzip over any source of bytes.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include <zip.h>

#include "data/byte_source.hpp"

namespace lossgrad {

class ZipArchive {
 public:
  // Throws ErrorKind::data when the source holds no zip archive.
  explicit ZipArchive(std::unique_ptr<ByteSource> source);
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;
  ZipArchive(ZipArchive&&) = delete;
  ZipArchive& operator=(ZipArchive&&) = delete;

  [[nodiscard]] const ByteSource& source() const { return *reader_.source; }
  [[nodiscard]] std::vector<std::string> names() const;  // by index, as stored
  [[nodiscard]] zip_t* get() const { return zip_; }
  void rethrow_fault() const;  // of the source, met in the middle of a call of libzip

 private:
  struct Reader {
    std::unique_ptr<ByteSource> source;
    std::uint64_t position = 0;
    zip_error_t error{};
    std::exception_ptr fault;
  };
  static zip_int64_t callback(void* state, void* data, zip_uint64_t length, zip_source_cmd_t command);
  static zip_int64_t read(Reader& reader, void* data, zip_uint64_t length);
  static zip_int64_t describe(const Reader& reader, void* data);

  Reader reader_;
  zip_t* zip_ = nullptr;
};

}  // namespace lossgrad
