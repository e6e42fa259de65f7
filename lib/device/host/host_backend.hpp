// SPDX-License-Identifier: Apache-2.0
// Kernels on the CPU: CUDA source text compiled by the system's C++ compiler (see cuda/) and run thread by
// thread.
#pragma once

#include <memory>

#include "device/backend.hpp"

namespace lossgrad {

// Throws ErrorKind::device when there is no C++ compiler. Compiled kernels go to and come from the user's
// kernel cache.
std::unique_ptr<Backend> open_host_backend();

// The same without throwing.
BackendStatus host_status();

}  // namespace lossgrad
