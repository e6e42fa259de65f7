// SPDX-License-Identifier: Apache-2.0
// Move-only owners of CUDA objects. The destructor releases the object and never throws: a failure is logged.
#pragma once

#include <utility>

#include "device/cuda/cuda_error.hpp"

namespace lossgrad {

// Traits: `Type` (a pointer type), `release(Type)` and `kRelease`, the name of the function that it calls.
template <typename Traits>
class Handle {
 public:
  using Type = typename Traits::Type;

  Handle() = default;
  explicit Handle(Type object) : object_(object) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      object_ = std::exchange(other.object_, nullptr);
    }
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] Type get() const { return object_; }
  void reset() noexcept {
    if (object_ != nullptr) log_cuda_failure(Traits::release(object_), Traits::kRelease);
    object_ = nullptr;
  }

 private:
  Type object_ = nullptr;
};

struct StreamTraits {
  using Type = cudaStream_t;
  static constexpr const char* kRelease = "cudaStreamDestroy";
  static cudaError_t release(Type stream) { return cudaStreamDestroy(stream); }
};

struct EventTraits {
  using Type = cudaEvent_t;
  static constexpr const char* kRelease = "cudaEventDestroy";
  static cudaError_t release(Type event) { return cudaEventDestroy(event); }
};

struct LibraryTraits {
  using Type = cudaLibrary_t;
  static constexpr const char* kRelease = "cudaLibraryUnload";
  static cudaError_t release(Type library) { return cudaLibraryUnload(library); }
};

struct MemoryTraits {
  using Type = void*;
  static constexpr const char* kRelease = "cudaFree";
  static cudaError_t release(Type memory) { return cudaFree(memory); }
};

using StreamHandle = Handle<StreamTraits>;
using EventHandle = Handle<EventTraits>;
using LibraryHandle = Handle<LibraryTraits>;
using MemoryHandle = Handle<MemoryTraits>;

}  // namespace lossgrad
