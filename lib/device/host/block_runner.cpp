// SPDX-License-Identifier: Apache-2.0
#include "device/host/block_runner.hpp"

#include <bit>
#include <memory>
#include <mutex>

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction and sigaltstack are POSIX

#include "base/error.hpp"
#include "device/host/warp_operation.hpp"

// On the way from one thread to the next: a call less is a cache line of stack less per thread.
#define LOSSGRAD_HOT [[gnu::always_inline]] inline

namespace lossgrad::host {
namespace {

using lossgrad_cuda::BarrierKind;
using lossgrad_cuda::Context;
using lossgrad_cuda::kWarpSize;
using lossgrad_cuda::WarpOperation;
using lossgrad_cuda::WarpRequest;

constexpr std::uint32_t kNobody = ~0u;
constexpr std::size_t kSignalStackBytes = std::size_t{64} << 10;

constexpr bool kOwnsFaultHandler = !kUnderAddressSanitizer;  // the sanitizer reports faults itself

// initial-exec: the same distance from the thread pointer in every thread.
__attribute__((tls_model("initial-exec"))) constinit thread_local Context running_context{};

struct sigaction previous_fault_action {};

char* thread_pointer() {
#if defined(__x86_64__)
  char* pointer = nullptr;
  asm("mov %%fs:0, %0" : "=r"(pointer));  // NOLINT(hicpp-no-assembler): the ABI's place of the thread pointer
  return pointer;
#elif defined(__aarch64__)
  char* pointer = nullptr;
  asm("mrs %0, tpidr_el0" : "=r"(pointer));  // NOLINT(hicpp-no-assembler)
  return pointer;
#else
  return static_cast<char*>(__builtin_thread_pointer());
#endif
}

std::string place(const BlockTask& task) {
  const auto& block = running_context.block;
  return "block (" + std::to_string(block.x) + "," + std::to_string(block.y) + "," + std::to_string(block.z) +
         ")" + (task.schedule.seed != 0 ? " with schedule seed " + std::to_string(task.schedule.seed) : "");
}

}  // namespace

Context& thread_context() { return running_context; }

std::ptrdiff_t thread_context_offset() {
  return reinterpret_cast<char*>(&running_context) - thread_pointer();
}

BlockRunner& BlockRunner::of_this_thread() {
  thread_local const std::unique_ptr<BlockRunner> runner(new BlockRunner());
  return *runner;
}

BlockRunner::BlockRunner() : fibers_(&BlockRunner::fiber_main) {
  if (!kOwnsFaultHandler) return;
  static std::once_flag once;
  std::call_once(once, install_fault_handler);
  // A handler cannot run on the stack that overflowed.
  signal_stack_.resize(kSignalStackBytes);
  stack_t stack{};
  stack.ss_sp = signal_stack_.data();
  stack.ss_size = signal_stack_.size();
  ::sigaltstack(&stack, nullptr);
}

BlockRunner::~BlockRunner() {
  if (!kOwnsFaultHandler) return;
  stack_t stack{};
  stack.ss_flags = SS_DISABLE;
  ::sigaltstack(&stack, nullptr);
}

void BlockRunner::install_fault_handler() {
  struct sigaction action {};
  action.sa_sigaction = [](int signal, siginfo_t* information, void* state) {
    on_fault(signal, information, state);
  };
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGSEGV, &action, &previous_fault_action);
}

// A fault on the guard page of the running fiber ends its block; every other one is left to whom it concerned
// before.
void BlockRunner::on_fault(int /*signal*/, void* information, void* /*machine_state*/) {
  auto* const runner = static_cast<BlockRunner*>(running_context.runtime);
  if (runner != nullptr && runner->outcome_ == Outcome::running &&
      FiberPool::is_guard(runner->fibers_[runner->current_], static_cast<siginfo_t*>(information)->si_addr)) {
    runner->outcome_ = Outcome::overflow;
    escape_to(runner->main_);
  }
  ::sigaction(SIGSEGV, &previous_fault_action, nullptr);
}

void BlockRunner::fiber_main(boost::context::detail::transfer_t transfer) {
  enter_fiber(transfer);
  while (true) {
    auto& runner = *static_cast<BlockRunner*>(running_context.runtime);
    try {
      runner.task_->run_thread(runner.task_->arguments);
    } catch (...) {
      runner.failure_ = std::current_exception();
    }
    if (runner.failure_) {
      runner.leave_block(Outcome::failed);
    } else {
      runner.end_thread();
    }
  }
}

void BlockRunner::set_up_threads(const lossgrad_cuda::Index3& dim) {
  const std::uint32_t threads = dim.x * dim.y * dim.z;
  fibers_.grow(threads);
  warps_.resize((threads + kWarpSize - 1) / kWarpSize);
  for (std::uint32_t i = 0; i < threads; ++i)
    fibers_[i].thread = {i % dim.x, i / dim.x % dim.y, i / dim.x / dim.y};
  // Last: where memory was short above, the next launch sets up again.
  threads_ = threads;
  dim_ = dim;
}

void BlockRunner::start_block(const BlockTask& task) {
  Context& context = running_context;
  if (context.block_dim.x != dim_.x || context.block_dim.y != dim_.y || context.block_dim.z != dim_.z) {
    set_up_threads(context.block_dim);
  }
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    const std::uint32_t lanes = threads_ - static_cast<std::uint32_t>(w) * kWarpSize;
    warps_[w].alive = lanes >= kWarpSize ? lossgrad_cuda::kFullMask : (1u << lanes) - 1;
    warps_[w].ready = warps_[w].alive;
    warps_[w].waiting = 0;
    warps_[w].active_mask = 0;
  }
  alive_ = threads_;
  arrived_ = 0;
  true_predicates_ = 0;
  current_ = threads_ - 1;  // in turn: the next one is 0
  task_ = &task;
  random_ = OrderRandom(task.schedule.seed ^ (context.block.x + (std::uint64_t{context.block.y} << 32) +
                                              (std::uint64_t{context.block.z} << 48)));
  outcome_ = Outcome::running;
  context.runtime = this;
  context.barrier = on_barrier;
  context.warp = on_warp;
}

void BlockRunner::run(const BlockTask& task) {
  start_block(task);
  current_ = pick();
  running_context.thread = fibers_[current_].thread;
  switch_fiber(main_, fibers_[current_]);
  running_context.runtime = nullptr;
  if (outcome_ != Outcome::done) throw_outcome(task);
}

void BlockRunner::give_up_block() {
  for (std::uint32_t i = 0; i < threads_; ++i) {
    if ((warps_[i / kWarpSize].alive >> i % kWarpSize & 1u) != 0) fibers_.restart(fibers_[i]);
  }
}

void BlockRunner::throw_outcome(const BlockTask& task) {
  const std::string kernel = "kernel " + task.kernel_id + ": ";
  give_up_block();
  switch (outcome_) {
    case Outcome::failed:
      std::rethrow_exception(std::exchange(failure_, nullptr));
    case Outcome::overflow:
      throw Error(ErrorKind::device, kernel + "stack overflow in " + place(task) + ": a thread has " +
                                         std::to_string(FiberPool::kStackBytes >> 10) +
                                         " KiB on the host backend");
    default:
      break;
  }
  int in_warps = 0;
  for (const Warp& warp : warps_) in_warps += std::popcount(warp.waiting);
  throw Error(ErrorKind::device, kernel + "deadlock in " + place(task) + ": " + std::to_string(arrived_) +
                                     " threads wait at __syncthreads, " + std::to_string(in_warps) +
                                     " at a warp operation");
}

LOSSGRAD_HOT std::uint32_t BlockRunner::pick_in_turn() const {
  const std::uint32_t lane = current_ % kWarpSize;
  std::uint32_t w = current_ / kWarpSize;
  const std::uint32_t later = lane == kWarpSize - 1 ? 0 : warps_[w].ready >> (lane + 1) << (lane + 1);
  if (later != 0) return w * kWarpSize + static_cast<std::uint32_t>(std::countr_zero(later));
  const auto count = static_cast<std::uint32_t>(warps_.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    if (++w == count) w = 0;
    if (warps_[w].ready != 0)
      return w * kWarpSize + static_cast<std::uint32_t>(std::countr_zero(warps_[w].ready));
  }
  return kNobody;
}

std::uint32_t BlockRunner::pick_greedy() const {
  const Schedule& schedule = task_->schedule;
  for (const std::uint32_t w : schedule.warp_order) {
    if (warps_[w].ready == 0) continue;
    const std::uint32_t turned = std::rotr(warps_[w].ready, static_cast<int>(schedule.first_lane));
    const int nth = schedule.descending ? 31 - std::countl_zero(turned) : std::countr_zero(turned);
    return w * kWarpSize + (static_cast<std::uint32_t>(nth) + schedule.first_lane) % kWarpSize;
  }
  return kNobody;
}

std::uint32_t BlockRunner::pick_random() {
  const auto count = static_cast<std::uint32_t>(warps_.size());
  std::uint32_t w = random_.below(count);
  for (std::uint32_t i = 0; i < count; ++i, w = w + 1 == count ? 0 : w + 1) {
    if (warps_[w].ready == 0) continue;
    const std::uint32_t first = random_.below(kWarpSize);
    const std::uint32_t turned = std::rotr(warps_[w].ready, static_cast<int>(first));
    return w * kWarpSize + (static_cast<std::uint32_t>(std::countr_zero(turned)) + first) % kWarpSize;
  }
  return kNobody;
}

LOSSGRAD_HOT std::uint32_t BlockRunner::pick() {
  switch (task_->schedule.rule) {
    case PickRule::greedy:
      return pick_greedy();
    case PickRule::random:
      return pick_random();
    default:
      return pick_in_turn();
  }
}

// Hands over to the next thread; returns when this one may go on.
LOSSGRAD_HOT void BlockRunner::give_way() {
  Warp& warp = warps_[current_ / kWarpSize];
  // __activemask: the lanes that come together before all others of their warp wait or have ended.
  if (warp.ready == 0 && warp.active_mask != 0) complete(warp, warp.active_mask);
  const std::uint32_t next = pick();
  if (next == kNobody) [[unlikely]] {
    leave_block(alive_ == 0 ? Outcome::done : Outcome::stuck);
    return;
  }
  const std::uint32_t from = std::exchange(current_, next);
  if (from == next && (warp.alive >> from % kWarpSize & 1u) != 0) return;
  running_context.thread = fibers_[next].thread;
  switch_fiber(fibers_[from], fibers_[next]);
}

LOSSGRAD_HOT int BlockRunner::wait_at_barrier(BarrierKind kind, int predicate) {
  warps_[current_ / kWarpSize].ready &= ~(1u << current_ % kWarpSize);
  ++arrived_;
  true_predicates_ += predicate != 0 ? 1 : 0;
  if (arrived_ == alive_) release_barrier();
  give_way();
  // The next barrier cannot be released before this thread has arrived there too.
  switch (kind) {
    case BarrierKind::count:
      return static_cast<int>(barrier_true_);
    case BarrierKind::all:
      return barrier_true_ == barrier_total_ ? 1 : 0;
    case BarrierKind::any:
      return barrier_true_ != 0 ? 1 : 0;
    default:
      return 0;
  }
}

void BlockRunner::release_barrier() {
  barrier_total_ = std::exchange(arrived_, 0);
  barrier_true_ = std::exchange(true_predicates_, 0);
  for (Warp& warp : warps_) warp.ready = warp.alive;
}

std::uint64_t BlockRunner::wait_in_warp(const WarpRequest& request) {
  Warp& warp = warps_[current_ / kWarpSize];
  const std::uint32_t lane = current_ % kWarpSize;
  if ((request.mask >> lane & 1u) == 0) {
    running_context.fail(&running_context, "a warp operation's mask leaves out the lane that calls it");
  }
  warp.requests[lane] = request;
  warp.ready &= ~(1u << lane);
  warp.waiting |= 1u << lane;
  if (request.operation == WarpOperation::active_mask) {
    warp.active_mask |= 1u << lane;
  } else {
    try_complete(warp, lane);
  }
  give_way();
  return warp.results[lane];
}

// Completes the operation of one waiting lane if all lanes of its mask that are alive wait at the same
// operation.
void BlockRunner::try_complete(Warp& warp, std::uint32_t lane) {
  const WarpRequest& request = warp.requests[lane];
  const std::uint32_t needed = request.mask & warp.alive;
  if ((warp.waiting & needed) != needed) return;
  for (std::uint32_t rest = needed; rest != 0; rest &= rest - 1) {
    const WarpRequest& other = warp.requests[static_cast<unsigned>(std::countr_zero(rest))];
    if (other.operation != request.operation || other.mask != request.mask) return;
  }
  complete(warp, needed);
}

void BlockRunner::complete(Warp& warp, std::uint32_t lanes) {
  compute_warp_operation(warp.requests, lanes, warp.results);
  warp.waiting &= ~lanes;
  warp.active_mask &= ~lanes;
  warp.ready |= lanes;
}

void BlockRunner::end_thread() {
  Warp& warp = warps_[current_ / kWarpSize];
  warp.alive &= ~(1u << current_ % kWarpSize);
  warp.ready &= warp.alive;
  --alive_;
  if (arrived_ != 0 && arrived_ == alive_) release_barrier();
  for (std::uint32_t rest = warp.waiting & ~warp.active_mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::uint32_t>(std::countr_zero(rest));
    if ((warp.waiting >> lane & 1u) != 0) try_complete(warp, lane);
  }
  give_way();
}

void BlockRunner::leave_block(Outcome outcome) {
  outcome_ = outcome;
  switch_fiber(fibers_[current_], main_);
}

int BlockRunner::on_barrier(Context* context, BarrierKind kind, int predicate) {
  return static_cast<BlockRunner*>(context->runtime)->wait_at_barrier(kind, predicate);
}

std::uint64_t BlockRunner::on_warp(Context* context, const WarpRequest* request) {
  return static_cast<BlockRunner*>(context->runtime)->wait_in_warp(*request);
}

}  // namespace lossgrad::host
