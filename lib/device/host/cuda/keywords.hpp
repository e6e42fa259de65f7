// SPDX-License-Identifier: Apache-2.0
// CUDA's keywords, the built-in index variables and the way to the context of the running thread.
#pragma once

#include "context.hpp"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))
// A block never leaves its OS thread, so thread storage is block storage. In a function it is static by
// itself.
#define __shared__ thread_local
#define __builtin_assume(condition) ((void)0)
#define __trap() lossgrad_cuda::fail("__trap() called")
#undef assert
#define assert(condition) ((condition) ? (void)0 : lossgrad_cuda::fail("assertion failed: " #condition))

extern "C" int printf(const char*, ...);

extern "C" __attribute__((visibility("hidden"))) ptrdiff_t lossgrad_context_offset;

namespace lossgrad_cuda {

// Not thread_local: that would cost a call per access, or fail to load when many kernels are in memory.
__forceinline__ Context* context() {
  char* thread_pointer;
#if defined(__x86_64__)
  asm("mov %%fs:0, %0" : "=r"(thread_pointer));
#elif defined(__aarch64__)
  asm("mrs %0, tpidr_el0" : "=r"(thread_pointer));
#else
  thread_pointer = static_cast<char*>(__builtin_thread_pointer());
#endif
  return reinterpret_cast<Context*>(thread_pointer + lossgrad_context_offset);
}

[[noreturn]] inline __attribute__((cold, noinline)) void fail(const char* message) {
  context()->fail(context(), message);
  __builtin_unreachable();
}

// `extern __shared__ T name[];` outside of a function becomes an object of this type.
template <class T>
struct DynamicShared {
  operator T*() const { return reinterpret_cast<T*>(context()->dynamic_shared); }
};

}  // namespace lossgrad_cuda

#define lossgrad_dynamic_shared(type) (reinterpret_cast<type*>(lossgrad_cuda::context()->dynamic_shared))
#define threadIdx (lossgrad_cuda::context()->thread)
#define blockIdx (lossgrad_cuda::context()->block)
#define blockDim (lossgrad_cuda::context()->block_dim)
#define gridDim (lossgrad_cuda::context()->grid_dim)
#define warpSize 32
