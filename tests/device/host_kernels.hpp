// SPDX-License-Identifier: Apache-2.0
// Small kernels for tests of the host backend: from text to results in one call.
#pragma once

#include <cstdlib>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/backend.hpp"
#include "device/host/host_backend.hpp"

namespace lossgrad::test {

// `source` defines `extern "C" __global__ void <name>_entry_point(...)`.
inline Kernel make_kernel(const std::string& name, std::string source) {
  Kernel::Parts parts;
  parts.name = name;
  parts.kernel_source = std::move(source);
  return Kernel(std::move(parts));
}

inline Backend& host_backend() {
  static const std::unique_ptr<Backend> backend = [] {
    ::setenv("XDG_CACHE_HOME", LOSSGRAD_TEST_CACHE, 1);
    return open_host_backend();
  }();
  return *backend;
}

// A buffer of the backend with typed content.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count, T value = T{})
      : count_(count), memory_(host_backend().allocate(count * sizeof(T))) {
    write(std::vector<T>(count, value));
  }
  explicit Buffer(const std::vector<T>& values) : Buffer(values.size()) { write(values); }
  void write(const std::vector<T>& values) {
    host_backend().upload(*memory_, 0, std::as_bytes(std::span(values)));
  }
  [[nodiscard]] std::vector<T> read() const {
    std::vector<T> values(count_);
    host_backend().download(*memory_, 0, std::as_writable_bytes(std::span(values)));
    return values;
  }
  [[nodiscard]] LaunchArgument argument() const { return memory_->address(); }

 private:
  std::size_t count_;
  std::shared_ptr<DeviceMemory> memory_;
};

struct Grid {
  std::uint32_t blocks = 1;
  std::uint32_t threads = 1;
  std::size_t shared_bytes = 0;
};

inline LaunchShape shape_of(const Grid& grid) {
  LaunchShape shape;
  shape.grid = {grid.blocks, 1, 1};
  shape.block = {grid.threads, 1, 1};
  shape.shared_bytes = grid.shared_bytes;
  return shape;
}

inline void launch(LoadedKernel& kernel, const Grid& grid, const std::vector<LaunchArgument>& arguments,
                   std::optional<std::uint64_t> seed = std::nullopt) {
  host_backend().launch(kernel, shape_of(grid), arguments, LaunchOptions{seed});
}

}  // namespace lossgrad::test
