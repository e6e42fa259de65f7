// SPDX-License-Identifier: Apache-2.0
// A compiled kernel in memory.
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include "device/host/cuda/context.hpp"

namespace lossgrad::host {

class HostModule {
 public:
  // Nothing when the file cannot be loaded (no such file any more, a file system without execution) or is of
  // another version. The file may be removed afterwards.
  static std::optional<HostModule> load(const std::filesystem::path& path);

  ~HostModule();
  HostModule(HostModule&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)),
        interface_(other.interface_),
        needs_fibers_(other.needs_fibers_) {}
  HostModule& operator=(HostModule&&) = delete;
  HostModule(const HostModule&) = delete;
  HostModule& operator=(const HostModule&) = delete;

  [[nodiscard]] const lossgrad_cuda::KernelInterface& interface() const { return *interface_; }
  // Whether a thread of the kernel may have to wait for others.
  [[nodiscard]] bool needs_fibers() const { return needs_fibers_; }

 private:
  HostModule(void* handle, const lossgrad_cuda::KernelInterface* interface, bool needs_fibers)
      : handle_(handle), interface_(interface), needs_fibers_(needs_fibers) {}

  void* handle_;
  const lossgrad_cuda::KernelInterface* interface_;
  bool needs_fibers_;
};

}  // namespace lossgrad::host
