// SPDX-License-Identifier: Apache-2.0
#include "kernel/item_layout.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace lossgrad {

ItemLayout item_layout(const Argument& argument, const std::string& item_size, const Sizes& sizes) {
  ItemLayout layout;
  bool found = false;
  for (const std::string& axis : argument.axes) {
    const std::int64_t length = axis_length(argument, axis, sizes);
    if (axis == item_size) {
      layout.items = length;
      found = true;
    } else {
      (found ? layout.inner : layout.outer) *= length;
    }
  }
  if (!found) throw Error(ErrorKind::internal, "argument " + argument.name + " has no axis " + item_size);
  return layout;
}

void copy_items(const ItemLayout& layout, std::int64_t items, std::span<const double> from,
                ItemPlace from_place, std::span<double> to, ItemPlace to_place) {
  const auto values = static_cast<std::size_t>(items * layout.inner);
  for (std::int64_t o = 0; o < layout.outer; ++o) {
    const auto at = static_cast<std::size_t>((o * from_place.count + from_place.first) * layout.inner);
    const auto place = static_cast<std::size_t>((o * to_place.count + to_place.first) * layout.inner);
    std::ranges::copy(from.subspan(at, values), to.subspan(place, values).begin());
  }
}

}  // namespace lossgrad
