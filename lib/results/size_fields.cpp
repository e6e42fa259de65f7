// SPDX-License-Identifier: Apache-2.0
#include "results/size_fields.hpp"

#include <string>

#include "base/error.hpp"

namespace lossgrad {

std::string_view field_of_size(std::string_view size) {
  for (const SizeField& entry : kSizeFields) {
    if (entry.size == size) return entry.field;
  }
  throw Error(ErrorKind::internal, "size " + std::string(size) + " has no field in results/size_fields.hpp");
}

}  // namespace lossgrad
