// SPDX-License-Identifier: Apache-2.0
// Where the items (boxes, rows) lie in an argument.
#pragma once

#include <cstdint>
#include <string>

#include "kernel/argument.hpp"

namespace lossgrad {

// Which elements of an argument a run of items covers: for each of `outer` slices, `inner` neighbours per
// item. pred [4, N]: outer 4, inner 1. x1 [n_rows, n_dim]: outer 1, inner n_dim.
struct ItemLayout {
  std::int64_t outer = 1;
  std::int64_t items = 0;
  std::int64_t inner = 1;
  [[nodiscard]] std::int64_t elements() const { return outer * items * inner; }
  [[nodiscard]] std::int64_t per_item() const { return outer * inner; }
};
// Throws ErrorKind::internal for an argument without an axis `item_size`.
ItemLayout item_layout(const Argument& argument, const std::string& item_size, const Sizes& sizes);

}  // namespace lossgrad
