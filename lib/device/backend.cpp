// SPDX-License-Identifier: Apache-2.0
#include "device/backend.hpp"

#include "device/cuda/cuda_backend.hpp"
#include "device/host/host_backend.hpp"

namespace lossgrad {

std::unique_ptr<Backend> open_backend(BackendKind kind, int device_index) {
  return kind == BackendKind::cuda ? open_cuda_backend(device_index) : open_host_backend();
}

BackendStatus backend_status(BackendKind kind) {
  return kind == BackendKind::cuda ? cuda_status() : host_status();
}

}  // namespace lossgrad
