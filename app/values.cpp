// SPDX-License-Identifier: Apache-2.0
#include "app/values.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.hpp"
#include "base/suggest.hpp"

namespace lossgrad::app {
namespace {

constexpr std::array<std::pair<std::string_view, std::int64_t>, 7> kSuffixes = {{
    {"k", 1000},
    {"K", 1000},
    {"M", 1'000'000},
    {"G", 1'000'000'000},
    {"Ki", std::int64_t{1} << 10},
    {"Mi", std::int64_t{1} << 20},
    {"Gi", std::int64_t{1} << 30},
}};

[[noreturn]] void fail(std::string_view flag, std::string_view text, std::string_view expected) {
  throw Error(ErrorKind::usage,
              std::string(flag) + ": found '" + std::string(text) + "', expected " + std::string(expected));
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

// The parts of 1.5e3k: 15, exponent 2, factor 1000.
struct Decimal {
  std::string digits;
  int exponent = 0;
  std::int64_t factor = 1;
};

bool take_exponent(std::string_view& text, int& exponent) {
  if (text.empty() || (text.front() != 'e' && text.front() != 'E')) return true;
  text.remove_prefix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  const std::string_view digits = take_digits(text);
  constexpr std::size_t kMostDigits = 3;
  if (digits.empty() || digits.size() > kMostDigits) return false;
  std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  return true;
}

bool take_suffix(std::string_view text, std::int64_t& factor) {
  if (text.empty()) return true;
  const auto found = std::find_if(kSuffixes.begin(), kSuffixes.end(),
                                  [&](const auto& entry) { return entry.first == text; });
  if (found == kSuffixes.end()) return false;
  factor = found->second;
  return true;
}

bool split_decimal(std::string_view text, Decimal& decimal) {
  const std::string_view whole = take_digits(text);
  if (whole.empty()) return false;
  decimal.digits = whole;
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
    if (fraction.empty()) return false;
  }
  while (fraction.ends_with('0')) fraction.remove_suffix(1);
  decimal.digits += fraction;
  if (!take_exponent(text, decimal.exponent)) return false;
  decimal.exponent -= static_cast<int>(fraction.size());
  return take_suffix(text, decimal.factor);
}

// digits * factor * 10^exponent in whole numbers; false when it is too large or not whole.
bool evaluate(const Decimal& decimal, std::int64_t& value) {
  const char* const end = decimal.digits.data() + decimal.digits.size();
  if (std::from_chars(decimal.digits.data(), end, value).ec != std::errc()) return false;
  if (value == 0) return true;
  if (__builtin_mul_overflow(value, decimal.factor, &value)) return false;
  for (int i = 0; i < decimal.exponent; ++i) {
    if (__builtin_mul_overflow(value, std::int64_t{10}, &value)) return false;
  }
  for (int i = 0; i > decimal.exponent; --i) {
    if (value % 10 != 0) return false;
    value /= 10;
  }
  return true;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

void add_once(std::vector<std::int64_t>& values, std::int64_t value) {
  if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
}

void add_range(std::string_view flag, std::string_view text, std::vector<std::int64_t>& values) {
  const auto parts = split(text, ':');
  constexpr std::string_view kForms = "FIRST:LAST:xFACTOR or FIRST:LAST:+STEP, for example 1k:16M:x4";
  if (parts.size() != 3 || parts[2].size() < 2) fail(flag, text, kForms);
  const bool multiplies = parts[2].front() == 'x';
  if (!multiplies && parts[2].front() != '+') fail(flag, text, kForms);
  const std::int64_t first = parse_count(flag, parts[0]);
  const std::int64_t last = parse_count(flag, parts[1]);
  const std::int64_t step = parse_count(flag, parts[2].substr(1));
  if (last < first) fail(flag, text, "a range whose last value is not below its first");
  if (multiplies && (first < 1 || step < 2))
    fail(flag, text, "a first value of at least 1 and a factor of at least 2");
  if (!multiplies && step < 1) fail(flag, text, "a step of at least 1");
  for (std::int64_t value = first; value <= last;) {
    if (values.size() >= kMostValues) fail(flag, text, "at most " + std::to_string(kMostValues) + " values");
    add_once(values, value);
    const bool overflow = multiplies ? __builtin_mul_overflow(value, step, &value)
                                     : __builtin_add_overflow(value, step, &value);
    if (overflow) return;
  }
}

double parse_double(std::string_view flag, std::string_view text, std::string_view expected) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    fail(flag, text, expected);
  return value;
}

}  // namespace

std::int64_t parse_count(std::string_view flag, std::string_view text) {
  constexpr std::string_view kExpected =
      "a whole number of at least 0, for example 1000, 16k, 1M, 1e6 or 4Ki";
  Decimal decimal;
  std::int64_t value = 0;
  if (!split_decimal(text, decimal)) fail(flag, text, kExpected);
  if (!evaluate(decimal, value)) fail(flag, text, "a whole number below 2^63");
  return value;
}

std::vector<std::int64_t> parse_counts(std::string_view flag, std::string_view text) {
  std::vector<std::int64_t> values;
  for (const std::string_view part : split(text, ',')) {
    if (part.find(':') != std::string_view::npos) {
      add_range(flag, part, values);
    } else {
      add_once(values, parse_count(flag, part));
    }
    if (values.size() > kMostValues) fail(flag, text, "at most " + std::to_string(kMostValues) + " values");
  }
  return values;
}

std::vector<std::string> parse_names(std::string_view flag, std::string_view text, std::string_view what) {
  std::vector<std::string> names;
  for (const std::string_view part : split(text, ',')) {
    if (part.empty()) fail(flag, text, std::string(what) + " separated by single commas");
    if (std::find(names.begin(), names.end(), part) == names.end()) names.emplace_back(part);
  }
  return names;
}

std::uint64_t parse_seed(std::string_view flag, std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  const std::string_view digits = hexadecimal ? text.substr(2) : text;
  std::uint64_t value = 0;
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
  if (code != std::errc() || end != digits.data() + digits.size())
    fail(flag, text, "a whole number from 0 to 2^64 - 1");
  return value;
}

std::vector<double> parse_numbers(std::string_view flag, std::string_view text) {
  std::vector<double> numbers;
  for (const std::string& number : parse_names(flag, text, "numbers"))
    numbers.push_back(parse_double(flag, number, "a finite number"));
  return numbers;
}

double parse_positive(std::string_view flag, std::string_view text) {
  constexpr std::string_view kExpected = "a number above 0";
  const double value = parse_double(flag, text, kExpected);
  if (value <= 0) fail(flag, text, kExpected);
  return value;
}

double parse_not_negative(std::string_view flag, std::string_view text) {
  constexpr std::string_view kExpected = "a number of at least 0";
  const double value = parse_double(flag, text, kExpected);
  if (value < 0) fail(flag, text, kExpected);
  return value;
}

std::vector<std::string> parse_architectures(std::string_view flag, std::string_view text) {
  std::vector<std::string> architectures = parse_names(flag, text);
  for (const std::string& architecture : architectures) {
    std::string_view rest = architecture;
    const bool prefixed = rest.starts_with("sm_");
    if (prefixed) rest.remove_prefix(3);
    const std::string_view digits = take_digits(rest);
    const bool suffixed = rest.empty() || rest == "a" || rest == "f";
    if (!prefixed || digits.size() < 2 || digits.size() > 3 || !suffixed) {
      fail(flag, architecture, "an architecture such as sm_90");
    }
  }
  return architectures;
}

std::string nearest_name_message(std::string_view kind, std::string_view given,
                                 std::span<const std::string> known, std::string_view hint) {
  std::string message = "unknown " + std::string(kind) + " '" + std::string(given) + "'";
  const std::string nearest = nearest_name(given, known);
  if (!nearest.empty()) message += ": did you mean '" + nearest + "'?";
  return message + " (" + std::string(hint) + ")";
}

}  // namespace lossgrad::app
