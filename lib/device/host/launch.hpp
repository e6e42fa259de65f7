// SPDX-License-Identifier: Apache-2.0
// Runs a loaded kernel over a whole grid.
#pragma once

#include <span>
#include <string>

#include "device/backend.hpp"
#include "device/host/host_module.hpp"

namespace lossgrad::host {

// Blocks run in parallel over the cores. Throws ErrorKind::device, naming the kernel, when shape or arguments
// do not fit the kernel or it fails while running.
void launch_kernel(const std::string& kernel_id, const HostModule& module, const LaunchShape& shape,
                   std::span<const LaunchArgument> arguments, const LaunchOptions& options);

}  // namespace lossgrad::host
