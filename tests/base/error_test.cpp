// SPDX-License-Identifier: Apache-2.0
#include "base/error.hpp"

#include <gtest/gtest.h>

namespace lossgrad {
namespace {

// Scripts rely on these numbers.
TEST(Error, ExitCodes) {
  EXPECT_EQ(exit_code(ErrorKind::usage), 2);
  EXPECT_EQ(exit_code(ErrorKind::data), 3);
  EXPECT_EQ(exit_code(ErrorKind::compile), 4);
  EXPECT_EQ(exit_code(ErrorKind::device), 5);
  EXPECT_EQ(exit_code(ErrorKind::internal), 70);
}

TEST(Error, CarriesKindMessageAndDetail) {
  const Error error(ErrorKind::compile, "one line", "many\nlines");
  EXPECT_EQ(error.kind(), ErrorKind::compile);
  EXPECT_STREQ(error.what(), "one line");
  EXPECT_EQ(error.detail(), "many\nlines");
  EXPECT_EQ(Error(ErrorKind::data, "x").detail(), "");
}

TEST(Error, IsCaughtAsAStandardException) {
  try {
    throw Error(ErrorKind::data, "boxes.npy: no such file");
  } catch (const std::exception& error) {
    EXPECT_STREQ(error.what(), "boxes.npy: no such file");
  }
}

}  // namespace
}  // namespace lossgrad
