// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/cuda_backend.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <functional>
#include <utility>

#include "base/error.hpp"
#include "device/cuda/cuda_device.hpp"
#include "device/cuda/cuda_error.hpp"
#include "device/cuda/cuda_kernel.hpp"
#include "device/cuda/handle.hpp"
#include "device/cuda/nvrtc_compiler.hpp"

namespace lossgrad {
namespace {

std::string bytes_text(std::size_t bytes) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%zu bytes (%.2f GiB)", bytes,
                static_cast<double>(bytes) / (1 << 30));
  return text.data();
}

std::string compiler_name(const NvrtcLibrary& library) { return "NVRTC " + library.version(); }

class CudaMemory final : public DeviceMemory {
 public:
  CudaMemory(MemoryHandle memory, std::size_t size) : memory_(std::move(memory)), size_(size) {}
  [[nodiscard]] std::byte* address() const override { return static_cast<std::byte*>(memory_.get()); }
  [[nodiscard]] std::size_t size() const override { return size_; }

 private:
  MemoryHandle memory_;
  std::size_t size_;
};

void check_range(const DeviceMemory& memory, std::size_t offset, std::size_t bytes, const char* doing) {
  if (offset <= memory.size() && bytes <= memory.size() - offset) return;
  throw Error(ErrorKind::internal, std::string(doing) + " of " + std::to_string(bytes) + " bytes at offset " +
                                       std::to_string(offset) + " passes the end of a buffer of " +
                                       std::to_string(memory.size()) + " bytes");
}

class CudaBackend final : public Backend {
 public:
  CudaBackend(int index, NvrtcCompiler compiler, DeviceDescription description);

  [[nodiscard]] std::string_view name() const override { return "cuda"; }
  [[nodiscard]] const DeviceDescription& device() const override { return description_; }
  [[nodiscard]] std::shared_ptr<LoadedKernel> load(const Kernel& kernel) override;
  [[nodiscard]] std::vector<std::shared_ptr<LoadedKernel>> load_all(std::span<const Kernel> kernels) override;
  [[nodiscard]] std::shared_ptr<DeviceMemory> allocate(std::size_t bytes) override;
  void upload(DeviceMemory& memory, std::size_t offset, std::span<const std::byte> from) override;
  void download(const DeviceMemory& memory, std::size_t offset, std::span<std::byte> to) override;
  void copy(DeviceMemory& to, std::size_t to_offset, const DeviceMemory& from, std::size_t from_offset,
            std::size_t bytes) override;
  void fill(DeviceMemory& memory, std::size_t offset, std::size_t bytes,
            std::span<const std::byte> pattern) override;
  void launch(LoadedKernel& kernel, const LaunchShape& shape, std::span<const LaunchArgument> arguments,
              const LaunchOptions& options) override;
  void synchronize() override;
  double time_us(const std::function<void()>& work) override;

 private:
  void make_current();
  void check(cudaError_t code, const std::string& doing);
  void check_pending();
  [[nodiscard]] std::string pending_kernels() const;
  void fill_tiled(std::byte* begin, std::size_t bytes, std::span<const std::byte> pattern);
  [[nodiscard]] std::string out_of_memory_text(std::size_t bytes) const;

  int index_;
  NvrtcCompiler compiler_;
  DeviceDescription description_;
  LaunchLimits limits_;
  StreamHandle stream_;
  EventHandle start_;
  EventHandle stop_;
  std::vector<std::string> pending_;  // ids of the kernels launched since the last synchronisation
  std::string lost_;                  // the error that made the context unusable
};

EventHandle make_event() {
  cudaEvent_t event = nullptr;
  check_cuda(cudaEventCreate(&event), "creating an event");
  return EventHandle(event);
}

CudaBackend::CudaBackend(int index, NvrtcCompiler compiler, DeviceDescription description)
    : index_(index),
      compiler_(std::move(compiler)),
      description_(std::move(description)),
      limits_(cuda_launch_limits(index)) {
  check_cuda(cudaSetDevice(index), "opening device " + std::to_string(index));
  cudaStream_t stream = nullptr;
  check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  stream_ = StreamHandle(stream);
  start_ = make_event();
  stop_ = make_event();
}

void CudaBackend::make_current() {
  if (!lost_.empty()) {
    throw Error(ErrorKind::device, "device " + std::to_string(index_) + " cannot be used any more: " + lost_);
  }
  check(cudaSetDevice(index_), "selecting device " + std::to_string(index_));
}

// An asynchronous error of a kernel is reported by whatever call comes next: blame the kernels, not that
// call.
void CudaBackend::check(cudaError_t code, const std::string& doing) {
  if (code == cudaSuccess) return;
  cudaGetLastError();
  if (!is_sticky(code)) throw Error(ErrorKind::device, doing + ": " + describe(code));
  lost_ = (pending_.empty() ? doing : pending_kernels()) + ": " + describe(code);
  throw Error(ErrorKind::device, lost_ + "; the device cannot be used any more in this process");
}

std::string CudaBackend::pending_kernels() const {
  std::string text = pending_.size() == 1 ? "kernel " : "one of the kernels ";
  for (std::size_t i = 0; i < pending_.size(); ++i) text += (i == 0 ? "" : ", ") + pending_[i];
  return text;
}

std::shared_ptr<LoadedKernel> CudaBackend::load(const Kernel& kernel) {
  make_current();
  CompiledKernel compiled = compiler_.compile(kernel, description_.architecture);
  try {
    return std::make_shared<CudaKernel>(kernel, std::move(compiled));
  } catch (const Error&) {
    check_pending();
    throw;
  }
}

// Throws when a kernel that was launched before has faulted, whatever call noticed it.
void CudaBackend::check_pending() {
  const cudaError_t code = cudaStreamQuery(stream_.get());
  if (is_sticky(code)) check(code, "device " + std::to_string(index_));
}

// One after the other: NVRTC serialises compilations inside, so threads gain nothing.
std::vector<std::shared_ptr<LoadedKernel>> CudaBackend::load_all(std::span<const Kernel> kernels) {
  std::vector<std::shared_ptr<LoadedKernel>> loaded;
  loaded.reserve(kernels.size());
  for (const Kernel& kernel : kernels) loaded.push_back(load(kernel));
  return loaded;
}

std::string CudaBackend::out_of_memory_text(std::size_t bytes) const {
  std::string text = "not enough memory on " + description_.name + ": " + bytes_text(bytes) + " asked for";
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess)
    text += ", " + bytes_text(free_bytes) + " free";
  return text;
}

std::shared_ptr<DeviceMemory> CudaBackend::allocate(std::size_t bytes) {
  make_current();
  if (bytes == 0) return std::make_shared<CudaMemory>(MemoryHandle(), 0);
  void* address = nullptr;
  const cudaError_t code = cudaMalloc(&address, bytes);
  if (code == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw Error(ErrorKind::device, out_of_memory_text(bytes));
  }
  check(code, "allocating " + bytes_text(bytes));
  return std::make_shared<CudaMemory>(MemoryHandle(address), bytes);
}

void CudaBackend::upload(DeviceMemory& memory, std::size_t offset, std::span<const std::byte> from) {
  check_range(memory, offset, from.size(), "upload");
  make_current();
  if (from.empty()) return;
  check(cudaMemcpyAsync(memory.address() + offset, from.data(), from.size(), cudaMemcpyHostToDevice,
                        stream_.get()),
        "upload");
  synchronize();
}

void CudaBackend::download(const DeviceMemory& memory, std::size_t offset, std::span<std::byte> to) {
  check_range(memory, offset, to.size(), "download");
  make_current();
  if (to.empty()) return;
  check(
      cudaMemcpyAsync(to.data(), memory.address() + offset, to.size(), cudaMemcpyDeviceToHost, stream_.get()),
      "download");
  synchronize();
}

void CudaBackend::copy(DeviceMemory& to, std::size_t to_offset, const DeviceMemory& from,
                       std::size_t from_offset, std::size_t bytes) {
  check_range(to, to_offset, bytes, "copy to offset");
  check_range(from, from_offset, bytes, "copy from offset");
  make_current();
  if (bytes == 0) return;
  std::byte* target = to.address() + to_offset;
  const std::byte* source = from.address() + from_offset;
  if (std::less<>()(target, source + bytes) && std::less<>()(source, target + bytes)) {
    throw Error(ErrorKind::internal, "copy of " + std::to_string(bytes) + " bytes onto an overlapping range");
  }
  check(cudaMemcpyAsync(target, source, bytes, cudaMemcpyDeviceToDevice, stream_.get()), "copy");
}

void CudaBackend::fill(DeviceMemory& memory, std::size_t offset, std::size_t bytes,
                       std::span<const std::byte> pattern) {
  check_range(memory, offset, bytes, "fill");
  if (pattern.empty() || bytes % pattern.size() != 0) {
    throw Error(ErrorKind::internal, "fill of " + std::to_string(bytes) + " bytes with a pattern of " +
                                         std::to_string(pattern.size()));
  }
  make_current();
  if (bytes == 0) return;
  std::byte* begin = memory.address() + offset;
  const bool uniform =
      std::all_of(pattern.begin(), pattern.end(), [&](std::byte b) { return b == pattern[0]; });
  if (!uniform) return fill_tiled(begin, bytes, pattern);
  check(cudaMemsetAsync(begin, std::to_integer<int>(pattern[0]), bytes, stream_.get()), "fill");
}

// Uploads a first tile and doubles it with copies on the device.
void CudaBackend::fill_tiled(std::byte* begin, std::size_t bytes, std::span<const std::byte> pattern) {
  constexpr std::size_t kTileBytes = std::size_t{64} << 10;  // a multiple of every pattern size
  std::vector<std::byte> tile(std::min(bytes, kTileBytes / pattern.size() * pattern.size()));
  for (std::size_t i = 0; i < tile.size(); ++i) tile[i] = pattern[i % pattern.size()];
  check(cudaMemcpyAsync(begin, tile.data(), tile.size(), cudaMemcpyHostToDevice, stream_.get()), "fill");
  synchronize();  // the tile must live until it is uploaded
  for (std::size_t done = tile.size(); done < bytes;) {
    const std::size_t count = std::min(done, bytes - done);
    check(cudaMemcpyAsync(begin + done, begin, count, cudaMemcpyDeviceToDevice, stream_.get()), "fill");
    done += count;
  }
}

void CudaBackend::launch(LoadedKernel& kernel, const LaunchShape& shape,
                         std::span<const LaunchArgument> arguments, const LaunchOptions& /*options*/) {
  auto* loaded = dynamic_cast<CudaKernel*>(&kernel);
  if (loaded == nullptr)
    throw Error(ErrorKind::internal, "kernel " + kernel.id() + " belongs to another backend");
  make_current();
  if (shape.empty()) return;
  loaded->check_launch(shape, arguments, limits_);
  const cudaError_t code = loaded->launch(shape, arguments, stream_.get());
  if (code == cudaSuccess || pending_.empty()) {
    const bool known = std::find(pending_.begin(), pending_.end(), kernel.id()) != pending_.end();
    if (!known) pending_.push_back(kernel.id());
  }
  check(code, "kernel " + kernel.id());
}

void CudaBackend::synchronize() {
  make_current();
  check(cudaStreamSynchronize(stream_.get()), "waiting for device " + std::to_string(index_));
  pending_.clear();
}

double CudaBackend::time_us(const std::function<void()>& work) {
  make_current();
  check(cudaEventRecord(start_.get(), stream_.get()), "timing");
  work();
  check(cudaEventRecord(stop_.get(), stream_.get()), "timing");
  check(cudaEventSynchronize(stop_.get()), "timing");
  pending_.clear();
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start_.get(), stop_.get()), "timing");
  constexpr double kMicrosecondsPerMillisecond = 1000;
  return static_cast<double>(milliseconds) * kMicrosecondsPerMillisecond;
}

}  // namespace

std::unique_ptr<Backend> open_cuda_backend(int device_index) {
  const int count = cuda_device_count();
  if (device_index < 0 || device_index >= count) {
    throw Error(ErrorKind::device, "no CUDA device " + std::to_string(device_index) + ": this machine has " +
                                       std::to_string(count) +
                                       (count == 1 ? " (device 0)" : ", counted from 0"));
  }
  NvrtcCompiler compiler(NvrtcLibrary::instance(), BinaryCache::open_user_cache());
  DeviceDescription description = describe_cuda_device(device_index, compiler_name(compiler.nvrtc()));
  if (!compiler.supports(description.architecture)) {
    const std::vector<std::string>& known = compiler.nvrtc().architectures();
    throw Error(ErrorKind::device, description.name + " is " + description.architecture + ", for which " +
                                       description.compiler + " does not compile (it knows " + known.front() +
                                       " to " + known.back() + ")");
  }
  return std::make_unique<CudaBackend>(device_index, std::move(compiler), std::move(description));
}

BackendStatus cuda_status() {
  BackendStatus status{BackendKind::cuda, false, {}, {}};
  try {
    const int count = cuda_device_count();
    const std::string compiler = compiler_name(NvrtcLibrary::instance());
    for (int index = 0; index < count; ++index)
      status.devices.push_back(describe_cuda_device(index, compiler));
    status.available = true;
  } catch (const std::exception& error) {
    status.devices.clear();
    status.reason = error.what();
  }
  return status;
}

}  // namespace lossgrad
