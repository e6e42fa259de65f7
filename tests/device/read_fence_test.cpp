// SPDX-License-Identifier: Apache-2.0
// Under the address sanitizer (this test is built there alone) kernels are instrumented: a read outside of a
// buffer's fence ends the program, a write is left to the canaries, and transfers reach everything.
#include <gtest/gtest.h>

#include "host_kernels.hpp"

namespace lossgrad {
namespace {

constexpr std::size_t kElements = 100;
constexpr std::size_t kZone = 256;  // floats on either side

// One thread: out[0] = in[at].
const char* const kRead = R"(
extern "C" __global__ void read_entry_point(const float* in, float* out, int at) { out[0] = in[at]; }
)";
const char* const kWrite = R"(
extern "C" __global__ void write_entry_point(const float* in, float* out, int at) { out[at] = in[0]; }
)";

class ReadFence : public ::testing::Test {
 protected:
  ReadFence() : memory_(test::host_backend().allocate((kElements + 2 * kZone) * sizeof(float))) {
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    const std::vector<float> ones(kElements + 2 * kZone, 1.0f);
    test::host_backend().upload(*memory_, 0, std::as_bytes(std::span(ones)));
    test::host_backend().fence(*memory_, kZone * sizeof(float), kElements * sizeof(float));
  }
  void run(const std::string& name, const char* source, std::byte* in, std::byte* out, std::int32_t at) {
    const auto kernel = test::host_backend().load(test::make_kernel(name, source));
    test::launch(*kernel, {}, {in, out, at});
  }
  float read(std::int32_t at) {
    test::Buffer<float> out(1);
    run("read", kRead, begin(), std::get<std::byte*>(out.argument()), at);
    return out.read()[0];
  }
  [[nodiscard]] std::byte* begin() const { return memory_->address() + kZone * sizeof(float); }

  std::shared_ptr<DeviceMemory> memory_;
};

TEST_F(ReadFence, TheDataCanBeRead) {
  EXPECT_EQ(read(0), 1);
  EXPECT_EQ(read(kElements - 1), 1);
}

TEST_F(ReadFence, AReadBeyondEitherEndIsReported) {
  EXPECT_DEATH(read(kElements), "AddressSanitizer: use-after-poison.*READ of size 4");
  EXPECT_DEATH(read(kElements + kZone - 1), "AddressSanitizer: use-after-poison");
  EXPECT_DEATH(read(-1), "AddressSanitizer: use-after-poison");
}

TEST_F(ReadFence, AReadBeyondTheMemoryIsReported) {
  EXPECT_DEATH(read(kElements + kZone), "AddressSanitizer: heap-buffer-overflow");
}

TEST_F(ReadFence, AWriteIsLeftToTheCanaries) {
  test::Buffer<float> in(1, 5.0f);
  run("write", kWrite, std::get<std::byte*>(in.argument()), begin(), kElements);
  std::vector<float> all(kElements + 2 * kZone);
  test::host_backend().download(*memory_, 0, std::as_writable_bytes(std::span(all)));
  EXPECT_EQ(all[kZone + kElements], 5);
}

TEST_F(ReadFence, TransfersLeaveTheFenceAsItWas) {
  std::vector<float> zone(kZone);
  test::host_backend().download(*memory_, 0, std::as_writable_bytes(std::span(zone)));
  EXPECT_EQ(zone.back(), 1);
  EXPECT_DEATH(read(kElements), "AddressSanitizer: use-after-poison");
}

}  // namespace
}  // namespace lossgrad
