// SPDX-License-Identifier: Apache-2.0
#include "device/host/host_module.hpp"

#include <dlfcn.h>

#include "device/host/block_runner.hpp"

namespace lossgrad::host {

std::optional<HostModule> HostModule::load(const std::filesystem::path& path) {
  void* handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return std::nullopt;
  const auto* interface =
      static_cast<const lossgrad_cuda::KernelInterface*>(::dlsym(handle, "lossgrad_host_kernel"));
  // These functions are in the object only when the kernel calls them.
  const bool needs_fibers = ::dlsym(handle, "lossgrad_waits_at_barrier") != nullptr ||
                            ::dlsym(handle, "lossgrad_waits_in_warp") != nullptr;
  HostModule module(handle, interface, needs_fibers);
  if (interface == nullptr || interface->version != lossgrad_cuda::kInterfaceVersion) return std::nullopt;
  *interface->context_offset = thread_context_offset();
  return module;
}

HostModule::~HostModule() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

}  // namespace lossgrad::host
