// SPDX-License-Identifier: Apache-2.0
#include "base/content_hash.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <limits>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace lossgrad {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

std::string hash_of(const Fields& fields) {
  ContentHasher hasher;
  for (const auto& [field, value] : fields) hasher.add(field, value);
  return hasher.hex();
}

TEST(ContentHash, ThirtyTwoLowerCaseDigits) {
  const std::string hex = hash_of({{"source", "text"}});
  EXPECT_EQ(hex.size(), 32u);
  EXPECT_TRUE(std::all_of(hex.begin(), hex.end(),
                          [](unsigned char c) { return std::isdigit(c) != 0 || (c >= 'a' && c <= 'f'); }));
}

TEST(ContentHash, SameFieldsSameHash) {
  const Fields fields = {{"source", "text"}, {"option", "-O3"}};
  EXPECT_EQ(hash_of(fields), hash_of(fields));
}

// Every way to cut the same letters into fields is another content.
TEST(ContentHash, NeighbouringFieldsDoNotRunTogether) {
  const std::vector<Fields> contents = {
      {{"ab", "cd"}},
      {{"a", "bcd"}},
      {{"abc", "d"}},
      {{"", "abcd"}},
      {{"abcd", ""}},
      {{"ab", "c"}, {"d", ""}},
      {{"ab", ""}, {"cd", ""}},
      {{"ab", "cd"}, {"", ""}},
      {{"cd", "ab"}},
      {},
      {{"", ""}},
      {{"", ""}, {"", ""}},
      {{std::string(1, '\0'), ""}},
      {{"", std::string(1, '\0')}},
      {{"", std::string(8, '\0')}},
      {{"", std::string(16, '\0')}},
  };
  std::set<std::string> hashes;
  for (const Fields& content : contents) hashes.insert(hash_of(content));
  EXPECT_EQ(hashes.size(), contents.size());
}

TEST(ContentHash, OrderCounts) {
  EXPECT_NE(hash_of({{"option", "-a"}, {"option", "-b"}}), hash_of({{"option", "-b"}, {"option", "-a"}}));
}

TEST(ContentHash, LongAndBinaryValues) {
  std::string text(3'000'000, 'x');
  const std::string before = hash_of({{"source", text}});
  text.back() = 'y';
  EXPECT_NE(hash_of({{"source", text}}), before);
  EXPECT_NE(hash_of({{"source", std::string("a\0b", 3)}}), hash_of({{"source", std::string("a\0c", 3)}}));
}

TEST(ContentHash, NumbersAreTheirDecimalText) {
  for (const std::int64_t number :
       {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max(),
        std::numeric_limits<std::int64_t>::min()}) {
    ContentHasher hasher;
    hasher.add("block_n", number);
    EXPECT_EQ(hasher.hex(), hash_of({{"block_n", std::to_string(number)}}));
  }
}

TEST(ContentHash, ReadingItTwiceAndMovingItKeepsTheState) {
  ContentHasher hasher;
  hasher.add("a", "1");
  const std::string first = hasher.hex();
  EXPECT_EQ(hasher.hex(), first);
  ContentHasher moved = std::move(hasher);
  EXPECT_EQ(moved.hex(), first);
  moved.add("b", "2");
  EXPECT_EQ(moved.hex(), hash_of({{"a", "1"}, {"b", "2"}}));
}

// Caches and reports outlive a version of the program: these values must never change.
TEST(ContentHash, KnownValues) {
  EXPECT_EQ(hash_of({}), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash_of({{"source", "text"}}), "d02cb991a60c973e86c85e0519d389c4");
  EXPECT_EQ(hash_bytes({}), 0x2d06800538d394c2u);
  const std::string text = "lossgrad";
  EXPECT_EQ(hash_bytes(std::as_bytes(std::span(text))), 0x17bfb9eb707af5d2u);
}

TEST(HashBytes, SeedAndEveryByteCount) {
  std::vector<std::byte> bytes(300);
  std::set<std::uint64_t> hashes = {hash_bytes(bytes), hash_bytes(bytes, 1), hash_bytes(bytes, 2)};
  for (std::byte& byte : bytes) {
    byte = std::byte{1};
    hashes.insert(hash_bytes(bytes));
    byte = std::byte{0};
  }
  hashes.insert(hash_bytes(std::span(bytes).first(299)));
  EXPECT_EQ(hashes.size(), 3u + 300 + 1);
}

}  // namespace
}  // namespace lossgrad
