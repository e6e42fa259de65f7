// SPDX-License-Identifier: Apache-2.0
// An array read from a file: values in double (all exact: integers that double cannot hold are refused), C
// order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lossgrad {

struct Array {
  std::string source;       // path, for messages
  std::string stored_type;  // as the file names it: "f32", "f64", "i64", "u8" ...
  std::vector<std::int64_t> shape;
  std::vector<double> values;
};

// "[4, 651]"
std::string shape_text(const std::vector<std::int64_t>& shape);

}  // namespace lossgrad
