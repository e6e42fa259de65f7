// SPDX-License-Identifier: Apache-2.0
#include "math/dtype.hpp"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "math/random.hpp"

namespace lossgrad {
namespace {

double decode_one(Dtype dtype, std::uint16_t bits) {
  double value = 0;
  decode(dtype, std::as_bytes(std::span(&bits, 1)), std::span(&value, 1));
  return value;
}

std::uint16_t encode_one(Dtype dtype, double value) {
  std::uint16_t bits = 0;
  encode(dtype, std::span(&value, 1), std::as_writable_bytes(std::span(&bits, 1)));
  return bits;
}

TEST(Dtype, EveryPatternOfThe16BitTypesSurvivesARoundTrip) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    for (int bits = 0; bits < 65536; ++bits) {
      const double value = decode_one(dtype, static_cast<std::uint16_t>(bits));
      if (std::isnan(value)) continue;
      ASSERT_EQ(encode_one(dtype, value), bits) << name(dtype);
      ASSERT_EQ(round_to(dtype, value), value);
    }
  }
}

TEST(Dtype, PatternsOfTheFormats) {
  for (const auto& [bits, value] : {std::pair{0x3c00, 1.0},
                                    {0x0001, 0x1p-24},
                                    {0x03ff, 0x3ffp-24},
                                    {0x0400, 0x1p-14},
                                    {0x3555, 0x555p-12},
                                    {0xc500, -5.0},
                                    {0x7bff, 65504.0}})
    EXPECT_EQ(decode_one(Dtype::f16, static_cast<std::uint16_t>(bits)), value);
  for (const auto& [bits, value] :
       {std::pair{0x3f80, 1.0}, {0x0001, 0x1p-133}, {0x0080, 0x1p-126}, {0xc0a0, -5.0}, {0x7f7f, 0x1.FEp127}})
    EXPECT_EQ(decode_one(Dtype::bf16, static_cast<std::uint16_t>(bits)), value);
}

TEST(Dtype, RoundingTakesTheNearestAndTiesToEven) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    for (int bits = 0; bits < 0x7bff; ++bits) {
      const double low = decode_one(dtype, static_cast<std::uint16_t>(bits));
      const double high = decode_one(dtype, static_cast<std::uint16_t>(bits + 1));
      if (!std::isfinite(high)) break;
      const double middle = (low + high) / 2;
      ASSERT_EQ(round_to(dtype, std::nextafter(middle, low)), low);
      ASSERT_EQ(round_to(dtype, std::nextafter(middle, high)), high);
      ASSERT_EQ(round_to(dtype, middle), bits % 2 == 0 ? low : high);
      ASSERT_EQ(round_to(dtype, -middle), -round_to(dtype, middle));
    }
  }
}

TEST(Dtype, OverflowGoesToInfinityFromHalfAnUlpOnward) {
  EXPECT_EQ(round_to(Dtype::f16, 65519.999), 65504);
  EXPECT_EQ(round_to(Dtype::f16, 65520), std::numeric_limits<double>::infinity());
  EXPECT_EQ(round_to(Dtype::f16, -1e9), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(round_to(Dtype::bf16, 3.4e38), std::numeric_limits<double>::infinity());
}

TEST(Dtype, RoundingToF32GivesTheNearestValue) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  ItemRandom random(1, 0, 0);
  for (int i = 0; i < 100000; ++i) {
    const double value = random.sign() * random.log_uniform(1e-46, 3e38);
    const double rounded = round_to(Dtype::f32, value);
    const auto stored = static_cast<float>(rounded);
    ASSERT_EQ(static_cast<double>(stored), rounded) << value;
    const double error = std::abs(value - rounded);
    ASSERT_LE(error, std::abs(value - static_cast<double>(std::nextafterf(stored, kInfinity)))) << value;
    ASSERT_LE(error, std::abs(value - static_cast<double>(std::nextafterf(stored, -kInfinity)))) << value;
  }
  EXPECT_EQ(round_to(Dtype::f32, 1 + 0x1p-24), 1);
  EXPECT_EQ(round_to(Dtype::f32, 1 + 0x3p-24), 1 + 0x1p-22);
  EXPECT_EQ(round_to(Dtype::f32, 1e39), std::numeric_limits<double>::infinity());
}

TEST(Dtype, NanStaysNanThroughStorage) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(decode_one(Dtype::f16, encode_one(Dtype::f16, nan))));
  EXPECT_TRUE(std::isnan(decode_one(Dtype::bf16, encode_one(Dtype::bf16, -nan))));
}

TEST(Dtype, UlpIsTheDistanceToTheNextLargerValue) {
  EXPECT_EQ(ulp(Dtype::f32, 1.0), 0x1p-23);
  EXPECT_EQ(ulp(Dtype::f32, -1.5), 0x1p-23);
  EXPECT_EQ(ulp(Dtype::f16, 1024), 1);
  EXPECT_EQ(ulp(Dtype::f16, 0), 0x1p-24);
  EXPECT_EQ(ulp(Dtype::bf16, 300), 2);
  EXPECT_EQ(ulp(Dtype::f64, 1e300), std::nextafter(1e300, 1e301) - 1e300);
}

TEST(Dtype, NamesRoundTrip) {
  for (const Dtype dtype : kAllDtypes) EXPECT_EQ(parse_dtype(name(dtype)), dtype);
  EXPECT_FALSE(parse_dtype("float32").has_value());
}

}  // namespace
}  // namespace lossgrad
