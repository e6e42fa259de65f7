// SPDX-License-Identifier: Apache-2.0
#include "kernel/item_layout.hpp"

#include "base/error.hpp"

namespace lossgrad {

ItemLayout item_layout(const Argument& argument, const std::string& item_size, const Sizes& sizes) {
  ItemLayout layout;
  bool found = false;
  for (const std::string& axis : argument.axes) {
    const std::int64_t length = element_count({argument.name, argument.role, {axis}}, sizes);
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

}  // namespace lossgrad
