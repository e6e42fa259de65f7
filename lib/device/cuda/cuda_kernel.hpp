// SPDX-License-Identifier: Apache-2.0
// A compiled kernel that is loaded onto the device.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/handle.hpp"
#include "device/cuda/nvrtc_compiler.hpp"

namespace lossgrad {

class CudaKernel final : public LoadedKernel {
 public:
  // Loads onto the current device. ErrorKind::device when the driver refuses the binary.
  CudaKernel(const Kernel& kernel, CompiledKernel compiled);

  // Throws unless the arguments are those that the kernel declares (ErrorKind::internal) and the shape fits
  // the device and the kernel's own needs (ErrorKind::device).
  void check_launch(const LaunchShape& shape, std::span<const LaunchArgument> arguments,
                    const LaunchLimits& limits);

  // Enqueues a checked launch. The result is CUDA's; errors of the run itself come later, with the stream's.
  [[nodiscard]] cudaError_t launch(const LaunchShape& shape, std::span<const LaunchArgument> arguments,
                                   cudaStream_t stream) const;

 private:
  void allow_shared_bytes(std::size_t bytes, const LaunchLimits& limits);

  std::vector<Argument> arguments_;
  std::vector<std::byte> image_;  // the driver may read it as long as the library is loaded
  LibraryHandle library_;
  cudaKernel_t kernel_ = nullptr;  // owned by library_
  std::uint32_t threads_limit_ = 0;
  std::size_t static_shared_bytes_ = 0;
  std::size_t allowed_shared_bytes_ = 0;  // dynamic; more must be asked for
};

}  // namespace lossgrad
