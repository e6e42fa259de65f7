// SPDX-License-Identifier: Apache-2.0
// The built-in kernels by id.
#pragma once

#include <string>
#include <vector>

#include "kernel/kernel.hpp"

namespace lossgrad::app {

// Every loss, pass, convention and dtype, for the loss's default sizes.
std::vector<Kernel> builtin_kernels();

// NAME__DTYPE__BLOCK[__CONVENTION]. Throws ErrorKind::usage with the nearest id.
Kernel find_kernel(const std::string& id);

}  // namespace lossgrad::app
