// SPDX-License-Identifier: Apache-2.0
#include "device/host/launch.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include "base/error.hpp"
#include "device/host/block_runner.hpp"
#include "device/host/schedule.hpp"

namespace lossgrad::host {
namespace {

using lossgrad_cuda::Context;

constexpr std::uint64_t kMaxThreads = 1024;
constexpr std::uint64_t kMaxGridYz = 65535;
constexpr std::size_t kMaxSharedBytes = std::size_t{227} << 10;  // of a block on sm_90
constexpr std::align_val_t kSharedAlignment{128};
// Below this a second core costs more than it gives.
constexpr std::uint64_t kLoopThreadsPerPiece = 16384;
constexpr std::uint64_t kFiberThreadsPerPiece = 512;

[[noreturn]] void fail(const std::string& kernel_id, const std::string& what) {
  throw Error(ErrorKind::device, "kernel " + kernel_id + ": " + what);
}

std::string dimensions(const std::array<std::uint32_t, 3>& size) {
  return std::to_string(size[0]) + " x " + std::to_string(size[1]) + " x " + std::to_string(size[2]);
}

void require_valid(const std::string& kernel_id, const LaunchShape& shape) {
  const std::uint64_t threads = std::uint64_t{shape.block[0]} * shape.block[1] * shape.block[2];
  if (std::max({shape.block[0], shape.block[1], shape.block[2]}) > kMaxThreads || threads == 0 ||
      threads > kMaxThreads || shape.block[2] > 64) {
    fail(kernel_id, "a block of " + dimensions(shape.block) + " threads cannot be launched (at most 1024)");
  }
  if (shape.grid[0] > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max()) ||
      shape.grid[1] > kMaxGridYz || shape.grid[2] > kMaxGridYz) {
    fail(kernel_id, "a grid of " + dimensions(shape.grid) + " blocks cannot be launched");
  }
  if (shape.shared_bytes > kMaxSharedBytes) {
    fail(kernel_id, std::to_string(shape.shared_bytes) + " bytes of dynamic shared memory are more than " +
                        std::to_string(kMaxSharedBytes));
  }
}

char kind_of(const LaunchArgument& argument) { return "pif"[argument.index()]; }

void require_matching(const std::string& kernel_id, const lossgrad_cuda::KernelInterface& interface,
                      std::span<const LaunchArgument> arguments) {
  if (static_cast<std::size_t>(interface.argument_count) != arguments.size()) {
    fail(kernel_id, "takes " + std::to_string(interface.argument_count) + " arguments, " +
                        std::to_string(arguments.size()) + " were given");
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (interface.argument_kinds[i] != kind_of(arguments[i])) {
      fail(kernel_id, "argument " + std::to_string(i + 1) +
                          " has another type in the kernel's entry point (pointer, "
                          "32-bit integer or float)");
    }
  }
}

struct Launch {
  const std::string& kernel_id;
  const HostModule& module;
  const LaunchShape& shape;
  void* const* arguments = nullptr;
  Schedule schedule;
};

void no_threads_to_wait_for(Context* context) {
  context->fail(context, "waits for other threads although it was compiled as a plain loop");
}

// Sets the OS thread's context up for a launch and puts the old one back.
class ContextScope {
 public:
  explicit ContextScope(const Launch& launch) : previous_(thread_context()) {
    Context& context = thread_context();
    const auto index3 = [](const std::array<std::uint32_t, 3>& size) {
      return lossgrad_cuda::Index3{size[0], size[1], size[2]};
    };
    context = Context{};
    context.block_dim = index3(launch.shape.block);
    context.grid_dim = index3(launch.shape.grid);
    // One byte more than nothing: a kernel may form the address without using it.
    shared_bytes_ = std::max<std::size_t>(launch.shape.shared_bytes, 1);
    context.dynamic_shared = static_cast<unsigned char*>(::operator new(shared_bytes_, kSharedAlignment));
    std::fill_n(context.dynamic_shared, shared_bytes_, static_cast<unsigned char>(0xff));
    context.barrier = [](Context* c, lossgrad_cuda::BarrierKind, int) {
      no_threads_to_wait_for(c);
      return 0;
    };
    context.warp = [](Context* c, const lossgrad_cuda::WarpRequest*) {
      no_threads_to_wait_for(c);
      return std::uint64_t{0};
    };
    current_kernel_id = &launch.kernel_id;
    context.fail = [](Context* c, const char* message) {
      const auto text = [](const lossgrad_cuda::Index3& i) {
        return "(" + std::to_string(i.x) + "," + std::to_string(i.y) + "," + std::to_string(i.z) + ")";
      };
      host::fail(*current_kernel_id,
                 std::string(message) + " in block " + text(c->block) + ", thread " + text(c->thread));
    };
  }
  ~ContextScope() {
    ::operator delete(thread_context().dynamic_shared, kSharedAlignment);
    thread_context() = previous_;
    current_kernel_id = previous_kernel_id_;
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  ContextScope(ContextScope&&) = delete;
  ContextScope& operator=(ContextScope&&) = delete;

 private:
  static inline thread_local const std::string* current_kernel_id = nullptr;
  Context previous_;
  const std::string* previous_kernel_id_ = current_kernel_id;
  std::size_t shared_bytes_ = 0;
};

void run_as_loop(const Launch& launch, std::uint64_t begin, std::uint64_t end) {
  const auto run_blocks = launch.module.interface().run_blocks;
  const Schedule& schedule = launch.schedule;
  const unsigned* const order = schedule.thread_order.empty() ? nullptr : schedule.thread_order.data();
  if (schedule.keeps_block_order()) {
    run_blocks(launch.arguments, begin, end, order);
    return;
  }
  for (std::uint64_t i = begin; i < end; ++i) {
    run_blocks(launch.arguments, schedule.block(i), schedule.block(i) + 1, order);
  }
}

void run_as_fibers(const Launch& launch, std::uint64_t begin, std::uint64_t end) {
  BlockRunner& runner = BlockRunner::of_this_thread();
  const BlockTask task{launch.kernel_id, launch.module.interface().run_thread, launch.arguments,
                       launch.schedule};
  const std::uint64_t width = launch.shape.grid[0];
  const std::uint64_t height = launch.shape.grid[1];
  for (std::uint64_t i = begin; i < end; ++i) {
    const std::uint64_t block = launch.schedule.block(i);
    thread_context().block = {static_cast<unsigned>(block % width),
                              static_cast<unsigned>(block / width % height),
                              static_cast<unsigned>(block / width / height)};
    runner.run(task);
  }
}

void run_range(const Launch& launch, std::uint64_t begin, std::uint64_t end) {
  const ContextScope scope(launch);
  if (launch.module.needs_fibers()) {
    run_as_fibers(launch, begin, end);
  } else {
    run_as_loop(launch, begin, end);
  }
}

}  // namespace

void launch_kernel(const std::string& kernel_id, const HostModule& module, const LaunchShape& shape,
                   std::span<const LaunchArgument> arguments, const LaunchOptions& options) {
  require_matching(kernel_id, module.interface(), arguments);
  if (shape.empty()) return;
  require_valid(kernel_id, shape);
  std::vector<LaunchArgument> values(arguments.begin(), arguments.end());
  std::vector<void*> addresses;
  addresses.reserve(values.size());
  for (LaunchArgument& value : values) {
    addresses.push_back(std::visit([](auto& held) { return static_cast<void*>(&held); }, value));
  }
  const std::uint64_t blocks = std::uint64_t{shape.grid[0]} * shape.grid[1] * shape.grid[2];
  const std::uint32_t threads = shape.block[0] * shape.block[1] * shape.block[2];
  const Launch launch{kernel_id, module, shape, addresses.data(),
                      make_schedule(options.schedule_seed, blocks, threads)};
  const std::uint64_t per_piece = module.needs_fibers() ? kFiberThreadsPerPiece : kLoopThreadsPerPiece;
  const std::uint64_t grain = std::max<std::uint64_t>(per_piece / threads, 1);
  if (blocks <= grain) {
    run_range(launch, 0, blocks);
    return;
  }
  tbb::parallel_for(tbb::blocked_range<std::uint64_t>(0, blocks, grain),
                    [&](const auto& range) { run_range(launch, range.begin(), range.end()); });
}

}  // namespace lossgrad::host
