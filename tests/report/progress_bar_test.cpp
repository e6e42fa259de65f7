// SPDX-License-Identifier: Apache-2.0
#include "report/progress_bar.hpp"

#include <limits>
#include <sstream>

#include <gtest/gtest.h>

namespace lossgrad {
namespace {

using std::chrono::milliseconds;

class ProgressBarTest : public ::testing::Test {
 protected:
  ProgressBar::Now now() {
    return [this] { return time_; };
  }
  std::string written() {
    const std::string text = out_.str();
    out_.str("");
    return text;
  }
  std::ostringstream out_;
  ProgressBar::Clock::time_point time_;
};

TEST_F(ProgressBarTest, WritesNothingWhenDisabled) {
  {
    ProgressBar bar(out_, false, {}, now());
    time_ += milliseconds(1000);
    bar.update(0.5, "reference");
    bar.erase();
  }
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressBarTest, WritesNothingForShortWork) {
  {
    ProgressBar bar(out_, true, {}, now());
    time_ += milliseconds(299);
    bar.update(1, "reference");
  }
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressBarTest, DrawsAtMostOncePerIntervalAndErases) {
  ProgressBar bar(out_, true, {}, now());
  time_ += milliseconds(300);
  bar.update(0.5, "backward reference");
  EXPECT_EQ(written(), "\r[###############...............]  50 %  backward reference\x1b[K");
  time_ += milliseconds(99);
  bar.update(0.6, "backward reference");
  EXPECT_EQ(written(), "");
  time_ += milliseconds(1);
  bar.update(1, "guards");
  EXPECT_EQ(written(), "\r[##############################] 100 %  guards\x1b[K");
  bar.erase();
  EXPECT_EQ(written(), "\r\x1b[K");
  bar.erase();
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressBarTest, NeverReachesTheLastColumn) {
  std::size_t columns = 0;
  ProgressBar bar(
      out_, true, [&columns] { return columns; }, now());
  const auto drawn = [&](std::size_t width) {
    columns = width;
    time_ += milliseconds(500);
    bar.update(0.5, "backward reference");
    const std::string text = written();
    return text.empty() ? text : text.substr(1, text.size() - 4);  // without \r and the erasing sequence
  };
  const std::string whole = "[###############...............]  50 %  backward reference";
  EXPECT_EQ(drawn(0), whole) << "not known";
  EXPECT_EQ(drawn(200), whole);
  EXPECT_EQ(drawn(50), "[###############...............]  50 %  backward ");
  EXPECT_EQ(drawn(39), "[###############...............]  50 %");
  EXPECT_EQ(drawn(38), " 50 %  backward reference");
  EXPECT_EQ(drawn(10), " 50 %  ba");
  EXPECT_EQ(drawn(8), " 50 %  ");
  EXPECT_EQ(drawn(7), "");
}

TEST_F(ProgressBarTest, OddFractions) {
  ProgressBar bar(out_, true, {}, now());
  for (const double fraction : {-1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    time_ += milliseconds(500);
    bar.update(fraction, "x");
    EXPECT_LE(written().size(), 60U);
  }
}

}  // namespace
}  // namespace lossgrad
