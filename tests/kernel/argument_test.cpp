// SPDX-License-Identifier: Apache-2.0
#include "kernel/argument.hpp"

#include <array>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace lossgrad {
namespace {

constexpr std::array kPasses = {Pass::forward, Pass::backward, Pass::forward_backward};

TEST(Pass, NamesAreReadBack) {
  for (const Pass pass : kPasses) EXPECT_EQ(parse_pass(name(pass)), pass);
  for (const char* text : {"", "Forward", "forward ", "both", "?"})
    EXPECT_EQ(parse_pass(text), std::nullopt) << text;
}

TEST(ArgumentRole, EveryRoleHasAName) {
  for (const ArgumentRole role :
       {ArgumentRole::input, ArgumentRole::constant, ArgumentRole::upstream, ArgumentRole::saved,
        ArgumentRole::output, ArgumentRole::gradient, ArgumentRole::size, ArgumentRole::parameter}) {
    EXPECT_NE(name(role), "?");
  }
}

TEST(Argument, ScalarsHaveNoAxes) {
  EXPECT_FALSE((Argument{"N", ArgumentRole::size, {}}).is_array());
  EXPECT_TRUE((Argument{"pred", ArgumentRole::input, {"4", "N"}}).is_array());
}

TEST(Argument, WhatAPassWrites) {
  const auto written = [](ArgumentRole role, Pass pass) { return is_written({"x", role, {"N"}}, pass); };
  for (const Pass pass : kPasses) {
    EXPECT_TRUE(written(ArgumentRole::output, pass));
    EXPECT_EQ(written(ArgumentRole::gradient, pass), pass != Pass::forward);
    EXPECT_EQ(written(ArgumentRole::saved, pass), pass == Pass::forward);
    for (const ArgumentRole role : {ArgumentRole::input, ArgumentRole::constant, ArgumentRole::upstream,
                                    ArgumentRole::size, ArgumentRole::parameter}) {
      EXPECT_FALSE(written(role, pass));
    }
  }
}

TEST(ElementCount, ProductOfTheAxes) {
  const Sizes sizes = {{"N", 100}, {"n_rows", 3}, {"n_dim", 7}};
  const auto count = [&](std::vector<std::string> axes) {
    return element_count({"x", ArgumentRole::input, std::move(axes)}, sizes);
  };
  EXPECT_EQ(count({"4", "N"}), 400);
  EXPECT_EQ(count({"N"}), 100);
  EXPECT_EQ(count({"n_rows", "n_dim"}), 21);
  EXPECT_EQ(count({"17"}), 17);
  EXPECT_EQ(count({"0", "N"}), 0);
  EXPECT_EQ(count({}), 1);
}

TEST(ElementCount, NoItemsAndMoreThan32Bits) {
  const Argument pred = {"pred", ArgumentRole::input, {"4", "N"}};
  EXPECT_EQ(element_count(pred, {{"N", 0}}), 0);
  EXPECT_EQ(element_count(pred, {{"N", 2147483647}}), 8589934588);
}

TEST(ElementCount, UnknownAxesAreADefect) {
  for (const char* axis : {"M", "", "4x", "x4", " 4", "n"}) {
    try {
      (void)element_count({"pred", ArgumentRole::input, {axis, "N"}}, {{"N", 3}});
      FAIL() << axis;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::internal);
      EXPECT_EQ(std::string(error.what()), "argument pred has the unknown axis " + std::string(axis));
    }
  }
}

}  // namespace
}  // namespace lossgrad
