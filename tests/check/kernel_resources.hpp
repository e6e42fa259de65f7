// SPDX-License-Identifier: Apache-2.0
// What built-in kernels use on every architecture that the tests look at.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "device/backend.hpp"
#include "kernel/kernel.hpp"

namespace lossgrad::kernel_resources {

// Fixture of tests that need NVRTC, not a GPU: skipped with the reason where there is none, failed instead
// under LOSSGRAD_REQUIRE_NVRTC=1.
class NvrtcTest : public ::testing::Test {
 protected:
  void SetUp() override;
};

struct Compilation {
  Kernel kernel;
  std::string architecture;
  KernelResources resources = {};
  std::string error = {};
};

// A compilation of the kernel for each architecture.
void add(std::vector<Compilation>& compilations, const Kernel& kernel);
std::size_t architecture_count();

// Compiles them all and prints their registers. Expects of each: no spills, no local memory, at most
// `shared_bytes` of shared memory, and that a block fits a multiprocessor.
void expect_frugal(std::vector<Compilation> compilations, int shared_bytes);

}  // namespace lossgrad::kernel_resources
