// SPDX-License-Identifier: Apache-2.0
// Barriers, schedules and faults of kernels whose threads wait for each other.
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device/host/address_sanitizer.hpp"
#include "host_kernels.hpp"

namespace lossgrad::test {
namespace {

constexpr std::uint32_t kThreads = 256;

// A sum by shared memory, three times over the same array; the markers are where barriers may be left out.
std::string block_sum(const std::string& after_write, const std::string& in_loop,
                      const std::string& before_reuse) {
  return R"(
extern "C" __global__ void block_sum_entry_point(const int* in, int* out) {
  __shared__ int values[256];
  for (int round = 0; round < 3; ++round) {
    values[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x] + round;
    )" + after_write +
         R"(
    for (int half = 128; half > 0; half /= 2) {
      if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
      )" +
         in_loop + R"(
    }
    out[(blockIdx.x * 3 + round) * 256 + threadIdx.x] = values[0];
    )" + before_reuse +
         R"(
  }
})";
}

class BlockSum {
 public:
  explicit BlockSum(const std::string& source)
      : kernel_(host_backend().load(make_kernel("block_sum", source))),
        in_(input()),
        out_(kBlocks * 3 * kThreads) {}

  bool is_right(std::optional<std::uint64_t> seed) {
    out_.write(std::vector<std::int32_t>(kBlocks * 3 * kThreads, -1));
    launch(*kernel_, {kBlocks, kThreads}, {in_.argument(), out_.argument()}, seed);
    const auto got = out_.read();
    const auto in = input();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const std::size_t block = i / kThreads / 3;
      const auto begin = in.begin() + static_cast<std::ptrdiff_t>(block * kThreads);
      const int round = static_cast<int>(i / kThreads % 3);
      if (got[i] != std::accumulate(begin, begin + kThreads, 0) + round * static_cast<int>(kThreads))
        return false;
    }
    return true;
  }

 private:
  static constexpr std::uint32_t kBlocks = 20;
  static std::vector<std::int32_t> input() {
    std::vector<std::int32_t> values(kBlocks * kThreads);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<std::int32_t>(i * 2654435761u % 1000);
    return values;
  }
  std::shared_ptr<LoadedKernel> kernel_;
  Buffer<std::int32_t> in_;
  Buffer<std::int32_t> out_;
};

const std::string kBarrier = "__syncthreads();";

TEST(HostThreads, ARightKernelIsRightUnderEverySchedule) {
  BlockSum sum(block_sum(kBarrier, kBarrier, kBarrier));
  EXPECT_TRUE(sum.is_right(std::nullopt));
  for (std::uint64_t seed = 0; seed < 40; ++seed) EXPECT_TRUE(sum.is_right(seed)) << seed;
}

void expect_found(const std::string& source) {
  BlockSum sum(source);
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 8; ++seed) wrong += sum.is_right(seed) ? 0 : 1;
  EXPECT_GT(wrong, 0);
}

TEST(HostThreads, ABarrierMissingAfterTheWriteIsFound) { expect_found(block_sum("", kBarrier, kBarrier)); }
TEST(HostThreads, ABarrierMissingInTheLoopIsFound) { expect_found(block_sum(kBarrier, "", kBarrier)); }
TEST(HostThreads, ABarrierMissingBeforeReuseIsFound) { expect_found(block_sum(kBarrier, kBarrier, "")); }

TEST(HostThreads, GreedySeedsFindAMissingBarrierBetweenWarps) {
  // Warps hand a value on by shuffles and one shared cell per warp; the cell is used again without a barrier.
  const auto kernel = host_backend().load(make_kernel("cells", R"(
extern "C" __global__ void cells_entry_point(int* wrong) {
  __shared__ int cells[4];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int round = 0; round < 4; ++round) {
    int v = round;
    for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffffu, v, d);
    if (lane == 0) cells[warp] = v;
    __syncthreads();
    if (cells[0] + cells[1] + cells[2] + cells[3] != 128 * round) atomicAdd(wrong, 1);
  }
})"));
  for (const std::uint64_t seed : {0, 1, 4, 5, 8, 9}) {
    const Buffer<std::int32_t> wrong(1);
    launch(*kernel, {4, 128}, {wrong.argument()}, seed);
    EXPECT_GT(wrong.read()[0], 0) << seed;
  }
}

TEST(HostThreads, SchedulesOrderWarpsAsDocumented) {
  const auto kernel = host_backend().load(make_kernel("order", R"(
extern "C" __global__ void order_entry_point(int* next, int* order) {
  __syncthreads();
  order[atomicAdd(next, 1)] = threadIdx.x;
})"));
  const auto order_of = [&](std::optional<std::uint64_t> seed) {
    const Buffer<std::int32_t> next(1);
    const Buffer<std::int32_t> order(128);
    launch(*kernel, {1, 128}, {next.argument(), order.argument()}, seed);
    return order.read();
  };
  std::vector<std::int32_t> ascending(128);
  std::iota(ascending.begin(), ascending.end(), 0);
  const std::vector<std::int32_t> descending(ascending.rbegin(), ascending.rend());
  EXPECT_EQ(order_of(std::nullopt), ascending);
  EXPECT_EQ(order_of(0), ascending);
  EXPECT_EQ(order_of(1), descending);
  EXPECT_THAT(order_of(2), testing::UnorderedElementsAreArray(ascending));
  EXPECT_NE(order_of(2), ascending);
  EXPECT_NE(order_of(2), order_of(6));
  EXPECT_EQ(order_of(6), order_of(6)) << "a seed always gives the same order";
  const auto warps = order_of(4);
  for (int i = 0; i < 128; ++i) EXPECT_EQ(warps[static_cast<std::size_t>(i)] / 32, i / 32);
}

TEST(HostThreads, BarriersCountAndCombinePredicates) {
  const auto kernel = host_backend().load(make_kernel("predicates", R"(
extern "C" __global__ void predicates_entry_point(int* out) {
  const int t = threadIdx.x;
  if (t >= 90) return;
  const int a = __syncthreads_count(t % 3 == 0), b = __syncthreads_or(t == 89), c = __syncthreads_or(t == 95);
  const int d = __syncthreads_and(t < 90), e = __syncthreads_and(t != 5);
  out[t] = a * 10000 + b * 1000 + c * 100 + d * 10 + e;
})"));
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    const Buffer<std::int32_t> out(90);
    launch(*kernel, {1, 100}, {out.argument()}, seed);
    EXPECT_THAT(out.read(), testing::Each(301010)) << seed;
  }
}

TEST(HostThreads, DynamicSharedMemoryInFunctionsAndAtNamespaceScope) {
  const auto kernel = host_backend().load(make_kernel("dynamic", R"(
extern __shared__ float outer[];  // extern __shared__ int commented[];
extern "C" __global__ void dynamic_entry_point(float* out) {
  extern __shared__ __align__(16) unsigned char
      raw[];
  float* values = reinterpret_cast<float*>(raw);
  values[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = outer[blockDim.x - 1 - threadIdx.x];
})"));
  const Buffer<float> out(64 * 100);
  launch(*kernel, {100, 64, 64 * sizeof(float)}, {out.argument()}, 2);
  const auto got = out.read();
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], static_cast<float>(63 - i % 64));
}

TEST(HostThreads, ThreeDimensionalBlocksAndGrids) {
  const auto kernel = host_backend().load(make_kernel("volume", R"(
extern "C" __global__ void volume_entry_point(int* out) {
  __syncthreads();
  const int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const int b = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  out[b * 60 + t] = b * 1000 + t;
})"));
  LaunchShape shape;
  shape.grid = {2, 3, 4};
  shape.block = {5, 4, 3};
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    const Buffer<std::int32_t> out(24 * 60, -1);
    host_backend().launch(*kernel, shape, std::vector<LaunchArgument>{out.argument()}, LaunchOptions{seed});
    const auto got = out.read();
    for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], i / 60 * 1000 + i % 60);
  }
}

std::string error_of(const std::string& source, std::uint32_t threads,
                     std::optional<std::uint64_t> seed = {}) {
  const auto kernel = host_backend().load(make_kernel("faulty", source));
  const Buffer<std::int32_t> out(2048);
  std::string message = "no error";
  try {
    launch(*kernel, {3, threads}, {out.argument()}, seed);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    message = error.what();
  }
  // The backend goes on working.
  BlockSum sum(block_sum(kBarrier, kBarrier, kBarrier));
  EXPECT_TRUE(sum.is_right(std::nullopt));
  return message;
}

TEST(HostThreads, ADeadlockAtABarrierAndAShuffleIsAnError) {
  const std::string source = R"(
extern "C" __global__ void faulty_entry_point(int* out) {
  if (blockIdx.x == 1 && threadIdx.x < 8) out[0] = __shfl_sync(0xffffffffu, 1, 0);
  else __syncthreads();
})";
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    EXPECT_THAT(error_of(source, 64, seed),
                testing::AllOf(testing::StartsWith("kernel faulty__f32: deadlock in block (1,0,0)"),
                               testing::EndsWith("56 threads wait at __syncthreads, 8 at a warp operation")));
  }
}

TEST(HostThreads, AStackOverflowIsAnError) {
#ifdef LOSSGRAD_ADDRESS_SANITIZER
  GTEST_SKIP() << "the address sanitizer reports stack overflows itself";
#endif
  EXPECT_THAT(error_of(R"(
__device__ int deeper(volatile int* out, int n) {
  volatile int frame[64];
  frame[n % 64] = n;
  return n == 0 ? frame[0] : deeper(out, n - 1) + frame[n % 64];
}
extern "C" __global__ void faulty_entry_point(int* out) {
  __syncthreads();
  out[threadIdx.x] = deeper(out, blockIdx.x == 2 && threadIdx.x == 7 ? 1000000 : 2);
})",
                       64),
              testing::HasSubstr("stack overflow in block (2,0,0)"));
}

TEST(HostThreads, ATrapIsAnError) {
  EXPECT_THAT(
      error_of(R"(
extern "C" __global__ void faulty_entry_point(int* out) {
  __syncthreads();
  if (blockIdx.x == 2 && threadIdx.x == 9) __trap();
  __syncthreads();
})",
               64),
      testing::AllOf(testing::HasSubstr("__trap"), testing::HasSubstr("block (2,0,0), thread (9,0,0)")));
  EXPECT_THAT(error_of(R"(
extern "C" __global__ void faulty_entry_point(int* out) { assert(threadIdx.x != 9); })",
                       64),
              testing::HasSubstr("assertion failed: threadIdx.x != 9"));
}

TEST(HostThreads, LaunchesRepeatBitForBit) {
  const auto kernel = host_backend().load(make_kernel("repeat", R"(
extern "C" __global__ void repeat_entry_point(float* out) {
  __shared__ float values[1024];
  values[threadIdx.x] = 1.0f / (1 + threadIdx.x + blockIdx.x);
  __syncthreads();
  for (int half = 512; half > 0; half /= 2) {
    if (threadIdx.x < half) values[threadIdx.x] += values[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = values[0];
})"));
  std::vector<float> first;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    const Buffer<float> out(50);
    launch(*kernel, {50, 1024}, {out.argument()}, seed == 5 ? std::nullopt : std::optional(seed));
    if (seed == 0) first = out.read();
    EXPECT_EQ(out.read(), first);
  }
}

}  // namespace
}  // namespace lossgrad::test
