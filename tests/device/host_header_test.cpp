// SPDX-License-Identifier: Apache-2.0
// The CUDA-on-CPU header: small floats, atomics, mathematics, vector types, as kernels see them.
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "host_kernels.hpp"
#include "math/dtype.hpp"

namespace lossgrad::test {
namespace {

std::vector<double> decoded(Dtype dtype, const std::vector<std::uint16_t>& bits) {
  std::vector<double> values(bits.size());
  decode(dtype, std::as_bytes(std::span(bits)), values);
  return values;
}

std::uint16_t encoded(Dtype dtype, double value) {
  std::uint16_t bits = 0;
  encode(dtype, std::span(&value, 1), std::as_writable_bytes(std::span(&bits, 1)));
  return bits;
}

bool is_nan(Dtype dtype, std::uint16_t bits) {
  return (bits & 0x7fff) > (dtype == Dtype::f16 ? 0x7c00 : 0x7f80);
}

struct SmallFloat {
  Dtype dtype;
  const char* name;
  const char* to_float;
  const char* from_float;
  const char* from_double;
};

class SmallFloatTest : public testing::TestWithParam<SmallFloat> {};

INSTANTIATE_TEST_SUITE_P(, SmallFloatTest,
                         testing::Values(SmallFloat{Dtype::f16, "__half", "__half2float", "__float2half",
                                                    "__double2half"},
                                         SmallFloat{Dtype::bf16, "__nv_bfloat16", "__bfloat162float",
                                                    "__float2bfloat16", "__double2bfloat16"}),
                         [](const auto& chosen) { return std::string(name(chosen.param.dtype)); });

TEST_P(SmallFloatTest, EveryPatternConvertsExactlyBothWays) {
  const std::string type = GetParam().name;
  const auto kernel = host_backend().load(make_kernel("patterns", R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void patterns_entry_point(const )" + type + R"(* in, float* wide, )" +
                                                                      type + R"(* back) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  wide[i] = )" + GetParam().to_float + R"((in[i]);
  back[i] = )" + GetParam().from_float + R"((wide[i]);
})"));
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  const Buffer<std::uint16_t> in(bits);
  const Buffer<float> wide(bits.size());
  const Buffer<std::uint16_t> back(bits.size());
  launch(*kernel, {256, 256}, {in.argument(), wide.argument(), back.argument()});
  const std::vector<double> expected = decoded(GetParam().dtype, bits);
  const std::vector<float> got = wide.read();
  const std::vector<std::uint16_t> again = back.read();
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (is_nan(GetParam().dtype, bits[i])) {
      EXPECT_TRUE(std::isnan(got[i])) << i;
      EXPECT_EQ(again[i], 0x7fff) << i;
    } else {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(double{got[i]}), std::bit_cast<std::uint64_t>(expected[i])) << i;
      EXPECT_EQ(again[i], bits[i]);
    }
  }
}

// Every value, the middle to the next one and both neighbours of the middle, from float and from double.
TEST_P(SmallFloatTest, RoundsToNearestEven) {
  const std::string type = GetParam().name;
  const auto kernel =
      host_backend().load(make_kernel("rounding", R"(
extern "C" __global__ void rounding_entry_point(const double* in, )" +
                                                      type + R"(* narrow, )" + type + R"(* via_float) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  narrow[i] = )" + GetParam().from_double + R"((in[i]);
  via_float[i] = )" + GetParam().from_float + R"(((float)in[i]);
})"));
  std::vector<double> values;
  std::vector<std::uint16_t> bits(65536);
  for (std::size_t i = 0; i < bits.size(); ++i) bits[i] = static_cast<std::uint16_t>(i);
  const std::vector<double> all = decoded(GetParam().dtype, bits);
  for (std::size_t i = 0; i < bits.size(); ++i) {
    const double middle = all[i] + std::copysign(ulp(GetParam().dtype, all[i]) / 2, all[i]);
    values.insert(values.end(), {all[i], middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300)});
  }
  const Buffer<double> in(values);
  const Buffer<std::uint16_t> narrow(values.size());
  const Buffer<std::uint16_t> via_float(values.size());
  launch(*kernel, {1024, 256}, {in.argument(), narrow.argument(), via_float.argument()});
  const auto got = narrow.read();
  const auto got_float = via_float.read();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    ASSERT_EQ(got[i], encoded(GetParam().dtype, values[i])) << values[i];
    ASSERT_EQ(got_float[i], encoded(GetParam().dtype, static_cast<float>(values[i]))) << values[i];
  }
}

TEST_P(SmallFloatTest, ArithmeticIsRoundedOnce) {
  const std::string type = GetParam().name;
  const auto kernel = host_backend().load(make_kernel("arithmetic", "#define T " + type + R"(
extern "C" __global__ void arithmetic_entry_point(const T* a, const T* b, const T* c, T* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[6 * i] = a[i] + b[i];
  out[6 * i + 1] = a[i] - b[i];
  out[6 * i + 2] = a[i] * b[i];
  out[6 * i + 3] = a[i] / b[i];
  out[6 * i + 4] = __hfma(a[i], b[i], c[i]);
  out[6 * i + 5] = -__habs(a[i]);
})"));
  std::mt19937 random(7);
  const std::size_t count = 65536;
  const auto draw = [&] {
    std::vector<std::uint16_t> bits(count);
    for (auto& b : bits)
      b = encoded(GetParam().dtype, std::ldexp(double(random()) / 4e9 - 0.5, int(random() % 12) - 4));
    return bits;
  };
  const auto a = draw();
  const auto b = draw();
  const auto c = draw();
  const Buffer<std::uint16_t> a_in(a);
  const Buffer<std::uint16_t> b_in(b);
  const Buffer<std::uint16_t> c_in(c);
  const Buffer<std::uint16_t> out(6 * count);
  launch(*kernel, {256, 256}, {a_in.argument(), b_in.argument(), c_in.argument(), out.argument()});
  const auto got = out.read();
  const auto av = decoded(GetParam().dtype, a);
  const auto bv = decoded(GetParam().dtype, b);
  const auto cv = decoded(GetParam().dtype, c);
  for (std::size_t i = 0; i < count; ++i) {
    // long double is wide enough for the sum of an exact product and a third value here.
    const long double fused = static_cast<long double>(av[i]) * bv[i] + cv[i];
    const double expected[] = {
        av[i] + bv[i],   av[i] - bv[i], av[i] * bv[i], av[i] / bv[i], static_cast<double>(fused),
        -std::abs(av[i])};
    for (std::size_t k = 0; k < 6; ++k) {
      if (bv[i] == 0 && k == 3) continue;
      ASSERT_EQ(got[6 * i + k] & (expected[k] == 0 ? 0x7fff : 0xffff),
                encoded(GetParam().dtype, expected[k]) & (expected[k] == 0 ? 0x7fff : 0xffff))
          << k << ": " << av[i] << " " << bv[i] << " " << cv[i];
    }
  }
}

TEST(HostHeader, AtomicsAddUpOverBlocksThatRunAtOnce) {
  const auto kernel = host_backend().load(make_kernel("atomics", R"(
extern "C" __global__ void atomics_entry_point(int* i, unsigned* u, unsigned long long* ull, float* f, double* d, __half* h) {
  const unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(i, 3); atomicSub(i + 1, 2); atomicMin(i + 2, -(int)n); atomicMax(i + 3, (int)n);
  atomicAnd(u, ~(1u << n % 32)); atomicOr(u + 1, 1u << n % 32); atomicXor(u + 2, n);
  atomicInc(u + 3, 9); atomicDec(u + 4, 9); atomicExch(u + 5, 77u);
  unsigned seen = u[6], next;
  do { next = seen; seen = atomicCAS(u + 6, next, next + 5); } while (seen != next);
  atomicAdd(ull, 0x100000001ull); atomicMax(ull + 1, (unsigned long long)n << 33);
  atomicAdd(f, 0.5f); atomicAdd(d, 0.25); if (n < 1000) atomicAdd(h, __float2half(1.0f));
})"));
  const Buffer<std::int32_t> i(4);
  const Buffer<std::uint32_t> u(std::vector<std::uint32_t>{~0u, 0, 0, 0, 0, 0, 0});
  const Buffer<std::uint64_t> ull(2);
  const Buffer<float> f(1);
  const Buffer<double> d(1);
  const Buffer<std::uint16_t> h(1);
  const std::uint32_t n = 512 * 128;
  launch(*kernel, {512, 128},
         {i.argument(), u.argument(), ull.argument(), f.argument(), d.argument(), h.argument()});
  EXPECT_EQ(i.read(), (std::vector<std::int32_t>{3 * int(n), -2 * int(n), -int(n - 1), int(n - 1)}));
  std::uint32_t all = 0;
  for (std::uint32_t k = 0; k < n; ++k) all ^= k;
  EXPECT_EQ(u.read(), (std::vector<std::uint32_t>{0, ~0u, all, n % 10, (10 - n % 10) % 10, 77, 5 * n}));
  EXPECT_EQ(ull.read(), (std::vector<std::uint64_t>{0x100000001ull * n, std::uint64_t{n - 1} << 33}));
  EXPECT_EQ(f.read()[0], 0.5f * n);
  EXPECT_EQ(d.read()[0], 0.25 * n);
  EXPECT_EQ(decoded(Dtype::f16, h.read())[0], 1000.0);
}

TEST(HostHeader, MathematicsFollowsCuda) {
  const auto kernel = host_backend().load(make_kernel("mathematics", R"(
extern "C" __global__ void mathematics_entry_point(float nan, float* f, int* i) {
  f[0] = fminf(nan, 1.0f); f[1] = fminf(1.0f, nan); f[2] = fmaxf(nan, 1.0f); f[3] = max(1.0f, nan);
  f[4] = rsqrtf(16.0f); f[5] = __saturatef(3.0f); f[6] = __saturatef(nan); f[7] = __fdividef(1.0f, 4.0f);
  f[8] = __fmaf_rn(2.0f, 3.0f, 1.0f); f[9] = __int_as_float(0x3f800000); f[10] = sqrt(2.0f); f[11] = CUDART_INF_F;
  f[12] = exp10f(2.0f); f[13] = __ldg(f + 5); __stcs(f + 14, 6); f[15] = (float)fmin(2.0, (double)nan);
  i[0] = __popc(0xf0u); i[1] = __clz(1); i[2] = __clz(0); i[3] = __ffs(8); i[4] = __brev(1u) == 0x80000000u;
  i[5] = __float2int_rn(2.5f); i[6] = __float2int_rz(1e20f); i[7] = __float2int_rn(nan); i[8] = isnan(nan);
  i[9] = __float_as_int(-0.0f) == (int)0x80000000; i[10] = min(-1, 2u) == 2u; i[11] = __umulhi(1u << 31, 6u);
  i[12] = sizeof(float3) == 12 && alignof(float4) == 16 && alignof(double2) == 16 && alignof(float2) == 8;
  i[13] = make_float4(1, 2, 3, 4).w == 4 && dim3(7).y == 1 && make_int2(3, 4).x == 3; i[14] = abs(-3); i[15] = isinf(f[11]);
})"));
  const Buffer<float> f(16);
  const Buffer<std::int32_t> i(16);
  launch(*kernel, {1, 1}, {std::numeric_limits<float>::quiet_NaN(), f.argument(), i.argument()});
  EXPECT_EQ(f.read(), (std::vector<float>{1, 1, 1, 1, 0.25f, 1, 0, 0.25f, 7, 1, std::sqrt(2.0f),
                                          std::numeric_limits<float>::infinity(), 100, 1, 6, 2}));
  EXPECT_EQ(i.read(), (std::vector<std::int32_t>{4, 31, 32, 4, 1, 2, 2147483647, 0, 1, 1, 1, 3, 1, 1, 3, 1}));
}

TEST(HostHeader, StandardHeadersMayBeIncluded) {
  const auto kernel = host_backend().load(make_kernel("standard", R"(
#include <cmath>
#include <algorithm>
#include <type_traits>
extern "C" __global__ void standard_entry_point(float* f) {
  f[0] = std::sqrt(4.0f) + std::max(1.0f, 2.0f) + fminf(7.0f, 8.0f) + sqrt(9.0f) + std::isnan(f[0]);
})"));
  const Buffer<float> f(1);
  launch(*kernel, {1, 1}, {f.argument()});
  EXPECT_EQ(f.read()[0], 14.0f);
}

}  // namespace
}  // namespace lossgrad::test
