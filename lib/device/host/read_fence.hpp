// SPDX-License-Identifier: Apache-2.0
// What a kernel may read of a buffer, for builds by GCC with the address sanitizer: there kernels are
// instrumented too, and a read outside of the fence ends the program with the sanitizer's report. Elsewhere
// nothing happens. Writes are left to the canaries, which give a verdict instead.
#pragma once

#include <cstddef>

namespace lossgrad::host {

class ReadFence {
 public:
  ReadFence() = default;
  // The kernel may read [offset, offset + bytes) of the `size` bytes at `memory`.
  void set(std::byte* memory, std::size_t size, std::size_t offset, std::size_t bytes);
  // For as long as it lives, transfers of [offset, offset + bytes) reach beyond the fence.
  class Opening {
   public:
    Opening(const ReadFence& fence, std::size_t offset, std::size_t bytes);
    ~Opening();
    Opening(const Opening&) = delete;
    Opening& operator=(const Opening&) = delete;
    Opening(Opening&&) = delete;
    Opening& operator=(Opening&&) = delete;

   private:
    const ReadFence* opened_ = nullptr;
  };

 private:
  void close() const;
  void open() const;

  std::byte* memory_ = nullptr;  // none: no fence
  std::size_t size_ = 0, offset_ = 0, bytes_ = 0;
};

}  // namespace lossgrad::host
