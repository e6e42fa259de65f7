// SPDX-License-Identifier: Apache-2.0
// Calls a kernel from an array of argument addresses, once or for whole blocks in a loop.
#pragma once

#include "keywords.hpp"

namespace lossgrad_cuda {

template <class T>
constexpr char kArgumentKind = '?';
template <class T>
constexpr char kArgumentKind<T*> = 'p';
template <>
constexpr char kArgumentKind<int> = 'i';
template <>
constexpr char kArgumentKind<unsigned> = 'i';
template <>
constexpr char kArgumentKind<float> = 'f';
template <class T>
constexpr char kArgumentKind<const T> = kArgumentKind<T>;

template <int...>
struct Indices {};
template <int kCount, int... kRest>
struct MakeIndices : MakeIndices<kCount - 1, kCount - 1, kRest...> {};
template <int... kRest>
struct MakeIndices<0, kRest...> {
  using type = Indices<kRest...>;
};

// The kernel is a template argument, not a pointer at run time, so that it is inlined into the loops.
template <auto kKernel, class Type = decltype(kKernel)>
struct Runner;

template <auto kKernel, class... Arguments>
struct Runner<kKernel, void (*)(Arguments...)> {
  static constexpr char kKinds[] = {kArgumentKind<Arguments>..., '\0'};

  template <int... kIndex>
  static __forceinline__ void call(void* const* arguments, Indices<kIndex...>) {
    kKernel(*static_cast<Arguments*>(arguments[kIndex])...);
  }

  static __forceinline__ void run_thread_inline(void* const* arguments) {
    call(arguments, typename MakeIndices<sizeof...(Arguments)>::type());
  }

  static void run_thread(void* const* arguments) { run_thread_inline(arguments); }

  static void run_block(void* const* arguments) {
    const Index3 dim = context()->block_dim;
    for (unsigned z = 0; z < dim.z; ++z) {
      for (unsigned y = 0; y < dim.y; ++y) {
        for (unsigned x = 0; x < dim.x; ++x) {
          context()->thread = {x, y, z};
          run_thread_inline(arguments);
        }
      }
    }
  }

  static void run_block_in_order(void* const* arguments, const unsigned* order) {
    const Index3 dim = context()->block_dim;
    const unsigned count = dim.x * dim.y * dim.z;
    for (unsigned i = 0; i < count; ++i) {
      const unsigned thread = order[i];
      context()->thread = {thread % dim.x, thread / dim.x % dim.y, thread / dim.x / dim.y};
      run_thread(arguments);
    }
  }

  static void run_blocks(void* const* arguments, uint64_t first, uint64_t last,
                         const unsigned* thread_order) {
    const Index3 grid = context()->grid_dim;
    for (uint64_t block = first; block < last; ++block) {
      context()->block = {static_cast<unsigned>(block % grid.x),
                          static_cast<unsigned>(block / grid.x % grid.y),
                          static_cast<unsigned>(block / grid.x / grid.y)};
      if (thread_order == nullptr) {
        run_block(arguments);
      } else {
        run_block_in_order(arguments, thread_order);
      }
    }
  }

  static constexpr KernelInterface interface() {
    return {kInterfaceVersion,        sizeof...(Arguments), kKinds,
            &lossgrad_context_offset, run_thread,           run_blocks};
  }
};

}  // namespace lossgrad_cuda

#define LOSSGRAD_EXPORT_KERNEL(entry_point)                                               \
  extern "C" __attribute__((visibility("hidden"))) ptrdiff_t lossgrad_context_offset = 0; \
  extern "C" __attribute__((visibility("default"), used))                                 \
  const lossgrad_cuda::KernelInterface lossgrad_host_kernel =                             \
      lossgrad_cuda::Runner<&entry_point>::interface();
