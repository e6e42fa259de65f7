// SPDX-License-Identifier: Apache-2.0
#include "device/backend.hpp"

#include "base/error.hpp"
#include "device/cuda/cuda_backend.hpp"
#include "device/host/host_backend.hpp"

namespace lossgrad {

std::unique_ptr<Backend> open_backend(BackendKind kind, int device_index) {
  if (kind == BackendKind::cuda) return open_cuda_backend(device_index);
  if (device_index != 0) {
    throw Error(ErrorKind::device,
                "no device " + std::to_string(device_index) + ": the host backend has none to choose from");
  }
  return open_host_backend();
}

BackendStatus backend_status(BackendKind kind) {
  return kind == BackendKind::cuda ? cuda_status() : host_status();
}

}  // namespace lossgrad
