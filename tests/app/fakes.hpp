// SPDX-License-Identifier: Apache-2.0
// Stand-ins for losses, engine and backends: the losses have argument lists and names but no formula, and
// check_case() returns what a test asks for.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/file_inputs.hpp"
#include "check/check.hpp"

namespace lossgrad::test {

struct FakeEngine {
  bool cuda_available = false;
  std::vector<CheckRequest> requests;  // that check_case() got
  std::vector<std::string> opened;     // backends
  std::vector<std::string> built;      // "ID ARCHITECTURE" that cuda_build() got
  // The verdict of the one result per pass; called with the index of the case.
  std::function<Verdict(std::size_t)> verdict = [](std::size_t) { return Verdict::passed; };
  FaultOutcome fault_outcome = FaultOutcome::caught;  // of every fault
  // Called in the middle of a case with its index; may throw.
  std::function<void(std::size_t)> during = [](std::size_t) {};
};
FakeEngine& engine();  // the one of this process

// Boxes and arrays by path: "three.npy" ...
app::FileReaders fake_readers();

}  // namespace lossgrad::test
