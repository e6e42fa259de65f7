// SPDX-License-Identifier: Apache-2.0
// Warp operations against plain models.
#include <bit>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "host_kernels.hpp"

namespace lossgrad::test {
namespace {

constexpr int kWidths[] = {1, 2, 4, 8, 16, 32};

int modelled_source(int kind, int lane, int parameter, int width) {
  const int first = lane / width * width;
  switch (kind) {
    case 0:
      return first + ((parameter % width) + width) % width;
    case 1:
      return lane - parameter >= first ? lane - parameter : lane;
    case 2:
      return lane + parameter < first + width ? lane + parameter : lane;
    default:
      return (lane ^ parameter) < first + width ? lane ^ parameter : lane;
  }
}

class ShuffleTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(, ShuffleTest,
                         testing::Values("int", "double", "__half", "float2", "unsigned char"));

TEST_P(ShuffleTest, EverySourceAndWidth) {
  const std::string type = GetParam();
  const std::string make = type == "float2"   ? "make_float2(l, -l)"
                           : type == "__half" ? "__float2half((float)l)"
                                              : "(" + type + ")l";
  const std::string read = type == "float2"   ? "(int)v.x - (v.x + v.y != 0)"
                           : type == "__half" ? "(int)__half2float(v)"
                                              : "(int)v";
  const auto kernel = host_backend().load(make_kernel("shuffle", R"(
__device__ int number()" + type + R"( v) { return )" + read + R"(; }
extern "C" __global__ void shuffle_entry_point(int width, int* out) {
  const int l = threadIdx.x;
  const )" + type + R"( v = )" + make + R"(;
  for (int p = 0; p < 32; ++p) {
    int* o = out + (p * 32 + l) * 4;
    o[0] = number(__shfl_sync(0xffffffffu, v, p, width));
    o[1] = number(__shfl_up_sync(0xffffffffu, v, p, width));
    o[2] = number(__shfl_down_sync(0xffffffffu, v, p, width));
    o[3] = number(__shfl_xor_sync(0xffffffffu, v, p, width));
  }
})"));
  const Buffer<std::int32_t> out(32 * 32 * 4);
  for (const int width : kWidths) {
    launch(*kernel, {1, 32}, {width, out.argument()});
    const auto got = out.read();
    for (int i = 0; i < 32 * 32 * 4; ++i) {
      ASSERT_EQ(got[static_cast<std::size_t>(i)], modelled_source(i % 4, i / 4 % 32, i / 128, width))
          << i << " " << width;
    }
  }
}

TEST(HostWarp, VotesMatchesAndReductions) {
  const auto kernel = host_backend().load(make_kernel("votes", R"(
extern "C" __global__ void votes_entry_point(const int* in, int* out) {
  const int l = threadIdx.x, v = in[blockIdx.x * 32 + l];
  int* o = out + (blockIdx.x * 32 + l) * 14;
  const unsigned all = 0xffffffffu;
  o[0] = __ballot_sync(all, v & 1); o[1] = __any_sync(all, v == 3); o[2] = __all_sync(all, v < 7);
  o[3] = __match_any_sync(all, v); int equal; o[4] = __match_all_sync(all, v >> 4, &equal); o[5] = equal;
  o[6] = __reduce_add_sync(all, v); o[7] = __reduce_min_sync(all, v); o[8] = __reduce_max_sync(all, v);
  o[9] = __reduce_min_sync(all, (unsigned)v); o[10] = __reduce_and_sync(all, (unsigned)v);
  o[11] = __reduce_or_sync(all, (unsigned)v); o[12] = __reduce_xor_sync(all, (unsigned)v); o[13] = __activemask();
})"));
  std::mt19937 random(3);
  const std::size_t warps = 64;
  std::vector<std::int32_t> in(warps * 32);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(random() % 12) - (i % 64 < 32 ? 4 : 0);
  const Buffer<std::int32_t> in_buffer(in);
  const Buffer<std::int32_t> out(in.size() * 14);
  launch(*kernel, {warps, 32}, {in_buffer.argument(), out.argument()});
  const auto got = out.read();
  for (std::size_t w = 0; w < warps; ++w) {
    const std::span<const std::int32_t> v(in.data() + w * 32, 32);
    const auto where = [&](auto condition) {
      std::uint32_t mask = 0;
      for (unsigned l = 0; l < 32; ++l) mask |= std::uint32_t{condition(v[l])} << l;
      return static_cast<std::int32_t>(mask);
    };
    const auto fold = [&](auto f) { return std::accumulate(v.begin() + 1, v.end(), v[0], f); };
    const bool same = where([&](int x) { return x >> 4 == v[0] >> 4; }) == -1;
    for (unsigned l = 0; l < 32; ++l) {
      const std::vector<std::int32_t> expected = {
          where([](int x) { return (x & 1) != 0; }),
          where([](int x) { return x == 3; }) != 0,
          where([](int x) { return x < 7; }) == -1,
          where([&](int x) { return x == v[l]; }),
          same ? -1 : 0,
          same,
          fold([](int a, int b) { return a + b; }),
          fold([](int a, int b) { return std::min(a, b); }),
          fold([](int a, int b) { return std::max(a, b); }),
          fold([](int a, int b) { return static_cast<int>(std::min(unsigned(a), unsigned(b))); }),
          fold([](int a, int b) { return a & b; }),
          fold([](int a, int b) { return a | b; }),
          fold([](int a, int b) { return a ^ b; }),
          -1};
      const auto* begin = got.data() + (w * 32 + l) * 14;
      ASSERT_EQ(std::vector<std::int32_t>(begin, begin + 14), expected) << w << " " << l;
    }
  }
}

TEST(HostWarp, HalvesOfAWarpWorkApart) {
  const auto kernel = host_backend().load(make_kernel("halves", R"(
extern "C" __global__ void halves_entry_point(int* out) {
  int v = threadIdx.x;
  if (threadIdx.x < 16) { for (int d = 8; d; d /= 2) v += __shfl_down_sync(0x0000ffffu, v, d); }
  else { for (int d = 1; d < 16; d *= 2) v += __shfl_xor_sync(0xffff0000u, v, d); }
  out[threadIdx.x] = v;
})"));
  const Buffer<std::int32_t> out(32);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    launch(*kernel, {1, 32}, {out.argument()}, seed);
    EXPECT_EQ(out.read()[0], 120);
    EXPECT_EQ(out.read()[20], 376);
  }
}

TEST(HostWarp, ExitedAndMissingLanesCountAsArrived) {
  const auto kernel = host_backend().load(make_kernel("partial", R"(
extern "C" __global__ void partial_entry_point(int n, int* out) {
  const int l = threadIdx.x;
  if (l >= n) return;
  out[l] = __shfl_down_sync(0xffffffffu, l, 4) + 1000 * __popc(__ballot_sync(0xffffffffu, 1));
  __syncthreads();
})"));
  const Buffer<std::int32_t> out(64, -1);
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    launch(*kernel, {1, 48}, {41, out.argument()}, seed);
    const auto got = out.read();
    EXPECT_EQ(got[27], 32031);
    EXPECT_EQ(got[30], 32030) << "beyond the warp: the own value";
    EXPECT_EQ(got[36], 9040);  // reads thread 40
    EXPECT_EQ(got[38], 9038) << "thread 42 has ended: the own value";
    EXPECT_EQ(got[41], -1);
  }
}

TEST(HostWarp, AMaskWithoutTheCallerIsAnError) {
  const auto kernel = host_backend().load(make_kernel("outside", R"(
extern "C" __global__ void outside_entry_point(int* out) { out[threadIdx.x] = __shfl_sync(0xfu, 1, 0); })"));
  const Buffer<std::int32_t> out(32);
  try {
    launch(*kernel, {1, 32}, {out.argument()});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_NE(std::string(error.what()).find("mask leaves out the lane"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace lossgrad::test
