// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/cuda_device.hpp"

#include <utility>

#include "base/error.hpp"
#include "device/cuda/cuda_error.hpp"

namespace lossgrad {
namespace {

int attribute(cudaDeviceAttr which, int index) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, index), "asking device " + std::to_string(index));
  return value;
}

// 0 when there is no driver.
int driver_version() {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess) return 0;
  return version;
}

std::string no_devices_reason(cudaError_t code) {
  const std::string text = " (" + describe(code) + ")";
  const int driver = driver_version();
  if (driver == 0) return "no NVIDIA driver found" + text;
  if (code == cudaErrorInsufficientDriver) {
    return "the NVIDIA driver supports CUDA " + cuda_version_text(driver) + ", this program needs " +
           cuda_version_text(CUDART_VERSION) + text;
  }
  if (code == cudaErrorNoDevice || code == cudaSuccess) {
    return "NVIDIA driver found but no device" + (code == cudaSuccess ? "" : text);
  }
  return "NVIDIA driver found but not usable" + text;
}

}  // namespace

int cuda_device_count() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaSuccess && count > 0) return count;
  cudaGetLastError();
  throw Error(ErrorKind::device, no_devices_reason(code));
}

DeviceDescription describe_cuda_device(int index, std::string compiler) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, index), "asking device " + std::to_string(index));
  DeviceDescription description;
  description.name = properties.name;
  description.architecture = "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
  description.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
  description.multiprocessors = properties.multiProcessorCount;
  description.driver_version = cuda_version_text(driver_version());
  description.compiler = std::move(compiler);
  return description;
}

LaunchLimits cuda_launch_limits(int index) {
  const auto limit = [&](cudaDeviceAttr which) {
    return static_cast<std::uint32_t>(attribute(which, index));
  };
  LaunchLimits limits;
  limits.threads_per_block = limit(cudaDevAttrMaxThreadsPerBlock);
  limits.block = {limit(cudaDevAttrMaxBlockDimX), limit(cudaDevAttrMaxBlockDimY),
                  limit(cudaDevAttrMaxBlockDimZ)};
  limits.grid = {limit(cudaDevAttrMaxGridDimX), limit(cudaDevAttrMaxGridDimY), limit(cudaDevAttrMaxGridDimZ)};
  limits.shared_bytes_opt_in = limit(cudaDevAttrMaxSharedMemoryPerBlockOptin);
  return limits;
}

std::string launch_shape_problem(const LaunchShape& shape, const LaunchLimits& limits) {
  static constexpr const char* kAxes = "xyz";
  const auto exceeds = [](const std::string& what, std::uint64_t asked, std::uint64_t limit) {
    return what + " is " + std::to_string(asked) + ", the device's limit is " + std::to_string(limit);
  };
  std::uint64_t threads = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    threads *= shape.block[axis];
    if (shape.block[axis] > limits.block[axis]) {
      return exceeds(std::string("block size in ") + kAxes[axis], shape.block[axis], limits.block[axis]);
    }
    if (shape.grid[axis] > limits.grid[axis]) {
      return exceeds(std::string("number of blocks in ") + kAxes[axis], shape.grid[axis], limits.grid[axis]);
    }
  }
  if (threads == 0) return "the block has no threads";
  if (threads > limits.threads_per_block)
    return exceeds("threads per block", threads, limits.threads_per_block);
  if (shape.shared_bytes > limits.shared_bytes_opt_in) {
    return exceeds("shared memory in bytes", shape.shared_bytes, limits.shared_bytes_opt_in);
  }
  return {};
}

}  // namespace lossgrad
