// SPDX-License-Identifier: Apache-2.0
#include "device/binary_cache.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/files.hpp"

namespace lossgrad {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kFormatVersion = 1;
constexpr std::string_view kTemporaryPrefix = ".storing-";
constexpr std::chrono::hours kTemporaryLifetime{1};

// The last bytes of an entry. The payload comes first, so that the loader of shared objects can read the
// file.
struct Footer {
  std::array<char, 8> magic = {'L', 'G', 'C', 'A', 'C', 'H', 'E', '\n'};
  std::uint32_t version = kFormatVersion;
  std::uint32_t reserved = 0;
  std::uint64_t payload_bytes = 0;
  std::array<char, 32> checksum{};
};
static_assert(sizeof(Footer) == 56);

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

Footer make_footer(std::string_view key, std::string_view kind, std::span<const std::byte> payload) {
  Footer footer;
  footer.payload_bytes = payload.size();
  const std::string hash =
      ContentHasher().add("key", key).add("kind", kind).add("payload", as_text(payload)).hex();
  std::memcpy(footer.checksum.data(), hash.data(), footer.checksum.size());
  return footer;
}

std::string entry_name(std::string_view key, std::string_view kind) {
  const auto is_hexadecimal = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  if (key.size() != 32 || !std::all_of(key.begin(), key.end(), is_hexadecimal) || kind.empty() ||
      !std::all_of(kind.begin(), kind.end(), is_lower)) {
    throw Error(ErrorKind::internal,
                "not a key of the kernel cache: " + std::string(key) + "." + std::string(kind));
  }
  return std::string(key) + "." + std::string(kind);
}

bool is_private(const struct stat& status) {
  return status.st_uid == ::geteuid() && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Empty when the folder exists (created if need be) and is the user's own.
std::string why_unusable(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (error) return folder.parent_path().string() + ": cannot be created: " + error.message();
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return folder.string() + ": cannot be created: " + std::system_category().message(errno);
  }
  struct stat status {};
  if (::lstat(folder.c_str(), &status) != 0) {
    return folder.string() + ": " + std::system_category().message(errno);
  }
  if (!S_ISDIR(status.st_mode)) return folder.string() + ": is not a folder";
  if (!is_private(status)) return folder.string() + ": belongs to or can be written by another user";
  return {};
}

void warn_once(const std::string& reason) {
  static std::atomic<bool> warned = false;
  if (!warned.exchange(true)) spdlog::warn("compiled kernels are not cached: {}", reason);
}

// The payload of an open entry when everything about it is right.
std::optional<std::vector<std::byte>> read_entry(const FileDescriptor& file, std::string_view key,
                                                 std::string_view kind) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || !is_private(status))
    return std::nullopt;
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes < sizeof(Footer)) return std::nullopt;
  std::vector<std::byte> content(bytes);
  if (!read_exactly(file.get(), content)) return std::nullopt;
  Footer found;
  std::memcpy(&found, content.data() + bytes - sizeof found, sizeof found);
  content.resize(bytes - sizeof found);
  const Footer expected = make_footer(key, kind, content);
  if (std::memcmp(&found, &expected, sizeof found) != 0) return std::nullopt;
  return content;
}

struct Entry {
  fs::path path;
  std::uint64_t bytes;
  fs::file_time_type used;
};

// Entries of the folder; abandoned temporary files are removed on the way.
std::vector<Entry> list_entries(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code gone;  // another process may remove files at any time
    const Entry entry{it->path(), it->file_size(gone), it->last_write_time(gone)};
    if (gone) continue;
    if (!entry.path.filename().string().starts_with(kTemporaryPrefix)) {
      entries.push_back(entry);
    } else if (fs::file_time_type::clock::now() - entry.used > kTemporaryLifetime) {
      fs::remove(entry.path, gone);
    }
  }
  return entries;
}

void evict(const fs::path& folder, std::uint64_t limit_bytes) {
  std::vector<Entry> entries = list_entries(folder);
  std::uint64_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  if (total <= limit_bytes) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= limit_bytes) return;
    std::error_code error;
    fs::remove(entry.path, error);
    total -= entry.bytes;
  }
}

}  // namespace

BinaryCache::BinaryCache(std::optional<fs::path> folder, std::uint64_t limit_bytes)
    : folder_(std::move(folder)), limit_bytes_(limit_bytes) {
  if (!folder_) return;
  const std::string reason = why_unusable(*folder_);
  if (reason.empty()) return;
  warn_once(reason);
  folder_.reset();
}

BinaryCache BinaryCache::open_user_cache() {
  const auto folder = user_cache_folder();
  if (folder) return BinaryCache(*folder / "kernels");
  warn_once("neither XDG_CACHE_HOME nor HOME is set to an absolute path");
  return BinaryCache(std::nullopt);
}

std::optional<std::vector<std::byte>> BinaryCache::find(std::string_view key, std::string_view kind) const {
  const std::string name = entry_name(key, kind);
  if (!folder_) return std::nullopt;
  const fs::path path = *folder_ / name;
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) return std::nullopt;
  auto payload = read_entry(file, key, kind);
  if (payload) {
    ::futimens(file.get(), nullptr);  // most recently used
  } else {
    spdlog::debug("kernel cache: {} is damaged or foreign and is not used", path.string());
    ::unlink(path.c_str());
  }
  return payload;
}

std::optional<fs::path> BinaryCache::find_file(std::string_view key, std::string_view kind) const {
  if (!find(key, kind)) return std::nullopt;
  return *folder_ / entry_name(key, kind);
}

bool BinaryCache::store(std::string_view key, std::string_view kind,
                        std::span<const std::byte> payload) const {
  const std::string name = entry_name(key, kind);
  if (!folder_ || payload.size() + sizeof(Footer) > limit_bytes_) return false;
  std::string temporary = (*folder_ / kTemporaryPrefix).string() + "XXXXXX";
  const FileDescriptor file(::mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  const Footer footer = make_footer(key, kind, payload);
  if (!file.is_open() || !write_exactly(file.get(), payload) ||
      !write_exactly(file.get(), std::as_bytes(std::span(&footer, 1))) ||
      ::rename(temporary.c_str(), (*folder_ / name).c_str()) != 0) {
    const int error_number = errno;
    warn_once(folder_->string() + ": " + std::system_category().message(error_number));
    if (file.is_open()) ::unlink(temporary.c_str());
    return false;
  }
  evict(*folder_, limit_bytes_);
  return true;
}

}  // namespace lossgrad
