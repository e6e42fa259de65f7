// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"

#include <gtest/gtest.h>

namespace lossgrad {
namespace {

TEST(EscapedControls, PrintableTextIsLeftAlone) {
  for (const char* text :
       {"", "a b.npy", "back\\slash 'quote'", "Gr\u00f6\u00dfe", "\u20ac", "\U0001f600", "\u00a0"})
    EXPECT_EQ(escaped_controls(text), text);
}

TEST(EscapedControls, ControlCharacters) {
  EXPECT_EQ(escaped_controls("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(escaped_controls("\x1b[2J\x07\x7f"), "\\x1b[2J\\x07\\x7f");
  EXPECT_EQ(escaped_controls("\u009b2J"), "\\xc2\\x9b2J") << "a terminal may take it for ESC [";
  EXPECT_EQ(escaped_controls(std::string_view("\0", 1)), "\\x00");
}

TEST(EscapedControls, BytesThatAreNoUtf8) {
  EXPECT_EQ(escaped_controls("q\xff.npy"), "q\\xff.npy");
  EXPECT_EQ(escaped_controls("\xc3"), "\\xc3");
  EXPECT_EQ(escaped_controls("\xc0\x9b"), "\\xc0\\x9b") << "too long a form of ESC";
  EXPECT_EQ(escaped_controls("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "a surrogate";
  EXPECT_EQ(escaped_controls("\xe2\x82x"), "\\xe2\\x82x");
}

TEST(PrintableAscii, OneQuestionMarkAByteAndAnEnd) {
  EXPECT_EQ(printable_ascii("a\n\xc3\xa9~"), "a???~");
  EXPECT_EQ(printable_ascii(std::string(301, 'x')), std::string(300, 'x') + "...");
  EXPECT_EQ(printable_ascii(""), "");
}

}  // namespace
}  // namespace lossgrad
