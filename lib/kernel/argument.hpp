// SPDX-License-Identifier: Apache-2.0
// Arguments of a kernel: names, roles and shapes. The list drives buffers, guards, file names, reports and
// options.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lossgrad {

enum class Pass { forward, backward, forward_backward };
std::string_view name(Pass pass);
std::optional<Pass> parse_pass(std::string_view text);

enum class ArgumentRole {
  input,      // differentiated with respect to
  constant,   // an input without a gradient (the target, the labels)
  upstream,   // dy, the gradient of the outputs
  saved,      // written by forward, read by backward
  output,     // a result that is not saved
  gradient,   // a result of backward
  size,       // i32, one of the sizes
  parameter,  // f32 scalar by value (margin)
};
std::string_view name(ArgumentRole role);

// Values of the named sizes, for example {"N": 1024} or {"n_rows": 8, "n_dim": 512}.
using Sizes = std::map<std::string, std::int64_t>;

struct Argument {
  std::string name;
  ArgumentRole role;
  // Axes in memory order, slowest first; each is the name of a size or a decimal number: {"4", "N"}. Empty
  // for scalars.
  std::vector<std::string> axes;
  std::vector<double> allowed = {};  // the only values of a constant; empty: any

  [[nodiscard]] bool is_array() const { return !axes.empty(); }
};

// Whether a kernel of this pass writes the argument; forward writes `saved`, backward reads it.
bool is_written(const Argument& argument, Pass pass);
// An array that a kernel of the pass is given.
bool is_read(const Argument& argument, Pass pass);
// The same without what forward saved: what a case brings along.
bool is_drawn(const Argument& argument, Pass pass);

// An axis that is a number, like "4".
std::optional<std::int64_t> literal_axis(const std::string& axis);
// Length of one of the axes of an array argument: a number, or one of `sizes`. Throws ErrorKind::internal for
// an axis that is neither.
std::int64_t axis_length(const Argument& argument, const std::string& axis, const Sizes& sizes);

// Number of elements of one array argument; the same error.
std::int64_t element_count(const Argument& argument, const Sizes& sizes);

}  // namespace lossgrad
