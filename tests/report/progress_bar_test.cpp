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
    ProgressBar bar(out_, false, now());
    time_ += milliseconds(1000);
    bar.update(0.5, "reference");
    bar.erase();
  }
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressBarTest, WritesNothingForShortWork) {
  {
    ProgressBar bar(out_, true, now());
    time_ += milliseconds(299);
    bar.update(1, "reference");
  }
  EXPECT_EQ(written(), "");
}

TEST_F(ProgressBarTest, DrawsAtMostOncePerIntervalAndErases) {
  ProgressBar bar(out_, true, now());
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

TEST_F(ProgressBarTest, OddFractions) {
  ProgressBar bar(out_, true, now());
  for (const double fraction : {-1.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    time_ += milliseconds(500);
    bar.update(fraction, "x");
    EXPECT_LE(written().size(), 60U);
  }
}

}  // namespace
}  // namespace lossgrad
