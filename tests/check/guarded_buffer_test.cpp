// SPDX-License-Identifier: Apache-2.0
#include "check/guarded_buffer.hpp"

#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device/host/address_sanitizer.hpp"

#ifdef LOSSGRAD_ADDRESS_SANITIZER
// These tests damage canaries by their addresses, which the fence of the address sanitizer would not allow.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "allow_user_poisoning=0"; }
#endif

namespace lossgrad {
namespace {

using ::testing::HasSubstr;

Backend& host() {
  static const auto backend = open_backend(BackendKind::host);
  return *backend;
}

constexpr ItemLayout kBoxes{4, 37, 1};
constexpr ItemLayout kRows{1, 11, 7};
constexpr ItemLayout kScalars{1, 50, 1};
const std::vector<ItemLayout> kLayouts = {kBoxes, kRows, kScalars, {3, 5, 2}};
const std::vector<std::int64_t> kMisalignments = {0, 1, 3, 63};

GuardedBuffer make(Dtype dtype, const ItemLayout& layout, std::int64_t misalignment = 0,
                   std::uint64_t salt = 1) {
  return GuardedBuffer(host(), "d_pred", dtype, layout, {.misalignment = misalignment}, salt);
}

// 1, 2, 3 ...: exact in every storage type up to 256.
std::vector<double> counting(std::int64_t count, double first = 1) {
  std::vector<double> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

std::vector<double> read(const GuardedBuffer& buffer, Dtype dtype, std::int64_t first, std::int64_t count) {
  const auto bytes = buffer.read_items(first, count);
  std::vector<double> values(bytes.size() / size_in_bytes(dtype));
  decode(dtype, bytes, values);
  return values;
}

TEST(ItemLayout, BoxesAreSlicesOfItems) {
  const ItemLayout layout = item_layout({"pred", ArgumentRole::input, {"4", "N"}}, "N", {{"N", 100}});
  EXPECT_EQ(layout.outer, 4);
  EXPECT_EQ(layout.items, 100);
  EXPECT_EQ(layout.inner, 1);
  EXPECT_EQ(layout.elements(), 400);
  EXPECT_EQ(layout.per_item(), 4);
}

TEST(ItemLayout, RowsAreNeighbours) {
  const Sizes sizes = {{"n_rows", 8}, {"n_dim", 512}};
  const ItemLayout layout = item_layout({"x1", ArgumentRole::input, {"n_rows", "n_dim"}}, "n_rows", sizes);
  EXPECT_EQ(layout.outer, 1);
  EXPECT_EQ(layout.items, 8);
  EXPECT_EQ(layout.inner, 512);
  EXPECT_EQ(layout.per_item(), 512);
}

TEST(ItemLayout, OneValueAnItem) {
  const ItemLayout layout = item_layout({"loss", ArgumentRole::output, {"N"}}, "N", {{"N", 3}});
  EXPECT_EQ(layout.outer * layout.inner, 1);
  EXPECT_EQ(layout.elements(), 3);
}

TEST(ItemLayout, AxesOnBothSides) {
  const ItemLayout layout = item_layout({"x", ArgumentRole::input, {"2", "3", "N", "5"}}, "N", {{"N", 7}});
  EXPECT_EQ(layout.outer, 6);
  EXPECT_EQ(layout.items, 7);
  EXPECT_EQ(layout.inner, 5);
}

TEST(ItemLayout, NoItemsAtAll) {
  EXPECT_EQ(item_layout({"pred", ArgumentRole::input, {"4", "N"}}, "N", {{"N", 0}}).elements(), 0);
}

TEST(ItemLayout, MissingAxisIsADefect) {
  for (const std::vector<std::string>& axes : {std::vector<std::string>{"4"}, {"4", "M"}}) {
    try {
      (void)item_layout({"pred", ArgumentRole::input, axes}, "N", {{"N", 4}});
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::internal);
      EXPECT_THAT(error.what(), HasSubstr("pred"));
    }
  }
}

TEST(GuardedBuffer, DataBeginsAtTheMisalignmentAskedFor) {
  for (const Dtype dtype : kAllDtypes) {
    for (const std::int64_t misalignment : kMisalignments) {
      const auto address = reinterpret_cast<std::uintptr_t>(make(dtype, kBoxes, misalignment).address());
      EXPECT_EQ(address % 256, static_cast<std::size_t>(misalignment) * size_in_bytes(dtype) % 256);
    }
  }
}

TEST(GuardedBuffer, OneArgumentAloneIsOffAlignment) {
  for (const std::string misaligned : {"d_pred", "dy"}) {
    GuardedBuffer buffer(host(), "d_pred", Dtype::f32, kBoxes, {.misalignment = 1, .misaligned = misaligned},
                         1);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.address()) % 256, misaligned == "d_pred" ? 4u : 0u);
  }
}

TEST(GuardedBuffer, NansInItAndAroundIt) {
  for (const Dtype dtype : kAllDtypes) {
    GuardedBuffer buffer(host(), "d_pred", dtype, kBoxes, {.in_nans = true}, 1);
    EXPECT_TRUE(std::isnan(buffer.fill_with_sentinel(1, 0)));
    for (const double value : read(buffer, dtype, 0, kBoxes.items)) EXPECT_TRUE(std::isnan(value));
    EXPECT_EQ(buffer.canary_damage(), std::nullopt);
    std::fill_n(buffer.address() - size_in_bytes(dtype), size_in_bytes(dtype), std::byte{1});
    EXPECT_EQ(buffer.canary_damage(), "written 1 element before the start of d_pred");
  }
}

TEST(GuardedBuffer, WhatIsWrittenIsRead) {
  for (const Dtype dtype : kAllDtypes) {
    for (const ItemLayout& layout : kLayouts) {
      for (const std::int64_t misalignment : kMisalignments) {
        GuardedBuffer buffer = make(dtype, layout, misalignment);
        const auto values = counting(layout.elements());
        buffer.write_items(0, layout.items, values);
        EXPECT_EQ(read(buffer, dtype, 0, layout.items), values);
        EXPECT_EQ(buffer.canary_damage(), std::nullopt);
      }
    }
  }
}

TEST(GuardedBuffer, RunsOfItemsLandInTheirPlace) {
  for (const Dtype dtype : kAllDtypes) {
    for (const ItemLayout& layout : kLayouts) {
      GuardedBuffer buffer = make(dtype, layout, 1);
      buffer.write_items(0, layout.items,
                         std::vector<double>(static_cast<std::size_t>(layout.elements()), 0));
      buffer.write_items(2, 3, counting(3 * layout.per_item()));
      EXPECT_EQ(read(buffer, dtype, 2, 3), counting(3 * layout.per_item()));
      const auto all = read(buffer, dtype, 0, layout.items);
      double next = 1;
      for (std::int64_t e = 0; e < layout.elements(); ++e) {
        const std::int64_t item = e / layout.inner % layout.items;
        EXPECT_EQ(all[static_cast<std::size_t>(e)], item >= 2 && item < 5 ? next++ : 0) << e;
      }
    }
  }
}

TEST(GuardedBuffer, NonFiniteAndRoundedValues) {
  for (const Dtype dtype : kAllDtypes) {
    GuardedBuffer buffer = make(dtype, {1, 4, 1});
    buffer.write_items(0, 4, std::vector<double>{std::nan(""), HUGE_VAL, -HUGE_VAL, 1.0 / 3});
    const auto values = read(buffer, dtype, 0, 4);
    EXPECT_TRUE(std::isnan(values[0]));
    EXPECT_EQ(values[1], HUGE_VAL);
    EXPECT_EQ(values[2], -HUGE_VAL);
    EXPECT_EQ(values[3], round_to(dtype, 1.0 / 3));
  }
}

TEST(GuardedBuffer, SentinelFillsEveryElementAndNothingElse) {
  for (const Dtype dtype : kAllDtypes) {
    GuardedBuffer buffer = make(dtype, kBoxes, 1);
    std::set<double> sentinels;
    for (std::uint64_t salt = 0; salt < 8; ++salt) {
      const double sentinel = buffer.fill_with_sentinel(salt, 0);
      EXPECT_TRUE(std::isfinite(sentinel));
      EXPECT_NE(sentinel, 0);
      EXPECT_EQ(sentinel, round_to(dtype, sentinel));
      for (const double value : read(buffer, dtype, 0, kBoxes.items)) EXPECT_EQ(value, sentinel);
      EXPECT_EQ(buffer.canary_damage(), std::nullopt);
      sentinels.insert(sentinel);
    }
    EXPECT_GE(sentinels.size(), 7u) << "salts give other sentinels";
  }
}

TEST(GuardedBuffer, TheNextLaunchHasASentinelOfTheOtherSign) {
  for (const Dtype dtype : kAllDtypes) {
    GuardedBuffer buffer = make(dtype, {4, 1, 1}, 1);
    for (std::uint64_t salt = 0; salt < 2000; ++salt) {
      const double first = buffer.fill_with_sentinel(salt, 0);
      const double second = buffer.fill_with_sentinel(salt, 1);
      EXPECT_LT(first * second, 0) << salt;
      EXPECT_GT(first * buffer.fill_with_sentinel(salt, 2), 0) << salt;
    }
  }
}

TEST(GuardedBuffer, EmptyBuffer) {
  for (const Dtype dtype : kAllDtypes) {
    GuardedBuffer buffer = make(dtype, {4, 0, 1}, 1);
    (void)buffer.fill_with_sentinel(3, 0);
    EXPECT_TRUE(buffer.read_items(0, 0).empty());
    EXPECT_EQ(buffer.canary_damage(), std::nullopt);
    std::memset(buffer.address(), 0x55, 1);
    EXPECT_THAT(buffer.canary_damage().value_or(""),
                HasSubstr("written at element 0 of d_pred, which has 0"));
  }
}

// ---- canaries

// Turns every bit of the element at `index` (negative: before the data) over: a value that no canary has.
void damage(const GuardedBuffer& buffer, Dtype dtype, std::int64_t index) {
  const auto size = static_cast<std::int64_t>(size_in_bytes(dtype));
  std::byte* const element = buffer.address() + index * size;
  for (std::int64_t b = 0; b < size; ++b) element[b] = ~element[b];
}

void for_each_kind(const std::function<void(Dtype, const ItemLayout&, std::int64_t)>& visit) {
  for (const Dtype dtype : kAllDtypes) {
    for (const ItemLayout& layout : {kBoxes, kRows}) {
      for (const std::int64_t misalignment : {0, 1}) visit(dtype, layout, misalignment);
    }
  }
}

TEST(GuardedBuffer, DamageAfterTheEndNamesTheFirstElement) {
  for_each_kind([](Dtype dtype, const ItemLayout& layout, std::int64_t misalignment) {
    for (const std::int64_t beyond : {0, 1, 255, 1000}) {
      const GuardedBuffer buffer = make(dtype, layout, misalignment);
      damage(buffer, dtype, layout.elements() + beyond);
      damage(buffer, dtype, layout.elements() + beyond + 2);
      EXPECT_EQ(buffer.canary_damage(), "written at element " + std::to_string(layout.elements() + beyond) +
                                            " of d_pred, which has " + std::to_string(layout.elements()));
    }
  });
}

TEST(GuardedBuffer, DamageBeforeTheStartNamesTheNearestElement) {
  for_each_kind([](Dtype dtype, const ItemLayout& layout, std::int64_t misalignment) {
    for (const std::int64_t before : {1, 2, 256, 1000}) {
      const GuardedBuffer buffer = make(dtype, layout, misalignment);
      damage(buffer, dtype, -before);
      damage(buffer, dtype, -before - 3);
      EXPECT_EQ(buffer.canary_damage(), "written " + std::to_string(before) +
                                            (before == 1 ? " element" : " elements") +
                                            " before the start of d_pred");
    }
  });
}

TEST(GuardedBuffer, OutermostElementsOfTheZonesAreWatched) {
  for (const Dtype dtype : kAllDtypes) {
    const auto zone = static_cast<std::int64_t>(16384 / size_in_bytes(dtype));
    const GuardedBuffer after = make(dtype, kBoxes);
    damage(after, dtype, kBoxes.elements() + zone - 1);
    EXPECT_TRUE(after.canary_damage().has_value());
    const GuardedBuffer before = make(dtype, kBoxes);
    damage(before, dtype, -zone);
    EXPECT_TRUE(before.canary_damage().has_value());
  }
}

TEST(GuardedBuffer, ASingleBitIsSeen) {
  const GuardedBuffer buffer = make(Dtype::f64, kScalars);
  buffer.address()[-5] ^= std::byte{1};
  EXPECT_EQ(buffer.canary_damage(), "written 1 element before the start of d_pred");
}

TEST(GuardedBuffer, AZoneFilledWithOneNumberIsSeen) {
  for (const Dtype dtype : kAllDtypes) {
    const GuardedBuffer buffer = make(dtype, kScalars);
    std::memset(buffer.address() + kScalars.elements() * static_cast<std::int64_t>(size_in_bytes(dtype)), 0,
                16384);
    EXPECT_THAT(buffer.canary_damage().value_or(""), HasSubstr("written at element 50"));
  }
}

TEST(GuardedBuffer, CanariesDifferBetweenSalts) {
  std::set<double> canaries;
  for (std::uint64_t salt = 0; salt < 8; ++salt) {
    const GuardedBuffer buffer = make(Dtype::f32, kScalars, 0, salt);
    double canary = 0;
    decode(Dtype::f32, std::span(buffer.address() - 4, 4), std::span(&canary, 1));
    EXPECT_TRUE(std::isfinite(canary));
    canaries.insert(canary);
  }
  EXPECT_GE(canaries.size(), 7u);
}

// ---- content hash

TEST(GuardedBuffer, HashIsOfTheContentAlone) {
  for (const Dtype dtype : kAllDtypes) {
    GuardedBuffer one = make(dtype, kBoxes, 0, 1), other = make(dtype, kBoxes, 3, 2);
    for (GuardedBuffer* buffer : {&one, &other})
      buffer->write_items(0, kBoxes.items, counting(kBoxes.elements()));
    EXPECT_EQ(one.content_hash(), other.content_hash());
    const std::uint64_t before = one.content_hash();
    damage(one, dtype, -1);
    damage(one, dtype, kBoxes.elements());
    EXPECT_EQ(one.content_hash(), before) << "the canaries are no part of it";
    for (const std::int64_t element : {std::int64_t{0}, kBoxes.elements() - 1}) {
      damage(one, dtype, element);
      EXPECT_NE(one.content_hash(), before) << element;
      damage(one, dtype, element);
    }
    EXPECT_EQ(one.content_hash(), before);
  }
}

TEST(GuardedBuffer, HashCoversEveryPieceOfALargeBuffer) {
  const ItemLayout layout{1, 1300000, 1};  // 10.4 MB of f64
  GuardedBuffer buffer = make(Dtype::f64, layout);
  (void)buffer.fill_with_sentinel(1, 0);
  std::set<std::uint64_t> hashes = {buffer.content_hash()};
  for (const std::int64_t element : {524287, 524288, 1048575, 1048576, 1299999}) {
    damage(buffer, Dtype::f64, element);
    hashes.insert(buffer.content_hash());
  }
  EXPECT_EQ(hashes.size(), 6u);
}

}  // namespace
}  // namespace lossgrad
