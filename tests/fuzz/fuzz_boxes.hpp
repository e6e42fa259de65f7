// SPDX-License-Identifier: Apache-2.0
// The entry point that both fuzzers call.
#pragma once

#include <cstddef>
#include <span>

namespace lossgrad::fuzz {

// Gives the bytes to every reader of box files: as a file whose format is recognised, as .npy and as COCO
// JSON. Returns how many of them accepted the bytes. Anything but an orderly rejection (Error of kind data,
// one line that starts with the name of the file, no control characters) leaves as an exception or a crash.
int read_all(std::span<const std::byte> bytes);

}  // namespace lossgrad::fuzz
