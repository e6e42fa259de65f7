// SPDX-License-Identifier: Apache-2.0
// The generated extern "C" wrapper of a kernel body: fixed name, the contract's argument order, compile-time
// constants filled in.
#pragma once

#include <string>

#include "kernel/kernel.hpp"

namespace lossgrad {

// For parts with name, pass, dtype, arguments and launch. The body is the function template parts.name; its
// first template argument is the storage type D, `constants` are the others: "256, true".
std::string entry_point_source(const Kernel::Parts& parts, const std::string& constants);

}  // namespace lossgrad
