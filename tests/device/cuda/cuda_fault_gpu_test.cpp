// SPDX-License-Identifier: Apache-2.0
// Kernels that fault. The first fault ends this process's use of the device, so everything is one test, alone
// in its executable.
#include <functional>

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "device/cuda/test_kernels.hpp"
#include "gpu/gpu_test.hpp"

namespace lossgrad {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    return error.what();
  }
  return "no error";
}

class CudaFaultTest : public GpuTest {};

TEST_F(CudaFaultTest, IllegalAccessNamesTheKernelAndEndsTheDevice) {
  const auto memory = backend().allocate(4096);
  const auto good = backend().load(twice_kernel(Dtype::f16));
  const auto kernel = backend().load(saxpy_kernel());
  LaunchShape shape;
  shape.block = {32, 1, 1};
  const std::vector<LaunchArgument> right = {memory->address(), memory->address(), std::int32_t{32}};
  backend().launch(*good, shape, right, {});
  backend().synchronize();

  auto* nowhere = reinterpret_cast<std::byte*>(std::uintptr_t{256});
  const std::vector<LaunchArgument> wrong = {memory->address(), nowhere, std::int32_t{32}, 1.0F};
  const std::string message = message_of([&] {
    backend().launch(*kernel, shape, wrong, {});
    backend().synchronize();
  });
  // Kernels that were synchronised before are not blamed.
  EXPECT_THAT(message, AllOf(HasSubstr("kernel saxpy__f32"), HasSubstr("cudaErrorIllegalAddress"),
                             HasSubstr("illegal memory access"), HasSubstr("cannot be used any more"),
                             Not(HasSubstr("twice")), Not(HasSubstr("\n"))));

  std::vector<std::byte> bytes(16);
  for (const auto& later : std::vector<std::function<void()>>{
           [&] { static_cast<void>(backend().allocate(16)); }, [&] { backend().download(*memory, 0, bytes); },
           [&] { backend().launch(*good, shape, right, {}); }, [&] { backend().synchronize(); },
           [&] { backend().time_us([] {}); }}) {
    EXPECT_THAT(message_of(later), AllOf(HasSubstr("cannot be used any more"), HasSubstr("kernel saxpy__f32"),
                                         HasSubstr("illegal memory access")));
  }
}

}  // namespace
}  // namespace lossgrad
