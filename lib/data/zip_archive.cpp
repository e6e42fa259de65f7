// SPDX-License-Identifier: Apache-2.0
#include "data/zip_archive.hpp"

#include <algorithm>
#include <cstring>
#include <span>

namespace lossgrad {

zip_int64_t ZipArchive::read(Reader& reader, void* data, zip_uint64_t length) {
  const std::uint64_t size = reader.source->size();
  const std::uint64_t count =
      std::min<std::uint64_t>(length, size - std::min<std::uint64_t>(reader.position, size));
  try {
    reader.source->read(reader.position, {static_cast<std::byte*>(data), static_cast<std::size_t>(count)});
  } catch (...) {  // no exception may pass through libzip
    reader.fault = std::current_exception();
    zip_error_set(&reader.error, ZIP_ER_READ, 0);
    return -1;
  }
  reader.position += count;
  return static_cast<zip_int64_t>(count);
}

zip_int64_t ZipArchive::describe(const Reader& reader, void* data) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  stat.size = reader.source->size();
  stat.valid = ZIP_STAT_SIZE;
  std::memcpy(data, &stat, sizeof stat);
  return sizeof stat;
}

zip_int64_t ZipArchive::callback(void* state, void* data, zip_uint64_t length, zip_source_cmd_t command) {
  Reader& reader = *static_cast<Reader*>(state);
  switch (command) {
    case ZIP_SOURCE_OPEN:
      reader.position = 0;
      return 0;
    case ZIP_SOURCE_READ:
      return read(reader, data, length);
    case ZIP_SOURCE_SEEK: {
      const zip_int64_t place =
          zip_source_seek_compute_offset(reader.position, reader.source->size(), data, length, &reader.error);
      if (place < 0) return -1;
      reader.position = static_cast<std::uint64_t>(place);
      return 0;
    }
    case ZIP_SOURCE_TELL:
      return static_cast<zip_int64_t>(reader.position);
    case ZIP_SOURCE_STAT:
      return describe(reader, data);
    case ZIP_SOURCE_ERROR:
      return zip_error_to_data(&reader.error, data, length);
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
      return 0;
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                            ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                            ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_SUPPORTS, -1);
    default:
      zip_error_set(&reader.error, ZIP_ER_OPNOTSUPP, 0);
      return -1;
  }
}

ZipArchive::ZipArchive(std::unique_ptr<ByteSource> source) {
  reader_.source = std::move(source);
  zip_error_init(&reader_.error);
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const bytes = zip_source_function_create(callback, &reader_, &error);
  if (bytes != nullptr) zip_ = zip_open_from_source(bytes, ZIP_RDONLY, &error);
  if (zip_ != nullptr) return;
  const std::string why = zip_error_strerror(&error);
  zip_error_fini(&error);
  if (bytes != nullptr) zip_source_free(bytes);
  zip_error_fini(&reader_.error);
  rethrow_fault();
  reader_.source->fail("not a whole zip archive: " + why);
}

ZipArchive::~ZipArchive() {
  zip_discard(zip_);
  zip_error_fini(&reader_.error);
}

void ZipArchive::rethrow_fault() const {
  if (reader_.fault) std::rethrow_exception(reader_.fault);
}

std::vector<std::string> ZipArchive::names() const {
  std::vector<std::string> names;
  const zip_int64_t count = zip_get_num_entries(zip_, 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* const name = zip_get_name(zip_, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    names.emplace_back(name == nullptr ? "" : name);
  }
  return names;
}

}  // namespace lossgrad
