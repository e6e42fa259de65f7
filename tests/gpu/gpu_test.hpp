// SPDX-License-Identifier: Apache-2.0
// Tests that need a GPU: skipped with the reason where there is none, failed instead when the environment has
// LOSSGRAD_REQUIRE_GPU=1.
#pragma once

#include <cstdlib>
#include <memory>
#include <string_view>

#include <gtest/gtest.h>

#include "device/cuda/cuda_backend.hpp"

namespace lossgrad {

// The GPU, or nullptr after the running test was ended as the environment asks for.
inline std::unique_ptr<Backend> gpu_or_end() {
  const BackendStatus status = cuda_status();
  if (status.available) return open_cuda_backend(0);
  const char* required = std::getenv("LOSSGRAD_REQUIRE_GPU");
  const auto end = [&] {
    if (required != nullptr && std::string_view(required) == "1")
      FAIL() << "LOSSGRAD_REQUIRE_GPU=1, but: " << status.reason;
    GTEST_SKIP() << status.reason;
  };
  end();
  return nullptr;
}

class GpuTest : public ::testing::Test {
 protected:
  void SetUp() override { backend_ = gpu_or_end(); }

  [[nodiscard]] Backend& backend() { return *backend_; }

 private:
  std::unique_ptr<Backend> backend_;
};

}  // namespace lossgrad
