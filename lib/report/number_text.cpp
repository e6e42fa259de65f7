// SPDX-License-Identifier: Apache-2.0
#include "report/number_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace lossgrad {
namespace {

std::string formatted(double value, std::chars_format format, int precision) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  std::array<char, 400> buffer{};
  const auto [end, code] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, precision);
  return {buffer.data(), end};
}

std::string fixed(double value, int decimals) { return formatted(value, std::chars_format::fixed, decimals); }

bool ends_with_hiss(const std::string& word) {
  return word.ends_with("x") || word.ends_with("s") || word.ends_with("ch");
}

}  // namespace

std::string grouped(std::int64_t count) {
  std::string text = std::to_string(count);
  const std::size_t first_digit = count < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first_digit + 3;) text.insert(at -= 3, 1, ',');
  return text;
}

namespace {

template <class Number>
std::string fewest_digits(Number value) {
  if (!std::isfinite(value)) return formatted(value, std::chars_format::general, 1);
  std::array<char, 32> buffer{};
  const auto [end, code] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end};
}

}  // namespace

std::string shortest(double value) { return fewest_digits(value); }
std::string parameter_text(double value) { return fewest_digits(static_cast<float>(value)); }

std::string scientific(double value) {
  return value == 0 ? "0" : formatted(value, std::chars_format::scientific, 1);
}

std::string usage_text(double value) {
  if (value == 0) return "0";
  if (std::abs(value) < 0.0005 || std::abs(value) >= 999.9995) return scientific(value);
  // On which side of 1 a value lies must show.
  int decimals = 3;
  while (decimals < 16 && value != 1 && std::abs(value - 1) < 0.5 * std::pow(10, -decimals)) ++decimals;
  return fixed(value, decimals);
}

std::string ulp_text(double value) {
  if (value == 0) return "0";
  return std::abs(value) < 0.05 || std::abs(value) >= 99999.95 ? scientific(value) : fixed(value, 1);
}

std::string seconds_text(double seconds) {
  const int decimals = seconds < 1 ? 2 : (seconds < 100 ? 1 : 0);
  return fixed(seconds, decimals) + " s";
}

std::string counted(std::int64_t count, const std::string& singular) {
  const std::string plural = singular + (ends_with_hiss(singular) ? "es" : "s");
  return grouped(count) + " " + (count == 1 ? singular : plural);
}

}  // namespace lossgrad
