// SPDX-License-Identifier: Apache-2.0
#include "math/random.hpp"

#include <cmath>
#include <set>

#include <Random123/philox.h>
#include <gtest/gtest.h>

namespace lossgrad {
namespace {

TEST(ItemRandom, DependsOnSeedStreamAndItemAlone) {
  ItemRandom a(5, 2, 1'000'000'007), b(5, 2, 1'000'000'007);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(a.uniform(), b.uniform());
  std::set<double> firsts;
  for (std::int64_t item = 0; item < 1000; ++item) firsts.insert(ItemRandom(5, 2, item).uniform());
  firsts.insert(ItemRandom(6, 2, 0).uniform());
  firsts.insert(ItemRandom(5, 3, 0).uniform());
  firsts.insert(ItemRandom(5, 2, std::int64_t{1} << 32).uniform());
  EXPECT_EQ(firsts.size(), 1003u);
}

// Known answer of the generator itself (Random123's kat_vectors: philox4x32 10, counter and key zero).
TEST(ItemRandom, IsPhilox4x32With10Rounds) {
  const r123::Philox4x32::ctr_type block = r123::Philox4x32()({{0, 0, 0, 0}}, {{0, 0}});
  EXPECT_EQ(block[0], 0x6627e8d5u);
  const double expected = static_cast<double>(((std::uint64_t{block[0]} << 32) | block[1]) >> 11) * 0x1p-53;
  EXPECT_EQ(ItemRandom(0, 0, 0).uniform(), expected);
}

TEST(ItemRandom, MomentsAreThoseOfTheDistributions) {
  double sum = 0, squares = 0, uniform = 0;
  const int count = 200000;
  for (int i = 0; i < count; ++i) {
    ItemRandom random(11, 0, i);
    const double x = random.normal();
    sum += x, squares += x * x, uniform += random.uniform();
  }
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1, 0.02);
  EXPECT_NEAR(uniform / count, 0.5, 0.005);
}

TEST(ItemRandom, IntegersCoverBothEnds) {
  std::set<std::int64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(ItemRandom(1, 0, i).integer(-2, 2));
  EXPECT_EQ(seen, (std::set<std::int64_t>{-2, -1, 0, 1, 2}));
}

}  // namespace
}  // namespace lossgrad
