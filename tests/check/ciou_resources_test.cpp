// SPDX-License-Identifier: Apache-2.0
// Every built-in CIoU kernel on every architecture: no spills, no local memory, and a block fits a
// multiprocessor. Needs NVRTC, not a GPU: skipped with the reason where there is none, failed instead under
// LOSSGRAD_REQUIRE_NVRTC=1.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <span>
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
constexpr std::array kBlocks = {32, 256, 1024};
// Of the kernels of other conventions, which differ in details: the one with fewest registers a thread.
constexpr std::array kBlocksOfOtherConventions = {1024};
constexpr int kRegistersOfABlock = 65536;
constexpr unsigned kMostCompilersAtOnce = 16;  // bounds the memory where there are many cores

struct Compilation {
  Kernel kernel;
  std::string architecture;
  int block;
  KernelResources resources;
  std::string error;
};

std::span<const int> blocks_of(const std::string& convention) {
  if (convention == "yolo" || convention == "torchvision") return kBlocks;
  return kBlocksOfOtherConventions;
}

std::vector<Compilation> all_compilations() {
  std::vector<Compilation> compilations;
  const Loss& ciou = find_loss("ciou");
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    for (const Dtype dtype : kAllDtypes) {
      for (const NamedChoice& convention : ciou.conventions()) {
        for (const int block : blocks_of(convention.name)) {
          const Kernel kernel = ciou.kernel({pass, dtype, convention.name, block});
          for (const char* architecture : kArchitectures)
            compilations.push_back({kernel, architecture, block, {}, {}});
        }
      }
    }
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
    (void)cuda_resources(find_loss("ciou").kernel({Pass::forward, Dtype::f32, "yolo", 32}), "sm_90");
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
  EXPECT_EQ(resources.spill_store_bytes, 0) << what;
  EXPECT_EQ(resources.spill_load_bytes, 0) << what;
  EXPECT_EQ(resources.local_bytes, 0) << what;
  EXPECT_EQ(resources.shared_bytes, 0) << what;
  EXPECT_GT(resources.registers, 0) << what;
  EXPECT_LE(resources.registers * compilation.block, kRegistersOfABlock) << what;
}

// Registers by architecture; one line a kernel.
void print_table(const std::vector<Compilation>& compilations) {
  std::printf("%-50s", "registers");
  for (const char* architecture : kArchitectures) std::printf("%8s", architecture);
  for (std::size_t i = 0; i < compilations.size(); ++i) {
    if (i % kArchitectures.size() == 0) std::printf("\n%-50s", compilations[i].kernel.id().c_str());
    std::printf("%8d", compilations[i].resources.registers);
  }
  std::printf("\n");
}

TEST(CiouResources, NoSpillsNoLocalMemoryOnAnyArchitecture) {
  if (const std::string reason = missing_nvrtc(); !reason.empty()) {
    ASSERT_FALSE(nvrtc_is_required()) << "LOSSGRAD_REQUIRE_NVRTC=1, but: " << reason;
    GTEST_SKIP() << reason;
  }
  std::vector<Compilation> compilations = all_compilations();
  EXPECT_EQ(compilations.size(), 2u * 4 * (2 * kBlocks.size() + 4) * kArchitectures.size());
  compile_all(compilations);
  for (const Compilation& compilation : compilations) expect_frugal(compilation);
  print_table(compilations);
}

}  // namespace
}  // namespace lossgrad
