// SPDX-License-Identifier: Apache-2.0
// Compiling, loading, memory and launches of the host backend.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device/host/compiler.hpp"
#include "device/host/host_module.hpp"
#include "device/host/temporary_folder.hpp"
#include "device/host/tokens.hpp"
#include "host_kernels.hpp"

namespace lossgrad::test {
namespace {

using testing::HasSubstr;

constexpr const char* kScale = R"(
extern "C" __global__ void scale_entry_point(const float* in, float* out, int n, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factor;
})";

Error error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::internal, "no error"};
}

// Sets an environment variable (or removes it: null) for the life of the object.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    set(value);
  }
  ~ScopedVariable() { set(old_ ? old_->c_str() : nullptr); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;
  ScopedVariable(ScopedVariable&&) = delete;
  ScopedVariable& operator=(ScopedVariable&&) = delete;

 private:
  void set(const char* value) const {
    if (value != nullptr) {
      ::setenv(name_, value, 1);
    } else {
      ::unsetenv(name_);
    }
  }
  const char* name_;
  std::optional<std::string> old_;
};

class EachCompiler : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const ScopedVariable cxx("CXX", GetParam());
    try {
      compiler_ = host::Compiler::find();
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();
    }
  }
  [[nodiscard]] bool needs_fibers(const std::string& body) const {
    const Kernel kernel = make_kernel("probe",
                                      "template <class T> __device__ void unused(T t) { __syncthreads(); }\n"
                                      "static __device__ void also_unused() { __syncwarp(); }\n"
                                      "extern \"C\" __global__ void probe_entry_point(int* out) {" +
                                          body + "}");
    const host::TemporaryFolder folder;
    const auto module = host::HostModule::load(compiler_->compile(kernel, folder.path()));
    return module.value().needs_fibers();
  }
  std::optional<host::Compiler> compiler_;
};
INSTANTIATE_TEST_SUITE_P(, EachCompiler, testing::Values("g++", "clang++"), [](const auto& chosen) {
  return std::string(chosen.param, std::strlen(chosen.param) - 2);
});

// What built these tests is there, so that not every compiler above can be skipped.
TEST(HostCompiler, IsFound) {
  const ScopedVariable cxx("CXX", nullptr);
  EXPECT_NO_THROW(static_cast<void>(host::Compiler::find()));
}

// What was compiled for this CPU is no other CPU's.
TEST(HostCompiler, OptionsThatMeanThisCpuAreKeyedByIt) {
  const auto names_cpu = [](const char* command) {
    const ScopedVariable cxx("CXX", command);
    const auto options = host::Compiler::find().target().options;
    return std::any_of(options.begin(), options.end(),
                       [](const std::string& option) { return option.starts_with("cpu="); });
  };
  EXPECT_TRUE(names_cpu("c++ -march=native"));
  EXPECT_FALSE(names_cpu("c++ -march=x86-64"));
}

TEST_P(EachCompiler, OnlyKernelsThatWaitNeedFibers) {
  EXPECT_FALSE(needs_fibers("out[threadIdx.x] = 1; __threadfence(); atomicAdd(out, 1);"));
  EXPECT_TRUE(needs_fibers("__syncthreads();"));
  EXPECT_TRUE(needs_fibers("if (out[0]) __syncwarp();"));
  EXPECT_TRUE(needs_fibers("out[1] = __shfl_down_sync(~0u, out[0], 1);"));
  EXPECT_TRUE(needs_fibers("out[1] = __syncthreads_or(out[0]);"));
  EXPECT_TRUE(needs_fibers("unused(3);"));
  EXPECT_TRUE(needs_fibers("out[0] = __activemask();"));
}

TEST_P(EachCompiler, CompileErrorsNameTheKernelAndTheLine) {
  const host::TemporaryFolder folder;
  const Kernel kernel =
      make_kernel("bad", "// first line\nextern \"C\" __global__ void bad_entry_point() {\n  unknown(3);\n}");
  const Error error = error_of([&] { static_cast<void>(compiler_->compile(kernel, folder.path())); });
  EXPECT_EQ(error.kind(), ErrorKind::compile);
  EXPECT_THAT(error.what(),
              testing::StartsWith("kernel bad__f32 does not compile for the host backend: bad__f32.cu:3:"));
  EXPECT_THAT(error.what(), HasSubstr("unknown"));
  EXPECT_THAT(error.what(), testing::Not(HasSubstr("\n")));
  EXPECT_THAT(error.detail(), HasSubstr("unknown"));
}

TEST(HostBackend, RunsALoopKernelUnderEverySchedule) {
  const auto kernel = host_backend().load(make_kernel("scale", kScale));
  const std::size_t n = 100001;
  std::vector<float> in(n);
  for (std::size_t i = 0; i < n; ++i) in[i] = static_cast<float>(i);
  const Buffer<float> in_buffer(in);
  for (int seed = -1; seed < 8; ++seed) {
    const Buffer<float> out(n, -1.0f);
    launch(*kernel, {391, 256}, {in_buffer.argument(), out.argument(), std::int32_t{n}, 3.0f},
           seed < 0 ? std::nullopt : std::optional<std::uint64_t>(seed));
    const auto got = out.read();
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(got[i], 3.0f * in[i]);
  }
}

TEST(HostBackend, SeedsPermuteThreadsAndBlocksOfLoops) {
  const auto kernel = host_backend().load(make_kernel("last", R"(
extern "C" __global__ void last_entry_point(int* order, int* next) {
  order[atomicAdd(next, 1)] = blockIdx.x * blockDim.x + threadIdx.x;
})"));
  const auto order_of = [&](std::optional<std::uint64_t> seed) {
    const Buffer<std::int32_t> order(80);
    const Buffer<std::int32_t> next(1);
    launch(*kernel, {5, 16}, {order.argument(), next.argument()}, seed);
    return order.read();
  };
  const auto ascending = order_of(std::nullopt);
  EXPECT_EQ(order_of(0), ascending);
  EXPECT_EQ(order_of(1), std::vector<std::int32_t>(ascending.rbegin(), ascending.rend()));
  EXPECT_THAT(order_of(2), testing::UnorderedElementsAreArray(ascending));
  EXPECT_NE(order_of(2), ascending);
  EXPECT_NE(order_of(3), order_of(7));
}

// Complete IoU of [4, N] boxes in the centre-difference form, against the same formula in double.
TEST(HostBackend, RunsABoxLoss) {
  const auto kernel = host_backend().load(make_kernel("boxes", R"(
extern "C" __global__ void __launch_bounds__(128) boxes_entry_point(const float* __restrict__ p, const float* __restrict__ t,
                                                                    float* __restrict__ out, int n) {
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x, m = n;
  if (i >= n) return;
  const float dx = fabsf(p[i] - t[i]), dy = fabsf(p[i + m] - t[i + m]);
  const float pw = p[i + 2 * m], ph = p[i + 3 * m], tw = t[i + 2 * m], th = t[i + 3 * m];
  const float mw = (pw + tw) / 2, mh = (ph + th) / 2;
  const float inter = fmaxf(0.0f, fminf(fminf(pw, tw), mw - dx)) * fmaxf(0.0f, fminf(fminf(ph, th), mh - dy));
  const float cw = fmaxf(fmaxf(pw, tw), mw + dx), ch = fmaxf(fmaxf(ph, th), mh + dy);
  const float d = atanf(tw / (th + 1e-7f)) - atanf(pw / (ph + 1e-7f)), v = 4 / (CUDART_PI_F * CUDART_PI_F) * d * d;
  const float iou = inter / (pw * ph + tw * th - inter + 1e-7f);
  out[i] = 1 - iou + (dx * dx + dy * dy) / (cw * cw + ch * ch + 1e-7f) + v * v / (1 - iou + v + 1e-7f);
})"));
  const std::size_t n = 1000;
  std::vector<float> p(4 * n);
  std::vector<float> t(4 * n);
  for (std::size_t i = 0; i < 4 * n; ++i) {
    p[i] = 1.0f + static_cast<float>(i * 7919 % 541) / 100;
    t[i] = 1.0f + static_cast<float>(i * 104729 % 577) / 100;
  }
  const Buffer<float> p_in(p);
  const Buffer<float> t_in(t);
  const Buffer<float> out(n);
  launch(*kernel, {8, 128}, {p_in.argument(), t_in.argument(), out.argument(), std::int32_t{n}});
  const auto got = out.read();
  for (std::size_t i = 0; i < n; ++i) {
    const auto overlap = [&](std::size_t c) {
      const double low =
          std::max(p[i + c * n] - p[i + (c + 2) * n] / 2.0, t[i + c * n] - t[i + (c + 2) * n] / 2.0);
      const double high =
          std::min(p[i + c * n] + p[i + (c + 2) * n] / 2.0, t[i + c * n] + t[i + (c + 2) * n] / 2.0);
      return std::max(0.0, high - low);
    };
    const auto span = [&](std::size_t c) {
      const double low =
          std::min(p[i + c * n] - p[i + (c + 2) * n] / 2.0, t[i + c * n] - t[i + (c + 2) * n] / 2.0);
      const double high =
          std::max(p[i + c * n] + p[i + (c + 2) * n] / 2.0, t[i + c * n] + t[i + (c + 2) * n] / 2.0);
      return high - low;
    };
    const double pw = p[i + 2 * n], ph = p[i + 3 * n], tw = t[i + 2 * n], th = t[i + 3 * n];
    const double inter = overlap(0) * overlap(1);
    const double iou = inter / (pw * ph + tw * th - inter + 1e-7);
    const double d2 = std::pow(p[i] - t[i], 2) + std::pow(p[i + n] - t[i + n], 2);
    const double v = 4 / (M_PI * M_PI) * std::pow(std::atan(tw / th) - std::atan(pw / ph), 2);
    const double expected =
        1 - iou + d2 / (span(0) * span(0) + span(1) * span(1) + 1e-7) + v * v / (1 - iou + v + 1e-7);
    EXPECT_NEAR(got[i], expected, 5e-6) << i;
  }
}

TEST(HostBackend, LoadsManyInOrderAndNamesTheFailure) {
  std::vector<Kernel> kernels;
  kernels.reserve(5);
  for (int i = 0; i < 5; ++i) {
    const std::string number = std::to_string(i);
    kernels.push_back(make_kernel("k" + number, "extern \"C\" __global__ void k" + number +
                                                    "_entry_point(int* out) { out[0] = " + number + "; }"));
  }
  const auto loaded = host_backend().load_all(kernels);
  ASSERT_EQ(loaded.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) {
    const Buffer<std::int32_t> out(1, -1);
    launch(*loaded[i], {1, 1}, {out.argument()});
    EXPECT_EQ(out.read()[0], static_cast<int>(i));
    EXPECT_EQ(loaded[i]->id(), kernels[i].id());
    EXPECT_EQ(loaded[i]->content_hash().size(), 32u);
  }
  kernels[2] = make_kernel("k2", "extern \"C\" __global__ void k2_entry_point() { nothing; }");
  EXPECT_THAT(error_of([&] { static_cast<void>(host_backend().load_all(kernels)); }).what(),
              HasSubstr("kernel k2__f32"));
  EXPECT_TRUE(host_backend().load_all({}).empty());
}

TEST(HostBackend, UnsupportedConstructsHaveTheirOwnLine) {
  const auto message = [](const std::string& body) {
    return std::string(
        error_of([&] {
          static_cast<void>(host_backend().load(
              make_kernel("odd", "extern \"C\" __global__ void odd_entry_point(int* out) {" + body + "}")));
        }).what());
  };
  EXPECT_THAT(message("asm volatile(\"bar.sync 0;\");"), HasSubstr("inline PTX"));
  EXPECT_THAT(message("// asm\n extra;"), HasSubstr("extra"));
  EXPECT_THAT(message("missing_device_function(out);"), HasSubstr("missing_device_function"));
}

TEST(HostBackend, RejectsLaunchesThatDoNotFitTheKernel) {
  const auto kernel = host_backend().load(make_kernel("scale", kScale));
  const Buffer<float> data(8, 1.0f);
  const auto message = [&](const Grid& grid, const std::vector<LaunchArgument>& arguments) {
    const Error error = error_of([&] { launch(*kernel, grid, arguments); });
    EXPECT_EQ(error.kind(), ErrorKind::device);
    return std::string(error.what());
  };
  const std::vector<LaunchArgument> right = {data.argument(), data.argument(), 8, 1.0f};
  EXPECT_THAT(message({1, 1025}, right), HasSubstr("1025 x 1 x 1 threads"));
  EXPECT_THAT(message({1, 32, 1 << 20}, right), HasSubstr("dynamic shared memory"));
  EXPECT_THAT(message({1, 8}, {data.argument(), 8, 1.0f}), HasSubstr("takes 4 arguments, 3 were given"));
  EXPECT_THAT(message({1, 8}, {data.argument(), data.argument(), 8.0f, 1.0f}), HasSubstr("argument 3"));
  launch(*kernel, {0, 8}, right);  // an empty grid does nothing
}

TEST(HostBackend, MemoryIsCopiedFilledAndGuarded) {
  Backend& backend = host_backend();
  const auto a = backend.allocate(64);
  const auto b = backend.allocate(64);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a->address()) % 256, 0u);
  const std::uint32_t pattern = 0xdeadbeef;
  backend.fill(*a, 0, 64, std::as_bytes(std::span(&pattern, 1)));
  backend.copy(*b, 4, *a, 0, 60);
  std::vector<std::uint32_t> values(15);
  backend.download(*b, 4, std::as_writable_bytes(std::span(values)));
  EXPECT_THAT(values, testing::Each(pattern));
  EXPECT_THROW(backend.fill(*a, 32, 64, std::as_bytes(std::span(&pattern, 1))), Error);
  EXPECT_THROW(backend.copy(*a, 0, *b, 8, 60), Error);
  const Error error = error_of([&] { static_cast<void>(backend.allocate(std::size_t{1} << 60)); });
  EXPECT_EQ(error.kind(), ErrorKind::device);
  EXPECT_THAT(error.what(), HasSubstr("1152921504606846976 bytes"));
}

TEST(HostBackend, BuffersShareTheMemory) {
  Backend& backend = host_backend();
  // Nothing is written to it, so the system need not have it.
  const auto most = static_cast<std::size_t>(backend.device().memory_bytes) / 8 * 5;
  {
    const auto first = backend.allocate(most);
    const Error error = error_of([&] { static_cast<void>(backend.allocate(most)); });
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_THAT(error.what(), HasSubstr("not enough memory"));
    EXPECT_NO_THROW(static_cast<void>(backend.allocate(most / 8)));
  }
  EXPECT_NO_THROW(static_cast<void>(backend.allocate(most))) << "it was given back";
}

TEST(HostBackend, SaysWhatItIsAndWhyItIsMissing) {
  EXPECT_EQ(host_backend().name(), "host");
  EXPECT_GT(host_backend().device().multiprocessors, 0);
  EXPECT_NE(host_backend().device().compiler, "");
  EXPECT_TRUE(host_status().available) << host_status().reason;
  {
    const ScopedVariable cxx("CXX", "no-such-compiler");
    EXPECT_THAT(host_status().reason, HasSubstr("CXX names no-such-compiler"));
  }
  const ScopedVariable cxx("CXX", nullptr);
  const ScopedVariable path("PATH", "/nonexistent");
  EXPECT_FALSE(host_status().available);
  EXPECT_THAT(host_status().reason, HasSubstr("no C++ compiler found"));
}

TEST(HostBackend, WorksWithoutACache) {
  const ScopedVariable home("HOME", nullptr);
  const ScopedVariable cache("XDG_CACHE_HOME", nullptr);
  const auto backend = open_host_backend();
  const auto kernel = backend->load(make_kernel("scale", kScale));
  EXPECT_EQ(kernel->id(), "scale__f32");
}

TEST(HostSource, BlanksCommentsAndStrings) {
  EXPECT_EQ(host::without_comments_and_strings("a /* b\nc */ d // e\n\"f\\\"g\" 'h' 1'000"),
            "a     \n     d     \n           1'000");
}

}  // namespace
}  // namespace lossgrad::test
