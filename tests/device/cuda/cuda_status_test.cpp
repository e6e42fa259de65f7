// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "device/cuda/cuda_backend.hpp"
#include "device/cuda/cuda_device.hpp"

namespace lossgrad {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(CudaStatus, SaysWhyNotOrListsDevices) {
  const BackendStatus status = cuda_status();
  EXPECT_EQ(status.kind, BackendKind::cuda);
  EXPECT_EQ(status.available, status.reason.empty());
  EXPECT_EQ(status.available, !status.devices.empty());
  if (status.available) {
    EXPECT_THAT(status.devices[0].architecture, ::testing::StartsWith("sm_"));
    EXPECT_GT(status.devices[0].memory_bytes, 0);
    EXPECT_THAT(status.devices[0].compiler, ::testing::StartsWith("NVRTC "));
    return;
  }
  EXPECT_THAT(status.reason, AnyOf(HasSubstr("no NVIDIA driver found (cuda"), HasSubstr("NVIDIA driver"),
                                   HasSubstr("NVRTC not found")));
  EXPECT_THAT(status.reason, Not(HasSubstr("\n")));
}

TEST(CudaStatus, OpeningFailsWithTheSameReason) {
  const BackendStatus status = cuda_status();
  try {
    static_cast<void>(open_cuda_backend(status.available ? 1000 : 0));
    FAIL() << "opened a device that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_THAT(error.what(), HasSubstr(status.available ? "no CUDA device 1000" : status.reason));
  }
}

class LaunchLimitsTest : public ::testing::Test {
 protected:
  static std::string problem(std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block,
                             std::size_t shared_bytes = 0) {
    LaunchLimits limits;
    limits.threads_per_block = 1024;
    limits.block = {1024, 1024, 64};
    limits.grid = {2147483647, 65535, 65535};
    limits.shared_bytes_opt_in = 232448;
    return launch_shape_problem({grid, block, shared_bytes}, limits);
  }
};

TEST_F(LaunchLimitsTest, ShapesAtTheLimitFit) {
  EXPECT_EQ(problem({2147483647, 65535, 65535}, {1024, 1, 1}, 232448), "");
  EXPECT_EQ(problem({1, 1, 1}, {16, 1, 64}), "");
}

TEST_F(LaunchLimitsTest, ShapesBeyondAreNamed) {
  EXPECT_EQ(problem({1, 65536, 1}, {1, 1, 1}), "number of blocks in y is 65536, the device's limit is 65535");
  EXPECT_EQ(problem({1, 1, 1}, {2048, 1, 1}), "block size in x is 2048, the device's limit is 1024");
  EXPECT_EQ(problem({1, 1, 1}, {64, 32, 1}), "threads per block is 2048, the device's limit is 1024");
  EXPECT_EQ(problem({1, 1, 1}, {0, 1, 1}), "the block has no threads");
  EXPECT_EQ(problem({1, 1, 1}, {1, 1, 1}, 300000),
            "shared memory in bytes is 300000, the device's limit is 232448");
}

}  // namespace
}  // namespace lossgrad
