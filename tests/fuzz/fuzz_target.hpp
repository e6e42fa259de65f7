// SPDX-License-Identifier: Apache-2.0
// What both fuzzers call: each program links one target.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "base/error.hpp"

namespace lossgrad::fuzz {

// Gives the bytes to the code under test. Returns how many of its readers accepted them. Anything but an
// orderly rejection leaves as an exception or a crash.
int run_case(std::span<const std::byte> bytes);

// Throws std::logic_error with `what` when it does not hold.
void require(bool holds, const std::string& what);

// 1 when `read` accepts; 0 when it rejects in order: an Error of that kind, one line that is not long, begins
// with `start` and, about a file, has printable ASCII alone.
int accepts(ErrorKind kind, const std::string& start, const std::function<void()>& read);

}  // namespace lossgrad::fuzz
