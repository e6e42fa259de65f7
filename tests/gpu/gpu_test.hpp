// SPDX-License-Identifier: Apache-2.0
// Fixture of tests that need a GPU: skipped with the reason where there is none, failed instead when the
// environment has LOSSGRAD_REQUIRE_GPU=1.
#pragma once

#include <cstdlib>
#include <memory>
#include <string_view>

#include <gtest/gtest.h>

#include "device/cuda/cuda_backend.hpp"

namespace lossgrad {

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const BackendStatus status = cuda_status();
    if (status.available) {
      backend_ = open_cuda_backend(0);
      return;
    }
    const char* required = std::getenv("LOSSGRAD_REQUIRE_GPU");
    if (required != nullptr && std::string_view(required) == "1") {
      FAIL() << "LOSSGRAD_REQUIRE_GPU=1, but: " << status.reason;
    }
    GTEST_SKIP() << status.reason;
  }

  [[nodiscard]] Backend& backend() { return *backend_; }

 private:
  std::unique_ptr<Backend> backend_;
};

}  // namespace lossgrad
