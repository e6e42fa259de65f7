// SPDX-License-Identifier: Apache-2.0
// Where kernels run. One interface for `cuda` (an NVIDIA GPU through NVRTC and the CUDA runtime) and `host`
// (the same source text on the CPU). Uploads and downloads are synchronous; launches, copies and fills need
// not be: an error of theirs is thrown by the call itself or by a later one, by synchronize() at the latest,
// as ErrorKind::device, naming the kernels that may have caused it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernel/kernel.hpp"

namespace lossgrad {

struct DeviceDescription {
  std::string name;          // "NVIDIA H200", "host (2 threads)"
  std::string architecture;  // "sm_90", "x86_64"
  std::int64_t memory_bytes = 0;
  int multiprocessors = 0;     // SMs, or worker threads of the host backend
  std::string driver_version;  // "13.0"; empty for host
  std::string compiler;        // "NVRTC 13.0", "g++ (Debian 12.2.0-14) 12.2.0"
};

// What one compiled kernel uses; -1 where a backend does not know.
struct KernelResources {
  int registers = -1;
  int shared_bytes = -1;
  int local_bytes = -1;  // stack frame
  int spill_store_bytes = -1;
  int spill_load_bytes = -1;
};

class LoadedKernel {
 public:
  virtual ~LoadedKernel() = default;
  LoadedKernel(const LoadedKernel&) = delete;
  LoadedKernel& operator=(const LoadedKernel&) = delete;
  LoadedKernel(LoadedKernel&&) = delete;
  LoadedKernel& operator=(LoadedKernel&&) = delete;
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const std::string& content_hash() const { return content_hash_; }

 protected:
  LoadedKernel(std::string id, std::string content_hash)
      : id_(std::move(id)), content_hash_(std::move(content_hash)) {}

 private:
  std::string id_;
  std::string content_hash_;
};

// Memory of a backend; freed when the last owner goes. `address()` is a device pointer for cuda.
class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  DeviceMemory(DeviceMemory&&) = delete;
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  [[nodiscard]] virtual std::byte* address() const = 0;
  [[nodiscard]] virtual std::size_t size() const = 0;

 protected:
  DeviceMemory() = default;
};

// One kernel argument: a device address, or a scalar by value.
using LaunchArgument = std::variant<std::byte*, std::int32_t, float>;

struct LaunchOptions {
  // Host backend only: run threads and blocks in an order drawn from this seed instead of 0, 1, 2 ... Seeds
  // include greedy orders (one warp runs until it must wait). Ignored by cuda.
  std::optional<std::uint64_t> schedule_seed;
};

class Backend {
 public:
  virtual ~Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  Backend(Backend&&) = delete;
  Backend& operator=(Backend&&) = delete;

  [[nodiscard]] virtual std::string_view name() const = 0;  // "cuda" or "host"
  [[nodiscard]] virtual const DeviceDescription& device() const = 0;

  // Compiles the kernel or takes it from the binary cache. ErrorKind::compile with the compiler's log as
  // detail.
  [[nodiscard]] virtual std::shared_ptr<LoadedKernel> load(const Kernel& kernel) = 0;
  // The same for several kernels; compiles in parallel where that helps. Order is kept.
  [[nodiscard]] virtual std::vector<std::shared_ptr<LoadedKernel>> load_all(
      std::span<const Kernel> kernels) = 0;

  // ErrorKind::device when there is not enough memory; says how much was asked for.
  [[nodiscard]] virtual std::shared_ptr<DeviceMemory> allocate(std::size_t bytes) = 0;
  virtual void upload(DeviceMemory& memory, std::size_t offset, std::span<const std::byte> from) = 0;
  virtual void download(const DeviceMemory& memory, std::size_t offset, std::span<std::byte> to) = 0;
  // The ranges must not overlap.
  virtual void copy(DeviceMemory& to, std::size_t to_offset, const DeviceMemory& from,
                    std::size_t from_offset, std::size_t bytes) = 0;
  // Fills [offset, offset + bytes) with the repeated pattern; bytes is a multiple of pattern.size() (1, 2, 4
  // or 8).
  virtual void fill(DeviceMemory& memory, std::size_t offset, std::size_t bytes,
                    std::span<const std::byte> pattern) = 0;

  // Kernels may read [offset, offset + bytes) of the memory and nothing else of it; transfers may. Where the
  // program is built by GCC with the address sanitizer, the host backend ends it with a report of a read
  // elsewhere.
  virtual void fence(DeviceMemory& /*memory*/, std::size_t /*offset*/, std::size_t /*bytes*/) {}

  // A launch with an empty grid does nothing.
  virtual void launch(LoadedKernel& kernel, const LaunchShape& shape,
                      std::span<const LaunchArgument> arguments, const LaunchOptions& options) = 0;
  virtual void synchronize() = 0;

  // Whether LaunchOptions::schedule_seed has an effect.
  [[nodiscard]] virtual bool orders_threads() const { return false; }

  // Time of the work that `work` enqueues, in microseconds: device events for cuda, a steady clock for host.
  virtual double time_us(const std::function<void()>& work) = 0;

 protected:
  Backend() = default;
};

enum class BackendKind { cuda, host };

// Throws ErrorKind::device with the reason when the backend cannot be used here (no driver, no device
// `index`, no NVRTC, no C++ compiler).
std::unique_ptr<Backend> open_backend(BackendKind kind, int device_index = 0);

// What this machine offers, without throwing: for `lossgrad devices` and for `--backend auto`. Looking may
// cost something (a compiler is asked for its version), so a caller asks for the kind it needs.
struct BackendStatus {
  BackendKind kind;
  bool available = false;
  std::string reason;                      // why not, one line; empty when available
  std::vector<DeviceDescription> devices;  // every device of an available backend
};
BackendStatus backend_status(BackendKind kind);

// cuda needs no device for these three: NVRTC compiles for any architecture ("sm_90").
// Throw ErrorKind::device when NVRTC is not found, ErrorKind::compile when a kernel does not compile.
void cuda_build(std::span<const Kernel> kernels, const std::string& architecture);  // into the user's cache
KernelResources cuda_resources(const Kernel& kernel, const std::string& architecture);
std::string cuda_ptx(const Kernel& kernel, const std::string& architecture);

}  // namespace lossgrad
