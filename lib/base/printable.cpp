// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"

#include <algorithm>
#include <cstddef>

namespace lossgrad {
namespace {

unsigned byte_at(std::string_view text, std::size_t i) { return static_cast<unsigned char>(text[i]); }

// The length of the character that begins the text; 0 when it is a control character or no UTF-8.
std::size_t printable_length(std::string_view text) {
  const unsigned first = byte_at(text, 0);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const std::size_t length = first >= 0xf0 ? 4 : (first >= 0xe0 ? 3 : 2);
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  unsigned code = first & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
    code = code << 6 | (byte_at(text, i) & 0x3f);
  }
  const unsigned least = length == 4 ? 0x10000 : (length == 3 ? 0x800 : 0xa0);  // 0x80 to 0x9f: C1
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return code < least || code > 0x10ffff || surrogate ? 0 : length;
}

void append_escape(std::string& to, unsigned byte) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (byte == '\n') {
    to += "\\n";
  } else if (byte == '\r') {
    to += "\\r";
  } else if (byte == '\t') {
    to += "\\t";
  } else {
    to.append("\\x").append(1, kDigits[byte >> 4]).append(1, kDigits[byte & 15]);
  }
}

}  // namespace

std::string escaped_controls(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = printable_length(text);
    if (length == 0) append_escape(result, byte_at(text, 0));
    result += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result;
}

std::string printable_ascii(std::string_view text) {
  constexpr std::size_t kLongest = 300;
  std::string result(text.substr(0, kLongest));
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text.size() > kLongest ? result + "..." : result;
}

}  // namespace lossgrad
