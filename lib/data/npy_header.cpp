// SPDX-License-Identifier: Apache-2.0
#include "data/npy_header.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>

#include "data/array.hpp"

namespace lossgrad {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
// Versions 2 and 3 allow 4 GiB. The headers of plain arrays have about 100 bytes.
constexpr std::uint64_t kLongestHeader = 1 << 20;
constexpr std::string_view kKnownTypes = "expected f2, f4, f8, i1 to i8, u1 to u8 or b1";

// What the single letter of a dtype means, for the types that are turned down.
std::string_view foreign_type(char letter) {
  switch (letter) {
    case 'O':
      return "Python objects";
    case 'c':
      return "complex numbers";
    case 'S':
    case 'a':
      return "byte strings";
    case 'U':
      return "text";
    case 'V':
      return "raw or structured data";
    case 'M':
      return "dates";
    case 'm':
      return "durations";
    case 'f':
      return "floating point of this size";
    case 'i':
    case 'u':
      return "integers of this size";
    default:
      return "an unknown type";
  }
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A strict reader of the one Python literal that a header may hold. Positions are bytes of the file.
class HeaderParser {
 public:
  HeaderParser(const ByteSource& source, std::string_view text, std::uint64_t offset, int version)
      : source_(source), text_(text), offset_(offset), version_(version) {}

  void parse(NpyHeader& header) {
    skip_space();
    expect('{', "'{' that opens the header's dict");
    skip_space();
    while (peek() != '}') {
      parse_entry(header);
      skip_space();
      if (peek() == '}') break;
      expect(',', "',' or '}'");
      skip_space();
    }
    ++position_;
    skip_space();
    if (position_ < text_.size()) fail_found("nothing after the header's dict");
    require_keys();
  }

 private:
  static constexpr std::array<std::string_view, 3> kKeys = {"descr", "fortran_order", "shape"};

  [[nodiscard]] char peek() const { return position_ < text_.size() ? text_[position_] : '\0'; }
  [[nodiscard]] std::uint64_t byte() const { return offset_ + position_; }

  void skip_space() {
    while (position_ < text_.size() && std::strchr(" \t\r\n", text_[position_]) != nullptr &&
           text_[position_] != '\0') {
      ++position_;
    }
  }

  [[noreturn]] void fail_found(const std::string& expected) const {
    if (position_ >= text_.size()) source_.fail_at(byte(), "the header ends here, expected " + expected);
    source_.fail_at(byte(), "found " + quoted(text_.substr(position_, 12)) + ", expected " + expected);
  }

  void expect(char wanted, const std::string& expected) {
    if (peek() != wanted) fail_found(expected);
    ++position_;
  }

  void parse_entry(NpyHeader& header) {
    const std::uint64_t start = byte();
    const std::string_view key = parse_string("a key in quotes");
    const auto* const known = std::find(kKeys.begin(), kKeys.end(), key);
    if (known == kKeys.end()) {
      source_.fail_at(
          start, "unknown key " + quoted(key) + " in the header, expected descr, fortran_order and shape");
    }
    bool& seen = seen_[static_cast<std::size_t>(known - kKeys.begin())];
    if (seen) source_.fail_at(start, "key " + quoted(key) + " is in the header twice");
    seen = true;
    skip_space();
    expect(':', "':' after the key");
    skip_space();
    if (key == "descr") parse_descr(header);
    if (key == "fortran_order") header.fortran_order = parse_bool();
    if (key == "shape") parse_shape(header);
  }

  void require_keys() const {
    for (std::size_t i = 0; i < kKeys.size(); ++i) {
      if (!seen_[i]) source_.fail_at(offset_, "the header has no key " + quoted(kKeys[i]));
    }
  }

  // Escapes do not occur in keys and plain dtypes, so a backslash ends the reading.
  std::string_view parse_string(const std::string& expected) {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail_found(expected);
    const std::size_t start = ++position_;
    while (position_ < text_.size() && peek() != quote && peek() != '\\' && peek() != '\n') ++position_;
    const std::string_view result = text_.substr(start, position_ - start);
    expect(quote, "the closing quote");
    return result;
  }

  bool parse_bool() {
    for (const std::string_view word : {std::string_view("True"), std::string_view("False")}) {
      if (text_.substr(position_, word.size()) == word) {
        position_ += word.size();
        return word == "True";
      }
    }
    fail_found("True or False");
  }

  void parse_descr(NpyHeader& header) {
    const std::uint64_t start = byte();
    if (peek() == '[' || peek() == '(') {
      source_.fail_at(start, "a structured dtype is not supported; " + std::string(kKnownTypes));
    }
    const std::string_view descr = parse_string("a dtype in quotes");
    const auto reject = [&](std::string_view why) {
      source_.fail_at(start, "dtype " + quoted(descr) + " (" + std::string(why) + ") is not supported; " +
                                 std::string(kKnownTypes));
    };
    const std::size_t mark =
        descr.empty() || std::string_view("<>|=").find(descr[0]) == std::string_view::npos ? 0 : 1;
    const std::string_view type = descr.substr(mark);
    if (type.empty()) reject("an unknown type");
    const std::string_view size = type.substr(1);
    const bool known =
        (type[0] == 'f' && (size == "2" || size == "4" || size == "8")) || type == "b1" ||
        ((type[0] == 'i' || type[0] == 'u') && (size == "1" || size == "2" || size == "4" || size == "8"));
    if (!known) reject(foreign_type(type[0]));
    header.item_size = static_cast<std::uint32_t>(size[0] - '0');
    if (mark == 0 || descr[0] == '=' || (descr[0] == '|' && header.item_size > 1)) reject("no byte order");
    header.big_endian = descr[0] == '>';
    header.kind = type[0] == 'f'   ? NpyKind::floating
                  : type[0] == 'i' ? NpyKind::signed_integer
                  : type[0] == 'u' ? NpyKind::unsigned_integer
                                   : NpyKind::boolean;
  }

  void parse_shape(NpyHeader& header) {
    expect('(', "'(' that opens the shape");
    skip_space();
    while (peek() != ')') {
      header.shape.push_back(parse_dimension());
      skip_space();
      // (3) is a number in Python, (3,) a tuple.
      if (peek() == ')' && header.shape.size() > 1) break;
      expect(',', "',' in the shape");
      skip_space();
    }
    ++position_;
  }

  std::int64_t parse_dimension() {
    const std::size_t start = position_;
    if (peek() == '-') ++position_;
    if (!is_digit(peek())) fail_found("a dimension, a whole number");
    while (is_digit(peek())) ++position_;
    const std::string_view digits = text_.substr(start, position_ - start);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits[0] == '-') {
      source_.fail_at(offset_ + start,
                      "negative dimension " + std::string(digits.substr(0, 40)) + " in the header");
    }
    if (error != std::errc() || end != digits.data() + digits.size()) {
      source_.fail_at(offset_ + start, "dimension " + quoted(digits) + " is above 2^63 - 1");
    }
    if (digits.size() > 1 && digits[0] == '0') {
      source_.fail_at(offset_ + start,
                      "found " + quoted(digits) + ", expected a dimension without leading zeros");
    }
    if (version_ < 3 && peek() == 'L') ++position_;  // long integers of Python 2
    return value;
  }

  const ByteSource& source_;
  std::string_view text_;
  std::uint64_t offset_;
  int version_;
  std::size_t position_ = 0;
  std::array<bool, 3> seen_ = {};
};

void check_ascii(const ByteSource& source, std::string_view text, std::uint64_t offset) {
  // Plain arrays need ASCII alone; versions 1 and 2 are Latin-1, 3 is UTF-8, the same there.
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (static_cast<unsigned char>(text[i]) >= 0x80) {
      source.fail_at(offset + i, "a byte above 127 in the header, expected the dict of a plain array");
    }
  }
}

// Elements and bytes that a shape promises; false when they pass 2^64.
bool count_elements(NpyHeader& header, std::uint64_t& bytes) {
  header.count = 1;
  const auto& shape = header.shape;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) header.count = 0;
  if (header.count == 0) return true;
  for (const std::int64_t dimension : shape) {
    if (__builtin_mul_overflow(header.count, static_cast<std::uint64_t>(dimension), &header.count))
      return false;
  }
  return !__builtin_mul_overflow(header.count, std::uint64_t{header.item_size}, &bytes);
}

void check_data_size(const ByteSource& source, NpyHeader& header) {
  const std::string what = header.stored_type() + " " + shape_text(header.shape);
  const std::uint64_t found = source.size() - header.data_offset;
  std::uint64_t promised = 0;
  const bool fits = count_elements(header, promised);
  if (!fits || promised > found) {
    source.fail_at(header.data_offset, "the header promises " +
                                           (fits ? std::to_string(promised) : "over 2^64") + " data bytes (" +
                                           what + "), " + std::to_string(found) + " found");
  }
  if (promised < found) {
    source.fail_at(header.data_offset + promised, std::to_string(found - promised) +
                                                      " bytes after the array (" + what + " has " +
                                                      std::to_string(promised) + " bytes), none expected");
  }
}

}  // namespace

std::string NpyHeader::stored_type() const {
  if (kind == NpyKind::boolean) return "bool";
  const char letter = kind == NpyKind::floating ? 'f' : kind == NpyKind::signed_integer ? 'i' : 'u';
  return letter + std::to_string(item_size * 8);
}

NpyHeader read_npy_header(ByteSource& source) {
  std::array<unsigned char, 12> start{};
  const std::size_t available =
      static_cast<std::size_t>(std::min<std::uint64_t>(source.size(), start.size()));
  source.read(0, std::as_writable_bytes(std::span(start)).first(available));
  if (available == 0) source.fail("empty file, not a .npy file");
  if (available < kMagic.size() || std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0) {
    source.fail_at(0, "not a .npy file, expected the bytes 93 'NUMPY'");
  }
  const int version = available > 6 ? start[6] : 0;
  if (available > 7 && (version < 1 || version > 3 || start[7] != 0)) {
    source.fail_at(6, "version " + std::to_string(version) + "." + std::to_string(start[7]) +
                          " of the .npy format, expected 1.0, 2.0 or 3.0");
  }
  NpyHeader header;
  const std::uint64_t text_offset = version == 1 ? 10 : 12;
  if (available < 8 || source.size() < text_offset) {
    source.fail_at(source.size(), "the file ends in the first bytes of a .npy header");
  }
  std::uint64_t length = start[8] | std::uint64_t{start[9]} << 8;
  if (version > 1) length |= std::uint64_t{start[10]} << 16 | std::uint64_t{start[11]} << 24;
  if (length > source.size() - text_offset) {
    source.fail_at(8, "a header of " + std::to_string(length) + " bytes promised, " +
                          std::to_string(source.size() - text_offset) + " found");
  }
  if (length > kLongestHeader) {
    source.fail_at(8, "a header of " + std::to_string(length) + " bytes, at most " +
                          std::to_string(kLongestHeader) + " expected");
  }
  std::string text(static_cast<std::size_t>(length), '\0');
  source.read(text_offset, std::as_writable_bytes(std::span(text)));
  check_ascii(source, text, text_offset);
  HeaderParser(source, text, text_offset, version).parse(header);
  header.data_offset = text_offset + length;
  check_data_size(source, header);
  return header;
}

}  // namespace lossgrad
