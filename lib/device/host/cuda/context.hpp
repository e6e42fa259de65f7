// SPDX-License-Identifier: Apache-2.0
// What a compiled kernel and the host runtime share: plain data with a fixed layout, included by both sides.
// Light on purpose: it is part of every kernel's compilation.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace lossgrad_cuda {

// Raised with every change of the structures below.
inline constexpr int kInterfaceVersion = 1;
inline constexpr unsigned kWarpSize = 32;
inline constexpr unsigned kFullMask = 0xffffffffu;

struct Index3 {
  unsigned x, y, z;
};

enum class BarrierKind : int { plain, count, all, any };

enum class WarpOperation : int {
  sync,        // __syncwarp
  shuffle,     // parameter: source lane
  shuffle_up,  // parameter: distance
  shuffle_down,
  shuffle_xor,  // parameter: lane mask
  ballot,       // __ballot_sync, __any_sync, __all_sync
  match_any,
  match_all,  // result: mask of the lanes with an equal value, or 0
  reduce_add,
  reduce_min_signed,
  reduce_max_signed,
  reduce_min_unsigned,
  reduce_max_unsigned,
  reduce_and,
  reduce_or,
  reduce_xor,
  active_mask,  // __activemask; needs no mask
};

struct WarpRequest {
  WarpOperation operation;
  unsigned mask;
  unsigned parameter;
  unsigned width;
  uint64_t value;
};

// One per worker thread of the runtime, at a constant distance from the thread pointer. `thread` changes
// whenever another CUDA thread of the block takes over.
struct Context {
  Index3 thread;
  Index3 block;
  Index3 block_dim;
  Index3 grid_dim;
  unsigned char* dynamic_shared;
  void* runtime;  // the running block; null where a kernel runs without fibers
  int (*barrier)(Context*, BarrierKind, int predicate);
  uint64_t (*warp)(Context*, const WarpRequest*);
  void (*fail)(Context*, const char* message);  // does not return
};

// What a shared object exports as `lossgrad_host_kernel`.
struct KernelInterface {
  int version;
  int argument_count;
  const char* argument_kinds;  // one letter each: p pointer, i 32-bit integer, f float, ? anything else
  ptrdiff_t* context_offset;   // set by the runtime after loading
  // The kernel for the thread that the context names.
  void (*run_thread)(void* const* arguments);
  // Whole blocks without fibers, x fastest. `thread_order`: every thread of a block once, or null for 0, 1, 2
  // ...
  void (*run_blocks)(void* const* arguments, uint64_t first_block, uint64_t last_block,
                     const unsigned* thread_order);
};

}  // namespace lossgrad_cuda
