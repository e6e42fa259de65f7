// SPDX-License-Identifier: Apache-2.0
// Nearest valid names for a mistyped one.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lossgrad {

// Number of inserted, removed, replaced or swapped neighbouring letters that lead from a to b; letter case is
// ignored.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of the names when it is near enough to be a slip, else the shortest one that begins with
// `given` (three characters at least; letter case is ignored); empty when there is none.
std::string nearest_name(std::string_view given, std::span<const std::string> known);

// "unknown scenario 'typcal': did you mean 'typical'? known: typical, touching, ..."
std::string unknown_name_message(std::string_view kind, std::string_view given,
                                 std::span<const std::string> known);

}  // namespace lossgrad
