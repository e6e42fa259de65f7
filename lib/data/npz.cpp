// SPDX-License-Identifier: Apache-2.0
#include "data/npz.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <system_error>

#include "base/error.hpp"
#include "base/files.hpp"
#include "data/npy.hpp"
#include "data/zip_archive.hpp"

namespace lossgrad {
namespace {

constexpr std::string_view kSuffix = ".npy";
// Deflate makes no more than 1032 bytes of one; a directory that promises more is a trap.
constexpr std::uint64_t kMostInflation = 1032;

// A member by its name, as numpy.load has it: without the suffix .npy.
std::string array_name(const std::string& member) {
  const bool suffixed = member.size() > kSuffix.size() && member.ends_with(kSuffix);
  return suffixed ? member.substr(0, member.size() - kSuffix.size()) : member;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < kMost; ++i)
    text += (i == 0 ? "" : ", ") + lossgrad::quoted(array_name(names[i]));
  if (names.size() > kMost) text += " ... " + std::to_string(names.size()) + " in all";
  return text.empty() ? "nothing" : text;
}

std::optional<std::size_t> find_member(const ByteSource& source, const std::vector<std::string>& names,
                                       const std::string& wanted) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != wanted && array_name(names[i]) != wanted) continue;
    if (found)
      source.fail("the array " + lossgrad::quoted(wanted) + " is in the archive twice, once is expected");
    found = i;
  }
  return found;
}

std::size_t choose_member(const ByteSource& source, const std::vector<std::string>& names,
                          const MemberChoice& choice) {
  const std::string& wanted = choice.member.empty() ? choice.argument : choice.member;
  if (const auto found = find_member(source, names, wanted)) return *found;
  if (choice.member.empty() && names.size() == 1) {
    const auto other = std::find(choice.others.begin(), choice.others.end(), array_name(names.front()));
    if (other == choice.others.end()) return 0;
  }
  source.fail("no array " + lossgrad::quoted(wanted) + ", found " + listed(names) +
              (choice.member.empty() ? "; FILE.npz:NAME takes another one" : ""));
}

// Reads front to back; a step back opens the member again.
class MemberSource final : public ByteSource {
 public:
  MemberSource(std::unique_ptr<ZipArchive> archive, std::size_t index, const std::string& label,
               std::uint64_t size)
      : ByteSource(label, size), archive_(std::move(archive)), index_(index) {
    reopen();
  }
  ~MemberSource() override { close(); }
  MemberSource(const MemberSource&) = delete;
  MemberSource& operator=(const MemberSource&) = delete;
  MemberSource(MemberSource&&) = delete;
  MemberSource& operator=(MemberSource&&) = delete;

  void read(std::uint64_t offset, std::span<std::byte> into) override {
    if (offset < position_) reopen();
    std::array<std::byte, 4096> passed_over{};
    while (position_ < offset) {
      const std::uint64_t count = std::min<std::uint64_t>(passed_over.size(), offset - position_);
      pull(std::span(passed_over).first(static_cast<std::size_t>(count)));
    }
    pull(into);
    if (position_ == size()) require_end();
  }

 private:
  void close() {
    if (file_ != nullptr) zip_fclose(file_);
    file_ = nullptr;
  }

  void reopen() {
    close();
    position_ = 0;
    file_ = zip_fopen_index(archive_->get(), index_, 0);
    if (file_ == nullptr) fail_with(zip_get_error(archive_->get()));
  }

  [[noreturn]] void fail_with(const zip_error_t* error) {
    archive_->rethrow_fault();
    zip_error_t copy;
    zip_error_init(&copy);
    zip_error_set(&copy, zip_error_code_zip(error), zip_error_code_system(error));
    const int code = zip_error_code_zip(&copy);
    const std::string text = zip_error_strerror(&copy);
    zip_error_fini(&copy);
    if (code == ZIP_ER_CRC) fail("the checksum of its data is wrong");
    if (code == ZIP_ER_INCONS) fail("its data is not as long as the archive's directory says");
    fail("cannot be unpacked: " + text);
  }

  void pull(std::span<std::byte> into) {
    while (!into.empty()) {
      const zip_int64_t count = zip_fread(file_, into.data(), into.size());
      if (count < 0) fail_with(zip_file_get_error(file_));
      if (count == 0) {
        fail_at(position_, "its data ends here, " + std::to_string(size()) +
                               " bytes are expected by the archive's directory");
      }
      position_ += static_cast<std::uint64_t>(count);
      into = into.subspan(static_cast<std::size_t>(count));
    }
  }

  // libzip compares length and checksum when it meets the end.
  void require_end() {
    std::byte more{};
    const zip_int64_t count = zip_fread(file_, &more, 1);
    if (count < 0) fail_with(zip_file_get_error(file_));
    if (count > 0)
      fail("its data is longer than the " + std::to_string(size()) + " bytes of the archive's directory");
  }

  std::unique_ptr<ZipArchive> archive_;
  std::size_t index_;
  zip_file_t* file_ = nullptr;
  std::uint64_t position_ = 0;
};

// What the directory says about a member, before anything of it is unpacked.
std::uint64_t checked_size(const ZipArchive& archive, std::size_t index, const std::string& label) {
  const auto reject = [&](const std::string& what) { throw Error(ErrorKind::data, label + ": " + what); };
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat_index(archive.get(), index, 0, &stat) != 0)
    reject("the archive's directory does not describe it");
  if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && stat.encryption_method != ZIP_EM_NONE)
    reject("is encrypted, a plain member is expected");
  const bool known_method = (stat.valid & ZIP_STAT_COMP_METHOD) != 0 &&
                            (stat.comp_method == ZIP_CM_STORE || stat.comp_method == ZIP_CM_DEFLATE);
  if (!known_method) {
    reject("is compressed by method " + std::to_string(stat.comp_method) +
           ", stored or deflated is expected");
  }
  const std::uint64_t packed = stat.comp_size, size = stat.size;
  if (packed > archive.source().size()) {
    reject(std::to_string(packed) + " packed bytes promised, the whole file has " +
           std::to_string(archive.source().size()));
  }
  const std::uint64_t most = stat.comp_method == ZIP_CM_STORE ? packed : kMostInflation * packed;
  if (size > most) {
    reject(std::to_string(size) + " bytes promised, " + std::to_string(packed) +
           " packed bytes hold at most " + std::to_string(most));
  }
  return size;
}

[[noreturn]] void fail_to_pack(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorKind::internal, path.string() + ": the archive cannot be made: " + what);
}

// Adds one member; libzip keeps the pointer until the archive is closed.
void add_member(zip_t* archive, const std::filesystem::path& path, const std::string& name,
                const std::string& bytes) {
  zip_source_t* const source = zip_source_buffer(archive, bytes.data(), bytes.size(), 0);
  const zip_int64_t index =
      source == nullptr ? -1 : zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
  if (index < 0) {
    zip_source_free(source);
    fail_to_pack(path, zip_strerror(archive));
  }
  const auto member = static_cast<zip_uint64_t>(index);
  constexpr zip_uint16_t kFirstOfJanuary1980 = 0x21;
  if (zip_set_file_compression(archive, member, ZIP_CM_STORE, 0) != 0 ||
      zip_file_set_dostime(archive, member, 0, kFirstOfJanuary1980, 0) != 0) {
    fail_to_pack(path, zip_strerror(archive));
  }
}

// All that was written to a source in memory.
std::string content_of(zip_source_t* buffer, const std::filesystem::path& path) {
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_source_stat(buffer, &stat) != 0 || zip_source_open(buffer) != 0)
    fail_to_pack(path, zip_error_strerror(zip_source_error(buffer)));
  std::string content(static_cast<std::size_t>(stat.size), '\0');
  const zip_int64_t count = zip_source_read(buffer, content.data(), content.size());
  zip_source_close(buffer);
  if (count != static_cast<zip_int64_t>(content.size())) fail_to_pack(path, "it cannot be read back");
  return content;
}

struct DiscardArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct FreeSource {
  void operator()(zip_source_t* source) const { zip_source_free(source); }
};

}  // namespace

ArrayPlace array_place(const std::string& text) {
  const std::size_t colon = text.rfind(".npz:");
  std::error_code unknown;
  if (colon == std::string::npos || colon + 5 == text.size() || std::filesystem::exists(text, unknown))
    return {text, ""};
  return {text.substr(0, colon + 4), text.substr(colon + 5)};
}

bool is_zip(ByteSource& source) {
  std::array<char, 4> magic{};
  if (source.size() < magic.size()) return false;
  source.read(0, std::as_writable_bytes(std::span(magic)));
  // The second is that of an archive without members.
  return std::memcmp(magic.data(), "PK\x03\x04", 4) == 0 || std::memcmp(magic.data(), "PK\x05\x06", 4) == 0;
}

std::unique_ptr<ByteSource> open_member(std::unique_ptr<ByteSource> archive, const MemberChoice& choice) {
  auto zip = std::make_unique<ZipArchive>(std::move(archive));
  const std::vector<std::string> names = zip->names();
  const std::size_t index = choose_member(zip->source(), names, choice);
  const std::string label = zip->source().name() + ": array " + lossgrad::quoted(array_name(names[index]));
  const std::uint64_t size = checked_size(*zip, index, label);
  return std::make_unique<MemberSource>(std::move(zip), index, label, size);
}

std::unique_ptr<ByteSource> open_array_file(const std::filesystem::path& path, const MemberChoice& choice) {
  auto source = open_file(path);
  if (is_zip(*source)) return open_member(std::move(source), choice);
  if (!choice.member.empty())
    source->fail("is no .npz archive, so it has no array " + lossgrad::quoted(choice.member));
  return source;
}

Array read_array(const std::filesystem::path& path, const MemberChoice& choice) {
  return read_npy(*open_array_file(path, choice));
}

void write_npz(const std::filesystem::path& path, std::span<const NamedArray> arrays) {
  std::vector<std::string> members;
  members.reserve(arrays.size());
  for (const NamedArray& array : arrays) {
    const Dtype dtype = array.dtype == Dtype::bf16 ? Dtype::f32 : array.dtype;
    members.push_back(npy_bytes(dtype, array.shape, array.values));
  }
  zip_error_t error;
  zip_error_init(&error);
  const std::unique_ptr<zip_source_t, FreeSource> buffer(zip_source_buffer_create(nullptr, 0, 0, &error));
  if (!buffer) fail_to_pack(path, "no memory");
  zip_source_keep(buffer.get());  // closing the archive gives up one reference
  std::unique_ptr<zip_t, DiscardArchive> archive(
      zip_open_from_source(buffer.get(), ZIP_CREATE | ZIP_TRUNCATE, &error));
  if (!archive) {
    zip_source_free(buffer.get());
    fail_to_pack(path, "no memory");
  }
  for (std::size_t i = 0; i < arrays.size(); ++i)
    add_member(archive.get(), path, arrays[i].name + std::string(kSuffix), members[i]);
  if (zip_close(archive.get()) != 0) fail_to_pack(path, zip_strerror(archive.get()));
  (void)archive.release();  // closed and freed
  write_file_atomically(path, content_of(buffer.get(), path));
}

}  // namespace lossgrad
