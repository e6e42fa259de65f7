// SPDX-License-Identifier: Apache-2.0
// Where the items (boxes, rows) lie in an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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
  // Where component 0 <= c < per_item() of an item lies in an array of `count` items.
  [[nodiscard]] std::size_t position(std::int64_t count, std::int64_t item, std::int64_t c) const {
    return static_cast<std::size_t>((c / inner * count + item) * inner + c % inner);
  }
  // The other way: whose element `position` of such an array is.
  [[nodiscard]] std::int64_t item_of(std::int64_t count, std::int64_t position) const {
    return position / inner % count;
  }
  [[nodiscard]] std::int64_t component_of(std::int64_t count, std::int64_t position) const {
    return position / inner / count * inner + position % inner;
  }
};
// Throws ErrorKind::internal for an argument without an axis `item_size`.
ItemLayout item_layout(const Argument& argument, const std::string& item_size, const Sizes& sizes);

// A run of items in an array: the array holds `count` items, the run begins at item `first`.
struct ItemPlace {
  std::int64_t count = 0;
  std::int64_t first = 0;
};
// Copies `items` items of one argument; `layout.items` is not asked.
void copy_items(const ItemLayout& layout, std::int64_t items, std::span<const double> from,
                ItemPlace from_place, std::span<double> to, ItemPlace to_place);

}  // namespace lossgrad
