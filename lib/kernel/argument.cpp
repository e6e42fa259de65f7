// SPDX-License-Identifier: Apache-2.0
#include "kernel/argument.hpp"

#include <charconv>

#include "base/error.hpp"

namespace lossgrad {

std::string_view name(Pass pass) {
  switch (pass) {
    case Pass::forward:
      return "forward";
    case Pass::backward:
      return "backward";
    case Pass::forward_backward:
      return "forward_backward";
  }
  return "?";
}

std::optional<Pass> parse_pass(std::string_view text) {
  for (const Pass pass : {Pass::forward, Pass::backward, Pass::forward_backward}) {
    if (text == name(pass)) return pass;
  }
  return std::nullopt;
}

std::string_view name(ArgumentRole role) {
  switch (role) {
    case ArgumentRole::input:
      return "input";
    case ArgumentRole::constant:
      return "constant";
    case ArgumentRole::upstream:
      return "upstream";
    case ArgumentRole::saved:
      return "saved";
    case ArgumentRole::output:
      return "output";
    case ArgumentRole::gradient:
      return "gradient";
    case ArgumentRole::size:
      return "size";
    case ArgumentRole::parameter:
      return "parameter";
  }
  return "?";
}

bool is_written(const Argument& argument, Pass pass) {
  switch (argument.role) {
    case ArgumentRole::output:
      return true;
    case ArgumentRole::gradient:
      return pass != Pass::forward;
    case ArgumentRole::saved:
      return pass == Pass::forward;
    default:
      return false;
  }
}

bool is_read(const Argument& argument, Pass pass) {
  return argument.is_array() && !is_written(argument, pass);
}

bool is_drawn(const Argument& argument, Pass pass) {
  return is_read(argument, pass) && argument.role != ArgumentRole::saved;
}

std::optional<std::int64_t> literal_axis(const std::string& axis) {
  std::int64_t number = 0;
  const auto [end, code] = std::from_chars(axis.data(), axis.data() + axis.size(), number);
  if (code != std::errc() || end != axis.data() + axis.size()) return std::nullopt;
  return number;
}

std::int64_t axis_length(const Argument& argument, const std::string& axis, const Sizes& sizes) {
  if (const auto number = literal_axis(axis)) return *number;
  const auto found = sizes.find(axis);
  if (found == sizes.end())
    throw Error(ErrorKind::internal, "argument " + argument.name + " has the unknown axis " + axis);
  return found->second;
}

std::int64_t element_count(const Argument& argument, const Sizes& sizes) {
  std::int64_t count = 1;
  for (const std::string& axis : argument.axes) count *= axis_length(argument, axis, sizes);
  return count;
}

}  // namespace lossgrad
