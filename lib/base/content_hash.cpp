// SPDX-License-Identifier: Apache-2.0
#include "base/content_hash.hpp"

#include <array>
#include <cstdio>
#include <new>

#include <xxhash.h>

namespace lossgrad {

struct ContentHasher::State {
  XXH3_state_t* xxh = XXH3_createState();
  State() {
    if (xxh == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(xxh);
  }
  ~State() { XXH3_freeState(xxh); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;
};

ContentHasher::ContentHasher() : state_(std::make_unique<State>()) {}
ContentHasher::~ContentHasher() = default;
ContentHasher::ContentHasher(ContentHasher&&) noexcept = default;
ContentHasher& ContentHasher::operator=(ContentHasher&&) noexcept = default;

ContentHasher& ContentHasher::add(std::string_view field, std::string_view value) {
  for (const std::string_view part : {field, value}) {
    const std::uint64_t size = part.size();
    XXH3_128bits_update(state_->xxh, &size, sizeof size);
    XXH3_128bits_update(state_->xxh, part.data(), part.size());
  }
  return *this;
}

ContentHasher& ContentHasher::add(std::string_view field, std::int64_t value) {
  return add(field, std::to_string(value));
}

std::string ContentHasher::hex() const {
  const XXH128_hash_t digest = XXH3_128bits_digest(state_->xxh);
  std::array<char, 33> text{};
  std::snprintf(text.data(), text.size(), "%016llx%016llx", static_cast<unsigned long long>(digest.high64),
                static_cast<unsigned long long>(digest.low64));
  return text.data();
}

std::uint64_t hash_bytes(std::span<const std::byte> bytes, std::uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace lossgrad
