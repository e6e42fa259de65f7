// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/resource_log.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace lossgrad {
namespace {

template <typename Visit>
void for_each_line(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    visit(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

// The number that stands before `unit`: 40 in "..., 40 bytes smem".
std::optional<int> number_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t first = at;
  while (first > 0 && line[first - 1] >= '0' && line[first - 1] <= '9') --first;
  int number = 0;
  if (std::from_chars(line.data() + first, line.data() + at, number).ec != std::errc()) return std::nullopt;
  return number;
}

void add(int& total, std::optional<int> number) {
  if (number) total = std::max(total, 0) + *number;
}

}  // namespace

KernelResources parse_resource_log(std::string_view log) {
  KernelResources resources;
  for_each_line(log, [&](std::string_view line) {
    if (const auto frame = number_before(line, " bytes stack frame")) {
      resources.local_bytes = std::max(resources.local_bytes, *frame);
      add(resources.spill_store_bytes, number_before(line, " bytes spill stores"));
      add(resources.spill_load_bytes, number_before(line, " bytes spill loads"));
    }
    if (const auto registers = number_before(line, " registers")) {
      resources.registers = std::max(resources.registers, *registers);
      resources.shared_bytes =
          std::max(resources.shared_bytes, number_before(line, " bytes smem").value_or(0));
      // Of the whole call tree; frames of functions that call each other add up.
      const int stack = number_before(line, " bytes cumulative stack size").value_or(0);
      resources.local_bytes = std::max(resources.local_bytes, stack);
    }
  });
  return resources;
}

std::string_view first_error_line(std::string_view log) {
  std::string_view error;
  std::string_view text;
  for_each_line(log, [&](std::string_view line) {
    if (text.empty() && line.find_first_not_of(" \t\r") != std::string_view::npos) text = line;
    const bool reports =
        line.find("error:") != std::string_view::npos || line.find("error   :") != std::string_view::npos;
    if (error.empty() && reports) error = line;
  });
  return error.empty() ? text : error;
}

}  // namespace lossgrad
