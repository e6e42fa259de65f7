// SPDX-License-Identifier: Apache-2.0
#include "device/backend.hpp"

#include "device/cuda/cuda_backend.hpp"
#include "device/host/host_backend.hpp"

namespace lossgrad {

std::unique_ptr<Backend> open_backend(BackendKind kind, int device_index) {
  return kind == BackendKind::cuda ? open_cuda_backend(device_index) : open_host_backend();
}

std::vector<BackendStatus> backend_statuses() { return {cuda_status(), host_status()}; }

}  // namespace lossgrad
