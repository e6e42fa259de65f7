// SPDX-License-Identifier: Apache-2.0
#include "device/host/host_backend.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include <oneapi/tbb/task_arena.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "device/binary_cache.hpp"
#include "device/host/compiler.hpp"
#include "device/host/host_module.hpp"
#include "device/host/launch.hpp"
#include "device/host/read_fence.hpp"
#include "device/host/temporary_folder.hpp"

namespace lossgrad {
namespace {

using host::Compiler;
using host::HostModule;

constexpr std::string_view kCacheKind = "so";
constexpr std::align_val_t kAlignment{256};
constexpr std::size_t kMostCompilersAtOnce = 16;  // bounds the memory where there are many cores

class HostKernel final : public LoadedKernel {
 public:
  HostKernel(std::string id, std::string content_hash, HostModule module)
      : LoadedKernel(std::move(id), std::move(content_hash)), module_(std::move(module)) {}
  [[nodiscard]] const HostModule& module() const { return module_; }

 private:
  HostModule module_;
};

std::int64_t physical_memory_bytes() {
  return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
}

// What the buffers of one backend hold together. The system would promise more than it has and end the
// program when it is used.
class MemoryTotal {
 public:
  explicit MemoryTotal(std::size_t limit) : limit_(limit) {}
  // False when it would be more than there is.
  bool take(std::size_t bytes) {
    std::size_t held = held_;
    do {
      if (bytes > limit_ - held) return false;
    } while (!held_.compare_exchange_weak(held, held + bytes));
    return true;
  }
  void give_back(std::size_t bytes) { held_ -= bytes; }
  [[nodiscard]] std::size_t held() const { return held_; }

 private:
  std::size_t limit_;
  std::atomic<std::size_t> held_ = 0;
};

// Buffers may outlive their backend, hence the shared total.
class HostMemory final : public DeviceMemory {
 public:
  HostMemory(std::size_t bytes, std::shared_ptr<MemoryTotal> total)
      : bytes_(bytes), total_(std::move(total)) {
    if (total_->take(bytes)) {
      address_ =
          static_cast<std::byte*>(::operator new(std::max<std::size_t>(bytes, 1), kAlignment, std::nothrow));
      if (address_ != nullptr) return;
      total_->give_back(bytes);
    }
    throw Error(ErrorKind::device, "host backend: not enough memory for " + std::to_string(bytes) +
                                       " bytes beside the " + std::to_string(total_->held()) +
                                       " of other buffers");
  }
  ~HostMemory() override {
    ::operator delete(address_, kAlignment);
    total_->give_back(bytes_);
  }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  HostMemory(HostMemory&&) = delete;
  HostMemory& operator=(HostMemory&&) = delete;
  [[nodiscard]] std::byte* address() const override { return address_; }
  [[nodiscard]] std::size_t size() const override { return bytes_; }
  [[nodiscard]] host::ReadFence& fence() { return fence_; }
  [[nodiscard]] const host::ReadFence& fence() const { return fence_; }

 private:
  std::size_t bytes_;
  std::shared_ptr<MemoryTotal> total_;
  host::ReadFence fence_;
  std::byte* address_ = nullptr;
};

// A part of a buffer, while bytes are moved from or to it.
class Part {
 public:
  Part(const DeviceMemory& memory, std::size_t offset, std::size_t bytes)
      : begin_(memory.address() + checked(memory, offset, bytes)),
        opening_(dynamic_cast<const HostMemory&>(memory).fence(), offset, bytes) {}
  [[nodiscard]] std::byte* begin() const { return begin_; }

 private:
  static std::size_t checked(const DeviceMemory& memory, std::size_t offset, std::size_t bytes) {
    if (offset <= memory.size() && bytes <= memory.size() - offset) return offset;
    throw Error(ErrorKind::internal,
                "access outside of a buffer of " + std::to_string(memory.size()) + " bytes");
  }

  std::byte* begin_;
  host::ReadFence::Opening opening_;
};

DeviceDescription describe(const std::string& compiler) {
  DeviceDescription device;
  const int threads = tbb::this_task_arena::max_concurrency();
  device.name = "host (" + std::to_string(threads) + (threads == 1 ? " thread)" : " threads)");
  device.architecture = host::machine_architecture();
  device.memory_bytes = physical_memory_bytes();
  device.multiprocessors = threads;
  device.compiler = compiler;
  return device;
}

class HostBackend final : public Backend {
 public:
  HostBackend()
      : compiler_(Compiler::find()),
        device_(describe(compiler_.version())),
        cache_(BinaryCache::open_user_cache()) {}

  [[nodiscard]] std::string_view name() const override { return "host"; }
  [[nodiscard]] bool orders_threads() const override { return true; }
  [[nodiscard]] const DeviceDescription& device() const override { return device_; }

  [[nodiscard]] std::shared_ptr<LoadedKernel> load(const Kernel& kernel) override {
    std::string hash = kernel.content_hash(compiler_.target());
    if (const auto file = cache_.find_file(hash, kCacheKind)) {
      if (auto module = HostModule::load(*file)) {
        return std::make_shared<HostKernel>(kernel.id(), std::move(hash), std::move(*module));
      }
    }
    HostModule module = compile(kernel, hash);
    return std::make_shared<HostKernel>(kernel.id(), std::move(hash), std::move(module));
  }

  [[nodiscard]] std::vector<std::shared_ptr<LoadedKernel>> load_all(std::span<const Kernel> kernels) override;

  [[nodiscard]] std::shared_ptr<DeviceMemory> allocate(std::size_t bytes) override {
    return std::make_shared<HostMemory>(bytes, memory_);
  }
  void upload(DeviceMemory& memory, std::size_t offset, std::span<const std::byte> from) override {
    if (!from.empty()) std::memcpy(Part(memory, offset, from.size()).begin(), from.data(), from.size());
  }
  void download(const DeviceMemory& memory, std::size_t offset, std::span<std::byte> to) override {
    if (!to.empty()) std::memcpy(to.data(), Part(memory, offset, to.size()).begin(), to.size());
  }
  void copy(DeviceMemory& to, std::size_t to_offset, const DeviceMemory& from, std::size_t from_offset,
            std::size_t bytes) override {
    std::memmove(Part(to, to_offset, bytes).begin(), Part(from, from_offset, bytes).begin(), bytes);
  }
  void fill(DeviceMemory& memory, std::size_t offset, std::size_t bytes,
            std::span<const std::byte> pattern) override;

  void fence(DeviceMemory& memory, std::size_t offset, std::size_t bytes) override {
    dynamic_cast<HostMemory&>(memory).fence().set(memory.address(), memory.size(), offset, bytes);
  }

  void launch(LoadedKernel& kernel, const LaunchShape& shape, std::span<const LaunchArgument> arguments,
              const LaunchOptions& options) override {
    const auto* const loaded = dynamic_cast<const HostKernel*>(&kernel);
    if (loaded == nullptr)
      throw Error(ErrorKind::internal, "kernel " + kernel.id() + " was loaded by another backend");
    host::launch_kernel(loaded->id(), loaded->module(), shape, arguments, options);
  }
  void synchronize() override {}

  double time_us(const std::function<void()>& work) override {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  }

 private:
  HostModule compile(const Kernel& kernel, const std::string& hash) const;

  Compiler compiler_;
  DeviceDescription device_;
  BinaryCache cache_;
  std::shared_ptr<MemoryTotal> memory_ =
      std::make_shared<MemoryTotal>(static_cast<std::size_t>(physical_memory_bytes()));
};

// The folder of the compilation goes before this returns; a loaded object does not need its file.
HostModule HostBackend::compile(const Kernel& kernel, const std::string& hash) const {
  const host::TemporaryFolder folder;
  const std::filesystem::path object = compiler_.compile(kernel, folder.path());
  const std::string content = read_file(object);
  cache_.store(hash, kCacheKind, std::as_bytes(std::span(content)));
  if (auto module = HostModule::load(object)) return std::move(*module);
  // Temporary folders may be mounted without execution.
  if (const auto file = cache_.find_file(hash, kCacheKind)) {
    if (auto module = HostModule::load(*file)) return std::move(*module);
  }
  throw Error(ErrorKind::device, "kernel " + kernel.id() + ": its compiled object cannot be loaded from " +
                                     folder.path().parent_path().string() +
                                     " (is it mounted noexec, or does CXX make no shared object?)");
}

std::vector<std::shared_ptr<LoadedKernel>> HostBackend::load_all(std::span<const Kernel> kernels) {
  std::vector<std::shared_ptr<LoadedKernel>> loaded(kernels.size());
  std::vector<std::exception_ptr> failures(kernels.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < kernels.size(); i = next++) {
      try {
        loaded[i] = load(kernels[i]);
      } catch (...) {
        failures[i] = std::current_exception();
        next = kernels.size();  // the others would be compiled for nothing
      }
    }
  };
  {
    const std::size_t threads =
        std::min({kernels.size(), kMostCompilersAtOnce, std::size_t{std::thread::hardware_concurrency()}});
    std::vector<std::jthread> helpers(threads == 0 ? 0 : threads - 1);  // this thread works too
    for (std::jthread& helper : helpers) helper = std::jthread(work);
    work();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
  return loaded;
}

void HostBackend::fill(DeviceMemory& memory, std::size_t offset, std::size_t bytes,
                       std::span<const std::byte> pattern) {
  if (pattern.empty() || bytes % pattern.size() != 0) {
    throw Error(ErrorKind::internal,
                "a fill of " + std::to_string(bytes) + " bytes does not fit its pattern");
  }
  const Part part(memory, offset, bytes);
  std::byte* const begin = part.begin();
  if (bytes == 0) return;
  std::memcpy(begin, pattern.data(), pattern.size());
  for (std::size_t done = pattern.size(); done < bytes;) {
    const std::size_t step = std::min(done, bytes - done);
    std::memcpy(begin + done, begin, step);
    done += step;
  }
}

}  // namespace

std::unique_ptr<Backend> open_host_backend() { return std::make_unique<HostBackend>(); }

BackendStatus host_status() {
  BackendStatus status{BackendKind::host, false, {}, {}};
  try {
    status.devices.push_back(describe(Compiler::find().version()));
    status.available = true;
  } catch (const Error& error) {
    status.reason = error.what();
  }
  return status;
}

}  // namespace lossgrad
