// SPDX-License-Identifier: Apache-2.0
#include "report/number_text.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace lossgrad {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(NumberText, Grouped) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1048576), "1,048,576");
  EXPECT_EQ(grouped(-999), "-999");
  EXPECT_EQ(grouped(-1000), "-1,000");
  EXPECT_EQ(grouped(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(NumberText, ShortestReadsBackExactly) {
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(-0.0), "-0");
  EXPECT_EQ(shortest(static_cast<double>(0.1F)), "0.10000000149011612");
  EXPECT_EQ(shortest(kNan), "nan");
  EXPECT_EQ(shortest(-kInf), "-inf");
  std::mt19937_64 random(3);
  for (int i = 0; i < 10000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    const std::string text = shortest(value);
    double again = 0;
    std::from_chars(text.data(), text.data() + text.size(), again);
    ASSERT_EQ(std::bit_cast<std::uint64_t>(again), std::bit_cast<std::uint64_t>(value)) << text;
  }
}

TEST(NumberText, Usage) {
  EXPECT_EQ(usage_text(0), "0");
  EXPECT_EQ(usage_text(0.94123), "0.941");
  EXPECT_EQ(usage_text(12.5), "12.500");
  EXPECT_EQ(usage_text(1), "1.000");
  EXPECT_EQ(usage_text(0.99949), "0.999");
  EXPECT_EQ(usage_text(0.9996), "0.9996");
  EXPECT_EQ(usage_text(0.99999994), "0.9999999");
  EXPECT_EQ(usage_text(1.0004), "1.0004");
  EXPECT_EQ(usage_text(std::nextafter(1.0, 0.0)), "0.9999999999999999");
  EXPECT_EQ(usage_text(std::nextafter(1.0, 2.0)), "1.0000000000000002");
  EXPECT_EQ(usage_text(999.9996), "1.0e+03");
  EXPECT_EQ(usage_text(4.1e5), "4.1e+05");
  EXPECT_EQ(usage_text(0.0004), "4.0e-04");
  EXPECT_EQ(usage_text(kNan), "nan");
  EXPECT_EQ(usage_text(kInf), "inf");
}

TEST(NumberText, UlpScientificSeconds) {
  EXPECT_EQ(ulp_text(0), "0");
  EXPECT_EQ(ulp_text(0.5), "0.5");
  EXPECT_EQ(ulp_text(19.52), "19.5");
  EXPECT_EQ(ulp_text(1e6), "1.0e+06");
  EXPECT_EQ(ulp_text(1e-9), "1.0e-09");
  EXPECT_EQ(scientific(0), "0");
  EXPECT_EQ(scientific(3.14e-7), "3.1e-07");
  EXPECT_EQ(scientific(5e-324), "4.9e-324");
  EXPECT_EQ(seconds_text(0.034), "0.03 s");
  EXPECT_EQ(seconds_text(3.21), "3.2 s");
  EXPECT_EQ(seconds_text(125.4), "125 s");
}

TEST(NumberText, Counted) {
  EXPECT_EQ(counted(1, "check"), "1 check");
  EXPECT_EQ(counted(2, "box"), "2 boxes");
  EXPECT_EQ(counted(0, "pass"), "0 passes");
  EXPECT_EQ(counted(1024, "row"), "1,024 rows");
}

}  // namespace
}  // namespace lossgrad
