// SPDX-License-Identifier: Apache-2.0
#include "device/host/read_fence.hpp"

#include "device/host/address_sanitizer.hpp"

#ifdef LOSSGRAD_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace lossgrad::host {

void ReadFence::set(std::byte* memory, std::size_t size, std::size_t offset, std::size_t bytes) {
  memory_ = memory;
  size_ = size;
  offset_ = offset;
  bytes_ = bytes;
  close();
}

void ReadFence::close() const {
#ifdef LOSSGRAD_ADDRESS_SANITIZER
  __asan_poison_memory_region(memory_, offset_);
  __asan_poison_memory_region(memory_ + offset_ + bytes_, size_ - offset_ - bytes_);
#endif
}

void ReadFence::open() const {
#ifdef LOSSGRAD_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(memory_, size_);
#endif
}

ReadFence::Opening::Opening(const ReadFence& fence, std::size_t offset, std::size_t bytes) {
  const bool inside = offset >= fence.offset_ && offset + bytes <= fence.offset_ + fence.bytes_;
  if (fence.memory_ == nullptr || inside) return;
  opened_ = &fence;
  opened_->open();
}

ReadFence::Opening::~Opening() {
  if (opened_ != nullptr) opened_->close();
}

}  // namespace lossgrad::host
