// SPDX-License-Identifier: Apache-2.0
#include "app/values.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace lossgrad::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The message of the usage error; empty when there was none.
std::string usage_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "";
}

TEST(ParseCount, Forms) {
  EXPECT_EQ(parse_count("--n", "0"), 0);
  EXPECT_EQ(parse_count("--n", "007"), 7);
  EXPECT_EQ(parse_count("--n", "1024"), 1024);
  EXPECT_EQ(parse_count("--n", "16k"), 16000);
  EXPECT_EQ(parse_count("--n", "16K"), 16000);
  EXPECT_EQ(parse_count("--n", "1M"), 1'000'000);
  EXPECT_EQ(parse_count("--n", "1.5M"), 1'500'000);
  EXPECT_EQ(parse_count("--n", "2G"), 2'000'000'000);
  EXPECT_EQ(parse_count("--n", "4Ki"), 4096);
  EXPECT_EQ(parse_count("--n", "1Mi"), 1'048'576);
  EXPECT_EQ(parse_count("--n", "1.5Ki"), 1536);
  EXPECT_EQ(parse_count("--n", "1e6"), 1'000'000);
  EXPECT_EQ(parse_count("--n", "2.5e+3"), 2500);
  EXPECT_EQ(parse_count("--n", "2.000"), 2);
}

TEST(ParseCount, Rejects) {
  for (const char* text : {"",
                           "-1",
                           "+1",
                           "1.5",
                           "0.5",
                           "abc",
                           "1x",
                           "1 ",
                           " 1",
                           "1kk",
                           "k",
                           "1e",
                           "1e-3",
                           "1e9999",
                           "1.",
                           ".5",
                           "1,2",
                           "0x10",
                           "9223372036854775808",
                           "1e19",
                           "9e18k",
                           "inf",
                           "nan",
                           "1Kib"}) {
    EXPECT_THAT(usage_error([&] { (void)parse_count("--n", text); }),
                HasSubstr("--n: found '" + std::string(text) + "'"))
        << text;
  }
}

TEST(ParseCount, EveryNumberReadsBack) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    const auto value = static_cast<std::int64_t>(random() >> (1 + random() % 62));
    ASSERT_EQ(parse_count("--n", std::to_string(value)), value);
    if (value < std::numeric_limits<std::int64_t>::max() / 1024) {
      ASSERT_EQ(parse_count("--n", std::to_string(value) + "k"), value * 1000);
      ASSERT_EQ(parse_count("--n", std::to_string(value) + "Ki"), value * 1024);
      ASSERT_EQ(parse_count("--n", std::to_string(value) + "e3"), value * 1000);
    }
  }
}

TEST(ParseCounts, ListsAndRanges) {
  EXPECT_THAT(parse_counts("--n", "5"), ElementsAre(5));
  EXPECT_THAT(parse_counts("--n", "1k,4k,1k"), ElementsAre(1000, 4000));
  EXPECT_THAT(parse_counts("--n", "1k:100k:x10"), ElementsAre(1000, 10000, 100000));
  EXPECT_THAT(parse_counts("--n", "1:20:x4"), ElementsAre(1, 4, 16));
  EXPECT_THAT(parse_counts("--n", "0:100:+25"), ElementsAre(0, 25, 50, 75, 100));
  EXPECT_THAT(parse_counts("--n", "7:7:x2,9"), ElementsAre(7, 9));
  EXPECT_THAT(parse_counts("--n", "9000000000000000000:9223372036854775807:x2"),
              ElementsAre(9000000000000000000));
}

TEST(ParseCounts, Rejects) {
  for (const char* text : {",", "1,", "1,,2", "1:2", "1:2:3", "1:2:x", "1:2:x1", "1:2:x0", "1:2:+0", "0:5:x2",
                           "5:1:+1", "1:2:*3", "1:2:x2:3", ":", "::", "1::x2", "1:5:+1.5"}) {
    EXPECT_NE(usage_error([&] { (void)parse_counts("--n", text); }), "") << text;
  }
  EXPECT_THAT(usage_error([] { (void)parse_counts("--n", "0:1G:+1"); }), HasSubstr("at most 10000 values"));
}

// A range by definition: starts at the first, grows by the step, ends at or below the last.
TEST(ParseCounts, RangeProperty) {
  std::mt19937 random(9);
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t first = random() % 1000 + 1;
    const std::int64_t last = first + random() % 100000;
    const bool multiplies = random() % 2 == 0;
    const std::int64_t step = 2 + random() % 50 + (multiplies ? 0 : 50);
    const auto values = parse_counts("--n", std::to_string(first) + ":" + std::to_string(last) + ":" +
                                                (multiplies ? "x" : "+") + std::to_string(step));
    const auto next = [&](std::int64_t value) { return multiplies ? value * step : value + step; };
    ASSERT_EQ(values.front(), first);
    ASSERT_LE(values.back(), last);
    ASSERT_GT(next(values.back()), last);
    for (std::size_t k = 1; k < values.size(); ++k) ASSERT_EQ(values[k], next(values[k - 1]));
  }
}

TEST(ParseOthers, NamesSeedsNumbers) {
  EXPECT_THAT(parse_names("--skip", "a,b,a"), ElementsAre("a", "b"));
  for (const char* text : {"", ",", "a,", ",a", "a,,b"}) {
    EXPECT_NE(usage_error([&] { (void)parse_names("--skip", text); }), "") << text;
  }
  EXPECT_EQ(parse_seed("--seed", "18446744073709551615"), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(parse_seed("--seed", "0xfF"), 255U);
  for (const char* text : {"", "-1", "0x", "18446744073709551616", "1.0", "0x1g"}) {
    EXPECT_NE(usage_error([&] { (void)parse_seed("--seed", text); }), "") << text;
  }
  EXPECT_EQ(parse_positive("--slack", "2.5e0"), 2.5);
  EXPECT_EQ(parse_not_negative("--atol", "0"), 0);
  for (const char* text : {"", "0", "-1", "nan", "inf", "1e999", "1x", " 1"}) {
    EXPECT_NE(usage_error([&] { (void)parse_positive("--slack", text); }), "") << text;
  }
  EXPECT_THAT(parse_architectures("--arch", "sm_75,sm_90a,sm_120"), ElementsAre("sm_75", "sm_90a", "sm_120"));
  for (const char* text : {"sm_", "sm_9", "sm90", "90", "sm_90;rm", "sm_9000", "sm_90b", "compute_90"}) {
    EXPECT_NE(usage_error([&] { (void)parse_architectures("--arch", text); }), "") << text;
  }
}

TEST(NearestName, SaysWhereToLook) {
  const std::vector<std::string> known = {"--scenario", "--seed"};
  EXPECT_EQ(nearest_name_message("option", "--senario", known, "see --help"),
            "unknown option '--senario': did you mean '--scenario'? (see --help)");
  EXPECT_EQ(nearest_name_message("option", "--zzzzzzzzzz", known, "see --help"),
            "unknown option '--zzzzzzzzzz' (see --help)");
}

// Mutations of right values: each parser either returns something sensible or throws a usage error.
TEST(ParseValues, MutatedTexts) {
  const std::vector<std::string> seeds = {"1k:16M:x4", "0:100:+25", "1e6,4Ki,1.5M", "18446744073709551615",
                                          "0xff",      "2.5e-3",    "sm_90,sm_120", "typical,touching",
                                          ""};
  const std::string letters = "0123456789kKMGie.+-x:,_ sm\xff\x01\n'";
  std::mt19937 random(2024);
  for (int i = 0; i < 30000; ++i) {
    std::string text = seeds[random() % seeds.size()];
    for (unsigned change = random() % 4; change > 0; --change) {
      const std::size_t at = random() % (text.size() + 1);
      switch (random() % 3) {
        case 0:
          text.insert(at, 1, letters[random() % letters.size()]);
          break;
        case 1:
          text.erase(at == text.size() ? 0 : at, 1);
          break;
        default:
          text.insert(at, seeds[random() % seeds.size()].substr(0, 4));
      }
    }
    const auto attempt = [&](const std::function<void()>& parse) {
      try {
        parse();
      } catch (const Error& error) {
        ASSERT_EQ(error.kind(), ErrorKind::usage);
      }
    };
    attempt([&] { ASSERT_GE(parse_count("--n", text), 0); });
    attempt([&] {
      const auto values = parse_counts("--n", text);
      ASSERT_LE(values.size(), kMostValues);
      for (const std::int64_t value : values) ASSERT_GE(value, 0);
    });
    attempt([&] { ASSERT_FALSE(parse_names("--skip", text).empty()); });
    attempt([&] { (void)parse_seed("--seed", text); });
    attempt([&] { ASSERT_GT(parse_positive("--slack", text), 0); });
    attempt([&] { ASSERT_TRUE(std::isfinite(parse_not_negative("--atol", text))); });
    attempt([&] { ASSERT_FALSE(parse_architectures("--arch", text).empty()); });
  }
}

}  // namespace
}  // namespace lossgrad::app
