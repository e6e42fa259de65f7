// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/resource_log.hpp"

#include <gtest/gtest.h>

namespace lossgrad {
namespace {

TEST(ResourceLog, SimpleKernel) {
  const KernelResources resources = parse_resource_log(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
      "ptxas info    : Function properties for k\n"
      "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers\n");
  EXPECT_EQ(resources.registers, 8);
  EXPECT_EQ(resources.shared_bytes, 0);
  EXPECT_EQ(resources.local_bytes, 0);
  EXPECT_EQ(resources.spill_store_bytes, 0);
  EXPECT_EQ(resources.spill_load_bytes, 0);
}

TEST(ResourceLog, CalledFunctionsCount) {
  const KernelResources resources = parse_resource_log(
      "ptxas info    : Function properties for k\n"
      "ptxas         .     8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads\n"
      "ptxas info    : Used 24 registers, used 1 barriers, 232 bytes cumulative stack size, 40 bytes smem\n"
      "ptxas info    : Function properties for helper\n"
      "ptxas         .     224 bytes stack frame, 4 bytes spill stores, 20 bytes spill loads\n");
  EXPECT_EQ(resources.registers, 24);
  EXPECT_EQ(resources.shared_bytes, 40);
  EXPECT_EQ(resources.local_bytes, 232);
  EXPECT_EQ(resources.spill_store_bytes, 16);
  EXPECT_EQ(resources.spill_load_bytes, 36);
}

TEST(ResourceLog, WhatTheLogDoesNotSayIsUnknown) {
  for (const char* log : {"", "\n\n", " bytes stack frame", " registers", "k.cu(1): warning: something"}) {
    const KernelResources resources = parse_resource_log(log);
    EXPECT_EQ(resources.registers, -1) << log;
    EXPECT_EQ(resources.local_bytes, -1) << log;
    EXPECT_EQ(resources.spill_store_bytes, -1) << log;
  }
}

TEST(ResourceLog, FirstErrorLine) {
  EXPECT_EQ(first_error_line("k.cu(1): warning: w\n  text\nk.cu(2): error: bad\nk.cu(3): error: worse\n"),
            "k.cu(2): error: bad");
  EXPECT_EQ(first_error_line("\n  \nno such option"), "no such option");
  EXPECT_EQ(first_error_line("k.cu(1): catastrophic error: cannot open source file \"x.h\""),
            "k.cu(1): catastrophic error: cannot open source file \"x.h\"");
  EXPECT_EQ(first_error_line(""), "");
}

}  // namespace
}  // namespace lossgrad
