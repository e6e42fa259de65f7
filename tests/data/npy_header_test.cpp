// SPDX-License-Identifier: Apache-2.0
// Headers of .npy files that are not taken, each with the message that rejects it.
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_npy.hpp"

namespace lossgrad {
namespace {

using test::dict_of;
using test::read_error;
using test::with_header;
using testing::HasSubstr;
using testing::StartsWith;

struct BadHeader {
  std::string dict;
  std::string message;  // after "x.npy: "
};

void expect_rejected(const std::vector<BadHeader>& cases) {
  for (const BadHeader& bad : cases) {
    const std::string message = read_error(with_header(1, bad.dict, std::string(4, '\0')));
    EXPECT_THAT(message, StartsWith("x.npy: byte ")) << bad.dict;
    EXPECT_THAT(message, HasSubstr(bad.message)) << bad.dict;
  }
}

TEST(NpyHeader, RejectsOtherTypes) {
  const std::string types = " is not supported; expected f2, f4, f8, i1 to i8, u1 to u8 or b1";
  const auto with_descr = [](const std::string& descr) {
    return "{'descr': " + descr + ", 'fortran_order': False, 'shape': (1,), }";
  };
  expect_rejected({
      {with_descr("'|O'"), "byte 20: dtype '|O' (Python objects)" + types},
      {with_descr("'<c8'"), "byte 20: dtype '<c8' (complex numbers)" + types},
      {with_descr("'|S5'"), "byte 20: dtype '|S5' (byte strings)" + types},
      {with_descr("'<U5'"), "byte 20: dtype '<U5' (text)" + types},
      {with_descr("'|V8'"), "byte 20: dtype '|V8' (raw or structured data)" + types},
      {with_descr("'<M8[ns]'"), "byte 20: dtype '<M8[ns]' (dates)" + types},
      {with_descr("'<m8'"), "byte 20: dtype '<m8' (durations)" + types},
      {with_descr("'<f16'"), "byte 20: dtype '<f16' (floating point of this size)" + types},
      {with_descr("'<i3'"), "byte 20: dtype '<i3' (integers of this size)" + types},
      {with_descr("'<b2'"), "byte 20: dtype '<b2' (an unknown type)" + types},
      {with_descr("''"), "byte 20: dtype '' (an unknown type)" + types},
      {with_descr("'<'"), "byte 20: dtype '<' (an unknown type)" + types},
      {with_descr("'f4'"), "byte 20: dtype 'f4' (no byte order)" + types},
      {with_descr("'=f4'"), "byte 20: dtype '=f4' (no byte order)" + types},
      {with_descr("'|f4'"), "byte 20: dtype '|f4' (no byte order)" + types},
      {with_descr("[('x', '<f4'), ('y', '<f4')]"), "byte 20: a structured dtype" + types},
      {with_descr("('<f4', (2,))"), "byte 20: a structured dtype" + types},
      {with_descr("None"), "byte 20: found 'None, 'fortr', expected a dtype in quotes"},
      {with_descr("'<f4"), "byte 20: dtype '<f4, ' (floating point of this size)" + types},
      {with_descr("'<f\\x34'"), "expected the closing quote"},
  });
}

TEST(NpyHeader, RejectsOtherShapes) {
  const auto with_shape = [](const std::string& shape) { return dict_of("<f4", false, shape); };
  expect_rejected({
      {with_shape("3"), "expected '(' that opens the shape"},
      {with_shape("(3)"), "expected ',' in the shape"},
      {with_shape("(3 4)"), "expected ',' in the shape"},
      {with_shape("(,)"), "expected a dimension, a whole number"},
      {with_shape("(3,,)"), "expected a dimension, a whole number"},
      {with_shape("[3, 4]"), "expected '(' that opens the shape"},
      {with_shape("(True,)"), "expected a dimension, a whole number"},
      {with_shape("(1.5,)"), "expected ',' in the shape"},
      {with_shape("(1_0,)"), "expected ',' in the shape"},
      {with_shape("(0x10,)"), "expected ',' in the shape"},
      {with_shape("(+3,)"), "expected a dimension, a whole number"},
      {with_shape("(007,)"), "found '007', expected a dimension without leading zeros"},
      {with_shape("(-6, 4)"), "byte 61: negative dimension -6 in the header"},
      {with_shape("(9223372036854775808,)"), "dimension '9223372036854775808' is above 2^63 - 1"},
      {with_shape("(4294967296, 4294967296)"),
       "the header promises over 2^64 data bytes (f32 [4294967296, 4294967296])"},
      {with_shape("(9223372036854775807,)"), "the header promises over 2^64 data bytes"},
      {with_shape("(1099511627776, 4)"), "the header promises 17592186044416 data bytes"},
  });
}

TEST(NpyHeader, RejectsOtherDicts) {
  expect_rejected({
      {"{'descr': '<f4", "byte 63: found '?', expected the closing quote"},
      {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "expected True or False"},
      {"{'descr': '<f4', 'fortran_order': False}", "the header has no key 'shape'"},
      {"{'fortran_order': False, 'shape': (1,)}", "the header has no key 'descr'"},
      {"{'descr': '<f4', 'shape': (1,)}", "the header has no key 'fortran_order'"},
      {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
       "byte 27: key 'descr' is in the header twice"},
      {"{'descr': '<f4', 'more': 1, 'fortran_order': False, 'shape': (1,)}",
       "byte 27: unknown key 'more' in the header"},
      {"{'descr' '<f4'}", "expected ':' after the key"},
      {"{'descr': '<f4' 'shape': (1,)}", "expected ',' or '}'"},
      {"{,}", "byte 11: found ',}"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", "the header ends here, expected ',' or '}'"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
       "expected nothing after the header's dict"},
      {"", "the header ends here, expected '{' that opens the header's dict"},
      {"{'descr': '<f4', 'fortran_order': False, 'sh\xc3\xa4pe': (1,)}", "a byte above 127 in the header"},
      {"({'descr': '<f4'},)", "byte 10: found"},
  });
}

}  // namespace
}  // namespace lossgrad
