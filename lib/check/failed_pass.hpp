// SPDX-License-Identifier: Apache-2.0
// What a pass with a failed check leaves for those who look into it.
#pragma once

#include <vector>

#include "data/npz.hpp"
#include "kernel/argument.hpp"

namespace lossgrad {

struct FailedPass {
  Pass pass = Pass::forward;
  // The arrays hold every item of the case, positions included: the inputs repeat the failure of a check that
  // compared outputs. Else they hold the worst items alone, perhaps none, and `items` says which.
  bool whole_case = false;
  std::vector<NamedArray> inputs;  // named as the arguments: inputs, constants, dy; as stored
  // "CHECK.OUTPUT.got", "... .expected_low", "... .expected_high", "... .bound" of each output and each
  // failed check that compared outputs; "items", and "CHECK.items" of its outputs, where this is not the
  // whole case. Empty where none of these checks (reference, own_saved) failed.
  std::vector<NamedArray> outputs;
};

}  // namespace lossgrad
