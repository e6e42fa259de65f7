// SPDX-License-Identifier: Apache-2.0
// Runs one block at a time: every CUDA thread is a fiber, and one fiber runs until it waits, ends or fails.
// Exited threads count as arrived, at barriers and in warps. A block in which nobody can go on is a deadlock
// and throws.
#pragma once

#include <array>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#include "device/host/cuda/context.hpp"
#include "device/host/fiber_pool.hpp"
#include "device/host/schedule.hpp"

namespace lossgrad::host {

// The context of the calling OS thread; kernels find it at a constant distance from the thread pointer.
lossgrad_cuda::Context& thread_context();
std::ptrdiff_t thread_context_offset();

struct BlockTask {
  const std::string& kernel_id;
  void (*run_thread)(void* const* arguments);
  void* const* arguments;
  const Schedule& schedule;
};

class BlockRunner {
 public:
  // The runner of the calling OS thread.
  static BlockRunner& of_this_thread();

  // Runs the block that thread_context() names. Throws ErrorKind::device for a deadlock, a stack overflow or
  // a failed assertion, naming kernel and block.
  void run(const BlockTask& task);

  BlockRunner(const BlockRunner&) = delete;
  BlockRunner& operator=(const BlockRunner&) = delete;
  BlockRunner(BlockRunner&&) = delete;
  BlockRunner& operator=(BlockRunner&&) = delete;
  ~BlockRunner();

 private:
  enum class Outcome { running, done, stuck, failed, overflow };

  // Masks have one bit per lane.
  struct Warp {
    std::uint32_t alive = 0;
    std::uint32_t ready = 0;
    std::uint32_t waiting = 0;      // at a warp operation
    std::uint32_t active_mask = 0;  // of those, at __activemask
    std::array<lossgrad_cuda::WarpRequest, lossgrad_cuda::kWarpSize> requests{};
    std::array<std::uint64_t, lossgrad_cuda::kWarpSize> results{};
  };

  BlockRunner();

  static void fiber_main(boost::context::detail::transfer_t transfer);
  static int on_barrier(lossgrad_cuda::Context* context, lossgrad_cuda::BarrierKind kind, int predicate);
  static std::uint64_t on_warp(lossgrad_cuda::Context* context, const lossgrad_cuda::WarpRequest* request);
  static void on_fault(int signal, void* information, void* machine_state);
  static void install_fault_handler();

  void set_up_threads(const lossgrad_cuda::Index3& dim);
  void start_block(const BlockTask& task);
  void give_up_block();
  [[noreturn]] void throw_outcome(const BlockTask& task);

  int wait_at_barrier(lossgrad_cuda::BarrierKind kind, int predicate);
  std::uint64_t wait_in_warp(const lossgrad_cuda::WarpRequest& request);
  void release_barrier();
  void try_complete(Warp& warp, std::uint32_t lane);
  void complete(Warp& warp, std::uint32_t lanes);
  void end_thread();
  void give_way();
  void leave_block(Outcome outcome);

  // The thread to run next, or kNobody when none can.
  std::uint32_t pick();
  std::uint32_t pick_in_turn() const;
  std::uint32_t pick_greedy() const;
  std::uint32_t pick_random();

  FiberPool fibers_;
  Fiber main_;
  std::vector<std::byte> signal_stack_;
  std::vector<Warp> warps_;
  lossgrad_cuda::Index3 dim_{0, 0, 0};
  std::uint32_t threads_ = 0;
  const BlockTask* task_ = nullptr;
  std::uint32_t current_ = 0;
  std::uint32_t alive_ = 0;
  std::uint32_t arrived_ = 0;  // at the barrier that is filling
  std::uint32_t true_predicates_ = 0;
  std::uint32_t barrier_total_ = 0;  // of the barrier that was released last
  std::uint32_t barrier_true_ = 0;
  Outcome outcome_ = Outcome::done;
  std::exception_ptr failure_;
  OrderRandom random_{0};
};

}  // namespace lossgrad::host
