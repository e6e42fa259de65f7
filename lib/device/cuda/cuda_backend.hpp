// SPDX-License-Identifier: Apache-2.0
// The cuda backend: NVRTC and the CUDA runtime on one NVIDIA GPU. Not safe for use from several threads at
// once.
//
// After an error that leaves the device's context unusable (an illegal memory access, a failed assertion) the
// message says so, and every later call throws ErrorKind::device with the first cause.
#pragma once

#include <memory>

#include "device/backend.hpp"

namespace lossgrad {

// Throws ErrorKind::device with the reason: no driver, a driver that is too old, no such device, NVRTC not
// found, an architecture that NVRTC does not compile for.
std::unique_ptr<Backend> open_cuda_backend(int device_index);

// Never throws for what is missing: it is the reason.
BackendStatus cuda_status();

}  // namespace lossgrad
