// SPDX-License-Identifier: Apache-2.0
#include "check/kernel_resources.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "base/error.hpp"
#include "losses/loss.hpp"

namespace lossgrad::kernel_resources {
namespace {

constexpr std::array kArchitectures = {"sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"};
constexpr int kRegistersOfABlock = 65536;
constexpr unsigned kMostCompilersAtOnce = 16;  // bounds the memory where there are many cores

// Why NVRTC cannot be used; empty when it can.
std::string missing_nvrtc() {
  const Loss& loss = *all_losses().front();
  try {
    (void)cuda_resources(loss.kernel({Pass::forward, Dtype::f32, loss.conventions().front().name}), "sm_90");
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::device) return error.what();
  }
  return "";
}

bool nvrtc_is_required() {
  const char* value = std::getenv("LOSSGRAD_REQUIRE_NVRTC");
  return value != nullptr && std::string_view(value) == "1";
}

void compile(Compilation& compilation) {
  try {
    compilation.resources = cuda_resources(compilation.kernel, compilation.architecture);
  } catch (const Error& error) {
    compilation.error = std::string(error.what()) + '\n' + error.detail();
  }
}

void compile_all(std::vector<Compilation>& compilations) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < compilations.size(); i = next++) compile(compilations[i]);
  };
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, kMostCompilersAtOnce);
  std::vector<std::jthread> helpers(threads - 1);
  for (std::jthread& helper : helpers) helper = std::jthread(work);
  work();
}

void expect_frugal_one(const Compilation& compilation, int shared_bytes) {
  const KernelResources& resources = compilation.resources;
  const std::string what = compilation.kernel.id() + " on " + compilation.architecture;
  ASSERT_EQ(compilation.error, "") << what;
  const auto threads = static_cast<int>(compilation.kernel.parts().launch.threads_per_block);
  EXPECT_EQ(resources.spill_store_bytes, 0) << what;
  EXPECT_EQ(resources.spill_load_bytes, 0) << what;
  EXPECT_EQ(resources.local_bytes, 0) << what;
  EXPECT_LE(resources.shared_bytes, shared_bytes) << what;
  EXPECT_GT(resources.registers, 0) << what;
  EXPECT_LE(resources.registers * threads, kRegistersOfABlock) << what;
}

// Registers by architecture, and bytes of local memory where there is some; one line a kernel.
void print_table(const std::vector<Compilation>& compilations) {
  std::printf("%-55s", "registers");
  for (const char* architecture : kArchitectures) std::printf("%10s", architecture);
  for (std::size_t i = 0; i < compilations.size(); ++i) {
    if (i % kArchitectures.size() == 0) std::printf("\n%-55s", compilations[i].kernel.id().c_str());
    const KernelResources& resources = compilations[i].resources;
    std::string text = std::to_string(resources.registers);
    if (resources.local_bytes > 0) text += '+' + std::to_string(resources.local_bytes);
    std::printf("%10s", text.c_str());
  }
  std::printf("\n");
}

}  // namespace

void NvrtcTest::SetUp() {
  const std::string reason = missing_nvrtc();
  if (reason.empty()) return;
  ASSERT_FALSE(nvrtc_is_required()) << "LOSSGRAD_REQUIRE_NVRTC=1, but: " << reason;
  GTEST_SKIP() << reason;
}

void add(std::vector<Compilation>& compilations, const Kernel& kernel) {
  for (const char* architecture : kArchitectures) compilations.push_back({kernel, architecture});
}

std::size_t architecture_count() { return kArchitectures.size(); }

void expect_frugal(std::vector<Compilation> compilations, int shared_bytes) {
  compile_all(compilations);
  for (const Compilation& compilation : compilations) expect_frugal_one(compilation, shared_bytes);
  print_table(compilations);
}

}  // namespace lossgrad::kernel_resources
