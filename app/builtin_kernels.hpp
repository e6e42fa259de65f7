// SPDX-License-Identifier: Apache-2.0
// The built-in kernels by id.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel.hpp"

namespace lossgrad::app {

// Every loss, pass, convention and dtype with the given block.
std::vector<Kernel> builtin_kernels(int block = 256);

// NAME__DTYPE__BLOCK[__CONVENTION]. Throws ErrorKind::usage with the nearest id.
Kernel find_kernel(const std::string& id);

}  // namespace lossgrad::app
