// SPDX-License-Identifier: Apache-2.0
#include "device/host/fiber_pool.hpp"

#include <cstdlib>
#include <string>

#include <sys/mman.h>
#include <unistd.h>

#include "base/error.hpp"

#ifdef LOSSGRAD_ADDRESS_SANITIZER
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace lossgrad::host {
namespace {

using boost::context::detail::fcontext_t;
using boost::context::detail::jump_fcontext;
using boost::context::detail::transfer_t;

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

// All stacks have the same place in their pages; without a shift their hot lines would share a few cache
// sets.
std::size_t colour(std::size_t index) { return index * 320 % 3840; }

}  // namespace

#ifdef LOSSGRAD_ADDRESS_SANITIZER
// The sanitizer must know which stack is in use. A fiber that stands for an OS thread learns its bounds here.
static void find_own_stack(Fiber& fiber) {
  if (fiber.stack_begin != nullptr) return;
  pthread_attr_t attributes;
  pthread_getattr_np(pthread_self(), &attributes);
  void* begin = nullptr;
  std::size_t bytes = 0;
  pthread_attr_getstack(&attributes, &begin, &bytes);
  pthread_attr_destroy(&attributes);
  fiber.stack_begin = static_cast<std::byte*>(begin);
  fiber.stack_end = fiber.stack_begin + bytes;
}
void announce_switch(Fiber& from, Fiber& to) {
  find_own_stack(from);
  __sanitizer_start_switch_fiber(&from.sanitizer_stack, to.stack_begin,
                                 static_cast<std::size_t>(to.stack_end - to.stack_begin));
}
void announce_arrival(void* sanitizer_stack) {
  __sanitizer_finish_switch_fiber(sanitizer_stack, nullptr, nullptr);
}
static void forget_frames(const Fiber& fiber) {
  __asan_unpoison_memory_region(fiber.stack_begin,
                                static_cast<std::size_t>(fiber.stack_end - fiber.stack_begin));
}
#else
void announce_switch(Fiber& /*from*/, Fiber& /*to*/) {}
void announce_arrival(void* /*sanitizer_stack*/) {}
static void forget_frames(const Fiber& /*fiber*/) {}
#endif

void enter_fiber(transfer_t transfer) {
  announce_arrival(nullptr);
  static_cast<Fiber*>(transfer.data)->context = transfer.fctx;
}

void escape_to(Fiber& to) {
#ifdef LOSSGRAD_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(nullptr, to.stack_begin,
                                 static_cast<std::size_t>(to.stack_end - to.stack_begin));
#endif
  jump_fcontext(to.context, nullptr);
  std::abort();
}

FiberPool::~FiberPool() {
  for (const Fiber& fiber : fibers_) forget_frames(fiber);
  for (const Region& region : regions_) ::munmap(region.begin, region.bytes);
}

void FiberPool::grow(std::size_t count) {
  if (count <= fibers_.size()) return;
  const std::size_t missing = count - fibers_.size();
  const std::size_t step = kStackBytes + page_bytes();
  void* begin = ::mmap(nullptr, missing * step, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (begin == MAP_FAILED) {
    throw Error(ErrorKind::device,
                "host backend: no memory for the stacks of " + std::to_string(count) + " threads");
  }
  regions_.push_back({begin, missing * step});
  for (std::size_t i = 0; i < missing; ++i) {
    std::byte* const guard = static_cast<std::byte*>(begin) + i * step;
    // Without the guard (too many mappings) everything works, an overflow is only found later.
    static_cast<void>(::mprotect(guard, page_bytes(), PROT_NONE));
    Fiber fiber;
    fiber.stack_begin = guard + page_bytes();
    fiber.stack_end = guard + step - colour(fibers_.size());
    restart(fiber);
    fibers_.push_back(fiber);
  }
}

void FiberPool::restart(Fiber& fiber) const {
  forget_frames(fiber);
  fiber.context = boost::context::detail::make_fcontext(
      fiber.stack_end, static_cast<std::size_t>(fiber.stack_end - fiber.stack_begin), entry_);
}

bool FiberPool::is_guard(const Fiber& fiber, const void* address) {
  const auto* const byte = static_cast<const std::byte*>(address);
  return byte >= fiber.stack_begin - page_bytes() && byte < fiber.stack_begin;
}

}  // namespace lossgrad::host
