// SPDX-License-Identifier: Apache-2.0
// What `ptxas -v` says about a kernel.
#pragma once

#include <string_view>

#include "device/backend.hpp"

namespace lossgrad {

// Registers and shared memory of the entry function; local memory and spills over it and every function it
// calls (the largest stack frame, its own or of a call tree; the sum of the spills). -1 for what the log does
// not say.
KernelResources parse_resource_log(std::string_view log);

// The first line of a compiler's log that reports an error; the first line with text when none does.
std::string_view first_error_line(std::string_view log);

}  // namespace lossgrad
