// SPDX-License-Identifier: Apache-2.0
// Kernels to cubins with NVRTC, through the binary cache. Needs neither a device nor a driver.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "device/backend.hpp"
#include "device/binary_cache.hpp"
#include "device/cuda/nvrtc_library.hpp"

namespace lossgrad {

struct CompiledKernel {
  std::vector<std::byte> cubin;
  std::string content_hash;
};

// Errors of all functions: ErrorKind::usage for an architecture that NVRTC does not know, with the known
// ones; ErrorKind::compile with the first error line in the message and the compiler's log as detail.
class NvrtcCompiler {
 public:
  // The library must outlive the compiler.
  NvrtcCompiler(const NvrtcLibrary& library, BinaryCache cache)
      : library_(&library), cache_(std::move(cache)) {}

  // Compiler, version and options; folders of headers are left out, so that hashes are the same on every
  // machine.
  [[nodiscard]] BuildTarget target(const std::string& architecture) const;
  [[nodiscard]] bool supports(const std::string& architecture) const;

  // From the cache, else compiled and stored there.
  [[nodiscard]] CompiledKernel compile(const Kernel& kernel, const std::string& architecture) const;
  // Always compiled: the cache does not keep the log.
  [[nodiscard]] KernelResources resources(const Kernel& kernel, const std::string& architecture) const;
  [[nodiscard]] std::string ptx(const Kernel& kernel, const std::string& architecture) const;

  [[nodiscard]] const NvrtcLibrary& nvrtc() const { return *library_; }

 private:
  void check_architecture(const std::string& architecture) const;

  const NvrtcLibrary* library_;
  BinaryCache cache_;
};

}  // namespace lossgrad
