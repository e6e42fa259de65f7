// SPDX-License-Identifier: Apache-2.0
// The command line, an argument a line, and each argument as a value of every kind.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli.hpp"
#include "app/values.hpp"
#include "fuzz_target.hpp"

namespace lossgrad::fuzz {
namespace {

constexpr std::size_t kMostArguments = 64;
constexpr std::size_t kLongestArgument = 200;  // messages quote them
constexpr std::string_view kFlag = "--fuzz";

std::vector<std::string> lines_of(std::span<const std::byte> bytes) {
  std::vector<std::string> lines(1);
  for (const std::byte byte : bytes) {
    const char c = static_cast<char>(byte);
    if (c == '\n' && lines.size() == kMostArguments) break;
    if (c == '\n') {
      lines.emplace_back();
    } else if (c != '\0' && lines.back().size() < kLongestArgument) {  // no argument can hold a NUL
      lines.back() += c;
    }
  }
  return lines;
}

template <class Values>
void require_distinct(Values values, const std::string& what) {
  require(!values.empty() && values.size() <= app::kMostValues, what + ": how many values");
  std::sort(values.begin(), values.end());
  require(std::adjacent_find(values.begin(), values.end()) == values.end(), what + ": a value twice");
}

int as_value(const std::string& text) {
  const auto accepted = [](const std::function<void()>& read) {
    return accepts(ErrorKind::usage, std::string(kFlag), read);
  };
  return accepted([&] { require(app::parse_count(kFlag, text) >= 0, "a negative count"); }) +
         accepted([&] { require_distinct(app::parse_counts(kFlag, text), "counts"); }) +
         accepted([&] { require_distinct(app::parse_names(kFlag, text), "names"); }) +
         accepted([&] { (void)app::parse_seed(kFlag, text); }) + accepted([&] {
           for (const double number : app::parse_numbers(kFlag, text))
             require(std::isfinite(number), "not finite");
         }) +
         accepted([&] { require(app::parse_positive(kFlag, text) > 0, "not positive"); }) +
         accepted([&] { require(app::parse_not_negative(kFlag, text) >= 0, "negative"); }) +
         accepted([&] { require(!app::parse_architectures(kFlag, text).empty(), "no architecture"); });
}

}  // namespace

int run_case(std::span<const std::byte> bytes) {
  const std::vector<std::string> arguments = lines_of(bytes);
  int accepted = accepts(ErrorKind::usage, "", [&] { (void)app::parse_command_line(arguments); });
  for (const std::string& argument : arguments) accepted += as_value(argument);
  return accepted;
}

}  // namespace lossgrad::fuzz
