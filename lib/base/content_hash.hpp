// SPDX-License-Identifier: Apache-2.0
// Content hash: 128-bit XXH3 over named fields. Every field is delimited by its name and length, so that
// neighbouring fields cannot run together. Not a defence against a forger: the cache that uses it is private
// to its user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace lossgrad {

class ContentHasher {
 public:
  ContentHasher();
  ~ContentHasher();
  ContentHasher(const ContentHasher&) = delete;
  ContentHasher& operator=(const ContentHasher&) = delete;
  ContentHasher(ContentHasher&&) noexcept;
  ContentHasher& operator=(ContentHasher&&) noexcept;

  ContentHasher& add(std::string_view field, std::string_view value);
  ContentHasher& add(std::string_view field, std::int64_t value);

  // 32 lower-case hexadecimal digits.
  [[nodiscard]] std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// 64-bit hash of plain bytes, for comparing the contents of buffers.
std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed = 0);

}  // namespace lossgrad
