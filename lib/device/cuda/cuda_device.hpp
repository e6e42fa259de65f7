// SPDX-License-Identifier: Apache-2.0
// CUDA devices of this machine: what they are and what a launch on them may ask for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "device/backend.hpp"

namespace lossgrad {

struct LaunchLimits {
  std::uint32_t threads_per_block = 0;
  std::array<std::uint32_t, 3> block = {};
  std::array<std::uint32_t, 3> grid = {};
  std::size_t shared_bytes_opt_in = 0;  // of a kernel that asks for more than any may have
};

// Number of devices. ErrorKind::device with a reason for people: no driver, a driver older than the runtime,
// no device.
int cuda_device_count();

// Throws ErrorKind::device when the device cannot be asked. `compiler` is copied into the description.
DeviceDescription describe_cuda_device(int index, std::string compiler);
LaunchLimits cuda_launch_limits(int index);

// Empty when the shape fits; else one line that says what does not fit and the limit.
std::string launch_shape_problem(const LaunchShape& shape, const LaunchLimits& limits);

}  // namespace lossgrad
