// SPDX-License-Identifier: Apache-2.0
// Stacks and contexts for the CUDA threads of one block; one pool per OS thread, used again for every block.
// Uses Boost.Context's lowest interface: it costs two calls less per switch than boost::context::fiber, and a
// thread that is stuck in a kernel can be given up without unwinding its stack.
#pragma once

#include <cstddef>
#include <vector>

#include <boost/context/detail/fcontext.hpp>

#include "device/host/address_sanitizer.hpp"
#include "device/host/cuda/context.hpp"

namespace lossgrad::host {

#ifdef LOSSGRAD_ADDRESS_SANITIZER
inline constexpr bool kUnderAddressSanitizer = true;
#else
inline constexpr bool kUnderAddressSanitizer = false;
#endif

using FiberEntry = void (*)(boost::context::detail::transfer_t);

struct Fiber {
  boost::context::detail::fcontext_t context = nullptr;  // where it goes on; meaningless while it runs
  lossgrad_cuda::Index3 thread{};
  std::byte* stack_begin = nullptr;
  std::byte* stack_end = nullptr;
  void* sanitizer_stack = nullptr;
};

// The address sanitizer must know which stack is in use; empty in other builds.
void announce_switch(Fiber& from, Fiber& to);
void announce_arrival(void* sanitizer_stack);

// Leaves `from` and goes on in `to`; returns when somebody switches back to `from`.
inline void switch_fiber(Fiber& from, Fiber& to) {
  if (kUnderAddressSanitizer) announce_switch(from, to);
  const boost::context::detail::transfer_t transfer =
      boost::context::detail::jump_fcontext(to.context, &from);
  if (kUnderAddressSanitizer) announce_arrival(from.sanitizer_stack);
  if (transfer.data != nullptr) static_cast<Fiber*>(transfer.data)->context = transfer.fctx;
}
// The first thing a new fiber does with its argument: keeps where the other side goes on.
void enter_fiber(boost::context::detail::transfer_t transfer);
// From a signal handler: leaves the running fiber for good.
[[noreturn]] void escape_to(Fiber& to);

class FiberPool {
 public:
  static constexpr std::size_t kMaxFibers = 1024;
  static constexpr std::size_t kStackBytes = std::size_t{128} << 10;

  explicit FiberPool(FiberEntry entry) : entry_(entry) { fibers_.reserve(kMaxFibers); }
  ~FiberPool();
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;
  FiberPool(FiberPool&&) = delete;
  FiberPool& operator=(FiberPool&&) = delete;

  // At least `count` fibers, at most kMaxFibers; references stay valid. Throws ErrorKind::device when there
  // is no memory for their stacks.
  void grow(std::size_t count);
  [[nodiscard]] Fiber& operator[](std::size_t index) { return fibers_[index]; }
  // Gives up whatever the fiber does and lets it start anew.
  void restart(Fiber& fiber) const;
  // Whether the address is on the page below the fiber's stack.
  [[nodiscard]] static bool is_guard(const Fiber& fiber, const void* address);

 private:
  struct Region {
    void* begin;
    std::size_t bytes;
  };
  FiberEntry entry_;
  std::vector<Fiber> fibers_;
  std::vector<Region> regions_;
};

}  // namespace lossgrad::host
