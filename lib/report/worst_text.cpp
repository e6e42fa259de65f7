// SPDX-License-Identifier: Apache-2.0
#include "report/worst_text.hpp"

#include <algorithm>

#include "report/number_text.hpp"

namespace lossgrad {
namespace {

std::string expected_text(const WorstElement& element) {
  if (!element.kink) return "expected " + shortest(nearest_expected(element));
  return "expected " + shortest(element.expected_low) + " to " + shortest(element.expected_high) + " (kink)";
}

// Of long rows only the first values: the JSON has all of them.
constexpr std::size_t kMostValues = 16;
constexpr std::size_t kValuesOfLongRows = 8;

std::string values_text(const std::vector<double>& values) {
  const std::size_t shown = values.size() > kMostValues ? kValuesOfLongRows : values.size();
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (text.empty() ? "" : ", ") + shortest(values[i]);
  if (shown < values.size())
    text += " ... and " + grouped(static_cast<std::int64_t>(values.size() - shown)) + " more";
  return text;
}

}  // namespace

std::vector<std::string> worst_lines(const WorstElement& element) {
  std::vector<std::string> lines;
  lines.push_back(element.output + " item " + std::to_string(element.item) + " component " +
                  std::to_string(element.component) + ": got " + shortest(element.got) + ", " +
                  expected_text(element) + (element.note.empty() ? "" : "; " + element.note));
  lines.push_back("  error " + scientific(element.abs_error) + ", bound " + scientific(element.bound) +
                  ", usage " + usage_text(element.bound_usage) + ", " + ulp_text(element.ulp_error) + " ulp");
  std::size_t width = 0;
  for (const auto& [argument, values] : element.inputs) width = std::max(width, argument.size());
  for (const auto& [argument, values] : element.inputs) {
    lines.push_back("  " + argument + std::string(width - argument.size(), ' ') + " = " +
                    values_text(values));
  }
  return lines;
}

}  // namespace lossgrad
