// SPDX-License-Identifier: Apache-2.0
// The names that sizes have outside the kernels: in JSON, in reports and as options ("N" is n and --n).
#pragma once

#include <array>
#include <string_view>

namespace lossgrad {

struct SizeField {
  std::string_view size;   // in argument lists: "n_rows"
  std::string_view field;  // in documents and options: "rows"
  bool counts_items;       // boxes, rows
};

inline constexpr std::array<SizeField, 3> kSizeFields = {
    {{"N", "n", true}, {"n_rows", "rows", true}, {"n_dim", "dim", false}}};

// Throws ErrorKind::internal for a size that is not in the table.
std::string_view field_of_size(std::string_view size);

}  // namespace lossgrad
