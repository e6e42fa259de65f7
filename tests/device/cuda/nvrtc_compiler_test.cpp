// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/nvrtc_compiler.hpp"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/error.hpp"
#include "device/cuda/test_kernels.hpp"
#include "temporary_folder.hpp"

namespace lossgrad {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::array kArchitectures = {"sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"};

NvrtcCompiler compiler_without_cache() { return {NvrtcLibrary::instance(), BinaryCache(std::nullopt)}; }

Error error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::internal, "no error"};
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(NvrtcCompiler, CompilesForEveryArchitecture) {
  const NvrtcCompiler compiler = compiler_without_cache();
  for (const Kernel& kernel : {saxpy_kernel(), twice_kernel(Dtype::f16), twice_kernel(Dtype::bf16)}) {
    for (const char* architecture : kArchitectures) {
      const CompiledKernel compiled = compiler.compile(kernel, architecture);
      EXPECT_THAT(text_of(compiled.cubin), AllOf(StartsWith("\x7f"
                                                            "ELF"),
                                                 HasSubstr(kernel.entry_point_name())))
          << kernel.id() << " " << architecture;
      EXPECT_EQ(compiled.content_hash.size(), 32U);
      const KernelResources resources = cuda_resources(kernel, architecture);
      EXPECT_GT(resources.registers, 0);
      EXPECT_EQ(resources.shared_bytes, 0);
      EXPECT_EQ(resources.local_bytes, 0);
      EXPECT_EQ(resources.spill_store_bytes, 0);
      EXPECT_EQ(resources.spill_load_bytes, 0);
    }
  }
}

TEST(NvrtcCompiler, LocalMemoryAndSpillsShow) {
  for (const char* architecture : kArchitectures) {
    const KernelResources local = cuda_resources(local_memory_kernel(), architecture);
    EXPECT_GE(local.local_bytes, 256) << architecture;
    EXPECT_EQ(local.spill_store_bytes, 0) << architecture;
    const KernelResources spilling = cuda_resources(spilling_kernel(), architecture);
    EXPECT_LE(spilling.registers, 64) << architecture;
    EXPECT_GT(spilling.spill_store_bytes, 0) << architecture;
    EXPECT_GT(spilling.spill_load_bytes, 0) << architecture;
  }
}

TEST(NvrtcCompiler, SharedMemoryShows) {
  const Kernel kernel = make_kernel("shared", Dtype::f32, "",
                                    "extern \"C\" __global__ void shared_entry_point(float* x) {\n"
                                    "  __shared__ float all[100];\n"
                                    "  all[threadIdx.x] = x[threadIdx.x];\n"
                                    "  __syncthreads();\n"
                                    "  x[threadIdx.x] = all[99 - threadIdx.x];\n}\n",
                                    {{"x", ArgumentRole::output, {"100"}}});
  EXPECT_GE(cuda_resources(kernel, "sm_90").shared_bytes, 400);
}

TEST(NvrtcCompiler, PtxHasEntryPointAndTarget) {
  const std::string ptx = cuda_ptx(saxpy_kernel(), "sm_89");
  EXPECT_THAT(ptx, AllOf(HasSubstr(".entry saxpy_entry_point"), HasSubstr(".target sm_89")));
  EXPECT_EQ(ptx.find('\0'), std::string::npos);
}

TEST(NvrtcCompiler, ErrorCarriesLineAndMessage) {
  const Kernel wrong = saxpy_kernel().with_kernel_source(
      "\n\n__device__ float saxpy(float a, float x, float y) { return a * z + y; }");
  const Error error = error_of([&] { static_cast<void>(compiler_without_cache().compile(wrong, "sm_90")); });
  EXPECT_EQ(error.kind(), ErrorKind::compile);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("kernel saxpy__f32 does not compile for sm_90"),
                                  HasSubstr("saxpy__f32.cu(3): error: identifier \"z\" is undefined"),
                                  Not(HasSubstr("\n"))));
  EXPECT_THAT(error.detail(), HasSubstr("1 error detected"));
}

TEST(NvrtcCompiler, ErrorOfTheAssemblerIsOneToo) {
  const Kernel wrong = saxpy_kernel().with_kernel_source(
      "__device__ float saxpy(float a, float x, float y) { asm(\"nonsense.f32;\"); return a; }");
  const Error error = error_of([&] { static_cast<void>(compiler_without_cache().compile(wrong, "sm_90")); });
  EXPECT_EQ(error.kind(), ErrorKind::compile);
  EXPECT_THAT(error.what(), HasSubstr("nonsense")) << error.detail();
}

TEST(NvrtcCompiler, MissingHeaderIsNamed) {
  const Error error =
      error_of([] { cuda_resources(saxpy_kernel().with_kernel_source("#include <nowhere.h>"), "sm_90"); });
  EXPECT_EQ(error.kind(), ErrorKind::compile);
  EXPECT_THAT(error.what(), HasSubstr("nowhere.h"));
}

TEST(NvrtcCompiler, UnknownArchitectureListsTheKnownOnes) {
  for (const char* architecture :
       {"sm_42", "sm_", "", "90", "compute_90", "sm_90 --use_fast_math", "x86-64"}) {
    for (const Error& error : {error_of([&] { cuda_resources(saxpy_kernel(), architecture); }),
                               error_of([&] { cuda_ptx(saxpy_kernel(), architecture); })}) {
      EXPECT_EQ(error.kind(), ErrorKind::usage) << architecture;
      EXPECT_THAT(error.what(), AllOf(HasSubstr(std::string(architecture) + "'"), HasSubstr("sm_90")));
    }
  }
}

TEST(NvrtcCompiler, SuffixedArchitectures) {
  const NvrtcCompiler compiler = compiler_without_cache();
  EXPECT_GT(cuda_resources(saxpy_kernel(), "sm_90a").registers, 0);
  EXPECT_THAT(cuda_ptx(saxpy_kernel(), "sm_90a"), HasSubstr(".target sm_90a"));
  for (const char* architecture : {"sm_90a", "sm_100a", "sm_100f"})
    EXPECT_TRUE(compiler.supports(architecture));
  for (const char* architecture : {"sm_80a", "sm_90f", "sm_a", "a", "f", "sm_90aa"}) {
    EXPECT_FALSE(compiler.supports(architecture)) << architecture;
  }
}

TEST(NvrtcCompiler, TargetIsTheSameOnEveryMachine) {
  const BuildTarget target = compiler_without_cache().target("sm_90");
  EXPECT_EQ(target.compiler, "nvrtc");
  EXPECT_EQ(target.version, NvrtcLibrary::instance().version());
  for (const std::string& option : target.options) {
    EXPECT_THAT(option, Not(HasSubstr("/")));
    EXPECT_THAT(option, Not(HasSubstr("fast")));
  }
}

TEST(NvrtcCompiler, CacheGivesTheSameBytes) {
  const test::TemporaryFolder folder;
  const BinaryCache cache(folder / "kernels");
  const NvrtcCompiler compiler(NvrtcLibrary::instance(), BinaryCache(folder / "kernels"));
  const CompiledKernel first = compiler.compile(saxpy_kernel(), "sm_90");
  const auto stored = cache.find(first.content_hash, "cubin");
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(*stored, first.cubin);
  // What the cache holds is what is used: no second compilation.
  const std::vector<std::byte> marker(8, std::byte{42});
  ASSERT_TRUE(cache.store(first.content_hash, "cubin", marker));
  const CompiledKernel second = compiler.compile(saxpy_kernel(), "sm_90");
  EXPECT_EQ(second.cubin, marker);
  EXPECT_EQ(second.content_hash, first.content_hash);
  EXPECT_NE(compiler.compile(saxpy_kernel(), "sm_80").content_hash, first.content_hash);
}

TEST(NvrtcCompiler, BuildFillsTheUsersCache) {
  const test::TemporaryFolder folder;
  const char* const before = std::getenv("XDG_CACHE_HOME");
  const std::string old = before == nullptr ? "" : before;
  ASSERT_EQ(::setenv("XDG_CACHE_HOME", folder.path().c_str(), 1), 0);
  const std::array kernels = {saxpy_kernel(), twice_kernel(Dtype::f16)};
  cuda_build(kernels, "sm_90");
  const BinaryCache cache = BinaryCache::open_user_cache();
  for (const Kernel& kernel : kernels) {
    const std::string hash = kernel.content_hash(compiler_without_cache().target("sm_90"));
    EXPECT_TRUE(fs::exists(folder / "lossgrad" / "kernels" / (hash + ".cubin"))) << kernel.id();
    EXPECT_TRUE(cache.find(hash, "cubin").has_value()) << kernel.id();
  }
  EXPECT_EQ(before == nullptr ? ::unsetenv("XDG_CACHE_HOME") : ::setenv("XDG_CACHE_HOME", old.c_str(), 1), 0);
}

}  // namespace
}  // namespace lossgrad
