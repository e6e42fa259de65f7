// SPDX-License-Identifier: Apache-2.0
// On-disk cache of compiled kernels, shared by the backends: one file per entry, named by content hash and
// kind. Entries carry a checksum over key and payload: a damaged, truncated or renamed entry is a miss. The
// folder is private (0700); a folder or entry that is not the user's own, or that others may write, is never
// used. Writes go to a temporary file that is renamed, so two processes at once are safe. Least recently used
// entries go first when the cache is larger than its limit. A cache that cannot be used is no error: it says
// why once, and everything is a miss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lossgrad {

class BinaryCache {
 public:
  static constexpr std::uint64_t kDefaultLimitBytes = std::uint64_t{512} << 20;

  // No folder (nullopt): every find is a miss and nothing is stored.
  explicit BinaryCache(std::optional<std::filesystem::path> folder,
                       std::uint64_t limit_bytes = kDefaultLimitBytes);

  // The cache in user_cache_folder() / "kernels".
  static BinaryCache open_user_cache();

  // `key`: 32 hexadecimal digits; `kind`: "cubin" or "so".
  [[nodiscard]] std::optional<std::vector<std::byte>> find(std::string_view key, std::string_view kind) const;
  // Path of a verified entry whose file begins with the payload (a shared object can be loaded from it as it
  // is).
  [[nodiscard]] std::optional<std::filesystem::path> find_file(std::string_view key,
                                                               std::string_view kind) const;
  // False when it could not be stored (no folder, disk full, read-only, larger than the limit).
  bool store(std::string_view key, std::string_view kind, std::span<const std::byte> payload) const;

 private:
  std::optional<std::filesystem::path> folder_;
  std::uint64_t limit_bytes_;
};

}  // namespace lossgrad
