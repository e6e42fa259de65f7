// SPDX-License-Identifier: Apache-2.0
// Lists of things with a name: looked up by it, and listed for the user.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "base/suggest.hpp"
#include "losses/loss.hpp"

namespace lossgrad {

// Names and summaries of rows that have both.
template <class Rows>
std::vector<NamedChoice> choices_of(const Rows& rows) {
  std::vector<NamedChoice> choices;
  for (const auto& row : rows) choices.push_back({std::string(row.name), std::string(row.summary)});
  return choices;
}

// The row called `wanted`; else ErrorKind::usage: unknown `what`, with the nearest names. `name_of` says what
// a row is called.
template <class Rows, class NameOf>
const auto& find_named(const Rows& rows, std::string_view what, std::string_view wanted,
                       const NameOf& name_of) {
  std::vector<std::string> known;
  for (const auto& row : rows) {
    if (name_of(row) == wanted) return row;
    known.emplace_back(name_of(row));
  }
  throw Error(ErrorKind::usage, unknown_name_message(what, wanted, known));
}
template <class Rows>
const auto& find_named(const Rows& rows, std::string_view what, std::string_view wanted) {
  return find_named(rows, what, wanted, [](const auto& row) { return std::string_view(row.name); });
}

}  // namespace lossgrad
