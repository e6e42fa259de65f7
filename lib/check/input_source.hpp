// SPDX-License-Identifier: Apache-2.0
// Where a case's inputs come from: a scenario or values from files.
#pragma once

#include <cstdint>

#include "check/check.hpp"
#include "losses/loss.hpp"

namespace lossgrad {

class InputSource {
 public:
  explicit InputSource(const CheckRequest& request);

  // Inputs and dy of items [first, first + count). `variant` 0 is the case itself; others are different
  // inputs of the same kind (another seed, the file's items in another order), for guards that need fresh
  // ones.
  [[nodiscard]] Items read(std::int64_t first, std::int64_t count, int variant = 0) const;

  // True for files without items: no small sizes can be drawn from them.
  [[nodiscard]] bool empty() const { return from_files() && items_in_files_ == 0; }

 private:
  [[nodiscard]] bool from_files() const { return !request_.inputs.empty(); }
  void take_from_file(const Argument& argument, const std::vector<double>& values, int variant,
                      Items& items) const;

  const CheckRequest& request_;
  std::vector<Argument> arguments_;
  std::int64_t items_in_files_ = 0;
};

}  // namespace lossgrad
