// SPDX-License-Identifier: Apache-2.0
// Built-in cosine kernels on every architecture: no spills and no local memory (but for blocks of 1024
// threads), and a block fits a multiprocessor. Needs NVRTC, not a GPU: skipped with the reason where there is
// none, failed instead under LOSSGRAD_REQUIRE_NVRTC=1.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device/backend.hpp"
#include "losses/loss.hpp"

namespace lossgrad {
namespace {

constexpr std::array kArchitectures = {"sm_75", "sm_80", "sm_89", "sm_90", "sm_100", "sm_120"};
constexpr std::array kBlocks = {1, 32, 512, 4096, 65536};
constexpr int kBlockOfOtherConventions = 512;
constexpr int kRegistersOfABlock = 65536;
constexpr int kSharedBytesOfABlock = 48 * 1024;
constexpr unsigned kMostCompilersAtOnce = 16;  // bounds the memory where there are many cores

struct Compilation {
  Kernel kernel;
  std::string architecture;
  KernelResources resources;
  std::string error;
};

void add(std::vector<Compilation>& compilations, const KernelOptions& options) {
  const Kernel kernel = find_loss("cosine").kernel(options);
  for (const char* architecture : kArchitectures) compilations.push_back({kernel, architecture, {}, {}});
}

std::vector<Compilation> compilations_of(Pass pass, Dtype dtype) {
  std::vector<Compilation> compilations;
  for (const NamedChoice& convention : find_loss("cosine").conventions()) {
    if (convention.name != "exact") {
      add(compilations, {pass, dtype, convention.name, kBlockOfOtherConventions, {}});
      continue;
    }
    for (const int block : kBlocks) add(compilations, {pass, dtype, convention.name, block, {}});
  }
  return compilations;
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

// Why NVRTC cannot be used; empty when it can.
std::string missing_nvrtc() {
  try {
    (void)cuda_resources(find_loss("cosine").kernel({Pass::forward, Dtype::f32, "exact", 1, {}}), "sm_90");
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::device) return error.what();
  }
  return "";
}

bool nvrtc_is_required() {
  const char* value = std::getenv("LOSSGRAD_REQUIRE_NVRTC");
  return value != nullptr && std::string_view(value) == "1";
}

void expect_frugal(const Compilation& compilation) {
  const KernelResources& resources = compilation.resources;
  const std::string what = compilation.kernel.id() + " on " + compilation.architecture;
  ASSERT_EQ(compilation.error, "") << what;
  const auto threads = static_cast<int>(compilation.kernel.parts().launch.threads_per_block);
  EXPECT_LE(resources.shared_bytes, kSharedBytesOfABlock) << what;
  EXPECT_GT(resources.registers, 0) << what;
  EXPECT_LE(resources.registers * threads, kRegistersOfABlock) << what;
  EXPECT_EQ(resources.spill_store_bytes, 0) << what;
  EXPECT_EQ(resources.spill_load_bytes, 0) << what;
  EXPECT_EQ(resources.local_bytes, 0) << what;
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

struct Group {
  Pass pass;
  Dtype dtype;
};
std::string group_name(const testing::TestParamInfo<Group>& info) {
  return std::string(name(info.param.pass)) + '_' + std::string(name(info.param.dtype));
}

class CosineResources : public testing::TestWithParam<Group> {};

TEST_P(CosineResources, NoSpillsNoLocalMemory) {
  if (const std::string reason = missing_nvrtc(); !reason.empty()) {
    ASSERT_FALSE(nvrtc_is_required()) << "LOSSGRAD_REQUIRE_NVRTC=1, but: " << reason;
    GTEST_SKIP() << reason;
  }
  std::vector<Compilation> compilations = compilations_of(GetParam().pass, GetParam().dtype);
  EXPECT_EQ(compilations.size(), (kBlocks.size() + 4) * kArchitectures.size());
  compile_all(compilations);
  for (const Compilation& compilation : compilations) expect_frugal(compilation);
  print_table(compilations);
}

std::vector<Group> groups() {
  std::vector<Group> all;
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    for (const Dtype dtype : kAllDtypes) all.push_back({pass, dtype});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Kernels, CosineResources, testing::ValuesIn(groups()), group_name);

}  // namespace
}  // namespace lossgrad
