// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <functional>
#include <numeric>

#include <gmock/gmock.h>

#include "base/error.hpp"
#include "device/cuda/test_kernels.hpp"
#include "gpu/gpu_test.hpp"

namespace lossgrad {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Bytes = std::vector<std::byte>;

Bytes counting(std::size_t size, unsigned start = 0) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>((start + i * 7) & 0xff);
  return bytes;
}

Bytes pattern_of(std::size_t size) {
  Bytes pattern(size);
  for (std::size_t i = 0; i < size; ++i) pattern[i] = static_cast<std::byte>(0xa0 + i);
  return pattern;
}

Error error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorKind::internal, "no error"};
}

class CudaBackendTest : public GpuTest {
 protected:
  Bytes read(const DeviceMemory& memory) {
    Bytes bytes(memory.size());
    backend().download(memory, 0, bytes);
    return bytes;
  }
  std::shared_ptr<DeviceMemory> memory_with(std::span<const std::byte> bytes) {
    auto memory = backend().allocate(bytes.size());
    backend().upload(*memory, 0, bytes);
    return memory;
  }
  template <typename T>
  std::shared_ptr<DeviceMemory> memory_with_values(const std::vector<T>& values) {
    return memory_with(std::as_bytes(std::span(values)));
  }
  template <typename T>
  std::vector<T> read_values(const DeviceMemory& memory) {
    std::vector<T> values(memory.size() / sizeof(T));
    backend().download(memory, 0, std::as_writable_bytes(std::span(values)));
    return values;
  }
  void launch(const Kernel& kernel, std::int64_t n, const std::vector<LaunchArgument>& arguments) {
    const auto loaded = backend().load(kernel);
    backend().launch(*loaded, kernel.launch_shape({{"N", n}}), arguments, {});
    backend().synchronize();
  }
};

TEST_F(CudaBackendTest, DescribesTheDevice) {
  const DeviceDescription& device = backend().device();
  EXPECT_EQ(backend().name(), "cuda");
  EXPECT_FALSE(device.name.empty());
  EXPECT_THAT(device.architecture, ::testing::StartsWith("sm_"));
  EXPECT_GT(device.memory_bytes, 0);
  EXPECT_GT(device.multiprocessors, 0);
  EXPECT_THAT(device.driver_version, HasSubstr("."));
  EXPECT_THAT(device.compiler, ::testing::StartsWith("NVRTC "));
}

TEST_F(CudaBackendTest, UploadAndDownloadAtOddOffsets) {
  for (const std::size_t offset : {0U, 1U, 3U, 127U}) {
    for (const std::size_t size : {0U, 1U, 5U, 1000U}) {
      Bytes expected = counting(1200);
      const auto memory = memory_with(expected);
      const Bytes part = counting(size, 99);
      backend().upload(*memory, offset, part);
      std::copy(part.begin(), part.end(), expected.begin() + static_cast<std::ptrdiff_t>(offset));
      EXPECT_EQ(read(*memory), expected) << offset << " " << size;
      Bytes again(size);
      backend().download(*memory, offset, again);
      EXPECT_EQ(again, part) << offset << " " << size;
    }
  }
}

TEST_F(CudaBackendTest, CopyAtOddOffsets) {
  const Bytes source = counting(1000);
  Bytes expected = counting(1000, 50);
  const auto from = memory_with(source);
  const auto to = memory_with(expected);
  backend().copy(*to, 13, *from, 101, 777);
  std::copy_n(source.begin() + 101, 777, expected.begin() + 13);
  EXPECT_EQ(read(*to), expected);
  backend().copy(*to, 0, *to, 500, 500);  // within one buffer
  std::copy_n(expected.begin() + 500, 500, expected.begin());
  EXPECT_EQ(read(*to), expected);
}

TEST_F(CudaBackendTest, FillWithEveryPatternSize) {
  for (const std::size_t width : {1U, 2U, 4U, 8U}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{9}, std::size_t{300001}}) {
      for (const std::size_t offset : {0U, 1U, 8U, 33U}) {
        const std::size_t bytes = width * count;
        Bytes expected = counting(offset + bytes + 17);
        const auto memory = memory_with(expected);
        const Bytes pattern = pattern_of(width);
        backend().fill(*memory, offset, bytes, pattern);
        for (std::size_t i = 0; i < bytes; ++i) expected[offset + i] = pattern[i % width];
        ASSERT_EQ(read(*memory), expected) << width << " " << count << " " << offset;
      }
    }
  }
}

TEST_F(CudaBackendTest, FillWithEqualBytes) {
  const auto memory = memory_with(counting(101));
  backend().fill(*memory, 1, 96, Bytes(8, std::byte{0xff}));
  Bytes expected = counting(101);
  std::fill_n(expected.begin() + 1, 96, std::byte{0xff});
  EXPECT_EQ(read(*memory), expected);
}

TEST_F(CudaBackendTest, RangesAreChecked) {
  const auto memory = backend().allocate(100);
  Bytes bytes(60);
  for (const auto& work : std::vector<std::function<void()>>{
           [&] { backend().upload(*memory, 41, bytes); }, [&] { backend().download(*memory, 101, bytes); },
           [&] { backend().fill(*memory, 99, 2, pattern_of(2)); },
           [&] { backend().fill(*memory, 0, 3, pattern_of(2)); },
           [&] { backend().copy(*memory, 0, *memory, 60, 41); },
           [&] { backend().copy(*memory, 0, *memory, 10, 20); }}) {
    EXPECT_EQ(error_of(work).kind(), ErrorKind::internal);
  }
  EXPECT_EQ(backend().allocate(0)->size(), 0U);
}

TEST_F(CudaBackendTest, LaunchesWithScalarsAndLeavesTheRestAlone) {
  constexpr std::int32_t kCount = 1000;
  std::vector<float> x(1024);
  std::vector<float> y(1024, 1.0F);
  std::iota(x.begin(), x.end(), 0.0F);
  const auto x_memory = memory_with_values(x);
  const auto y_memory = memory_with_values(y);
  launch(saxpy_kernel(), kCount, {x_memory->address(), y_memory->address(), kCount, 2.5F});
  const std::vector<float> result = read_values<float>(*y_memory);
  for (std::size_t i = 0; i < result.size(); ++i) {
    EXPECT_EQ(result[i], i < kCount ? 2.5F * x[i] + 1.0F : 1.0F) << i;
  }
}

TEST_F(CudaBackendTest, LaunchesSixteenBitKernels) {
  for (const Dtype dtype : {Dtype::f16, Dtype::bf16}) {
    const std::vector<double> values = {0.0, 1.0, -1.5, 3.25, 100.0, 0.125, -64.0};
    Bytes bytes(values.size() * 2);
    encode(dtype, values, bytes);
    const auto x = memory_with(bytes);
    const auto y = backend().allocate(bytes.size());
    launch(twice_kernel(dtype), 7, {x->address(), y->address(), std::int32_t{7}});
    std::vector<double> result(values.size());
    decode(dtype, read(*y), result);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(result[i], 2 * values[i]) << name(dtype) << " " << i;
  }
}

TEST_F(CudaBackendTest, EmptyGridDoesNothing) {
  const auto memory = memory_with_values(std::vector<float>(4, 1.0F));
  launch(saxpy_kernel(), 0, {memory->address(), memory->address(), std::int32_t{0}, 2.0F});
  EXPECT_EQ(read_values<float>(*memory), std::vector<float>(4, 1.0F));
}

TEST_F(CudaBackendTest, WrongLaunchesAreNamed) {
  const auto memory = backend().allocate(4096);
  const auto kernel = backend().load(saxpy_kernel());
  const std::vector<LaunchArgument> arguments = {memory->address(), memory->address(), std::int32_t{4}, 2.0F};
  const std::vector<LaunchArgument> swapped = {memory->address(), memory->address(), 2.0F, std::int32_t{4}};
  LaunchShape wide;
  wide.block = {2048, 1, 1};
  const Error too_wide = error_of([&] { backend().launch(*kernel, wide, arguments, {}); });
  EXPECT_EQ(too_wide.kind(), ErrorKind::device);
  EXPECT_THAT(too_wide.what(), AllOf(HasSubstr("saxpy__f32"), HasSubstr("2048"), HasSubstr("1024")));
  LaunchShape greedy;
  greedy.shared_bytes = std::size_t{1} << 30;
  EXPECT_EQ(error_of([&] { backend().launch(*kernel, greedy, arguments, {}); }).kind(), ErrorKind::device);
  EXPECT_EQ(error_of([&] { backend().launch(*kernel, {}, swapped, {}); }).kind(), ErrorKind::internal);
  EXPECT_EQ(error_of([&] { backend().launch(*kernel, {}, std::span(arguments).first(3), {}); }).kind(),
            ErrorKind::internal);
  EXPECT_NO_THROW(launch(saxpy_kernel(), 4, arguments));  // none of it harms the device
}

// More dynamic shared memory than kernels get without asking.
TEST_F(CudaBackendTest, LargeDynamicSharedMemory) {
  const Kernel kernel = make_kernel("shared", Dtype::f32, "extern __shared__ float staging[];",
                                    "extern \"C\" __global__ void shared_entry_point(float* y) {\n"
                                    "  staging[15000 + threadIdx.x] = threadIdx.x;\n"
                                    "  __syncthreads();\n"
                                    "  y[threadIdx.x] = staging[15031 - threadIdx.x];\n}\n",
                                    {{"y", ArgumentRole::output, {"32"}}});
  const auto y = backend().allocate(32 * sizeof(float));
  const auto loaded = backend().load(kernel);
  LaunchShape shape;
  shape.block = {32, 1, 1};
  shape.shared_bytes = 15032 * sizeof(float);
  backend().launch(*loaded, shape, std::vector<LaunchArgument>{y->address()}, {});
  const std::vector<float> result = read_values<float>(*y);
  for (std::size_t i = 0; i < result.size(); ++i) EXPECT_EQ(result[i], 31.0F - static_cast<float>(i));
}

TEST_F(CudaBackendTest, LoadAllKeepsTheOrder) {
  const std::vector<Kernel> kernels = {twice_kernel(Dtype::bf16), saxpy_kernel(), twice_kernel(Dtype::f16)};
  const auto loaded = backend().load_all(kernels);
  ASSERT_EQ(loaded.size(), kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) EXPECT_EQ(loaded[i]->id(), kernels[i].id());
  EXPECT_EQ(backend().load(saxpy_kernel())->content_hash(), loaded[1]->content_hash());
}

TEST_F(CudaBackendTest, OutOfMemorySaysHowMuch) {
  const std::size_t asked = std::size_t{1} << 50;
  const Error error = error_of([&] { static_cast<void>(backend().allocate(asked)); });
  EXPECT_EQ(error.kind(), ErrorKind::device);
  EXPECT_THAT(error.what(),
              AllOf(HasSubstr("1125899906842624 bytes"), HasSubstr("asked for"), HasSubstr("free")));
  EXPECT_EQ(backend().allocate(16)->size(), 16U);
}

TEST_F(CudaBackendTest, MemoryMayOutliveItsBackend) {
  std::shared_ptr<DeviceMemory> memory;
  std::shared_ptr<LoadedKernel> kernel;
  {
    const auto other = open_cuda_backend(0);
    memory = other->allocate(1000);
    kernel = other->load(saxpy_kernel());
  }
  memory.reset();
  kernel.reset();
  EXPECT_NO_THROW(backend().synchronize());
}

TEST_F(CudaBackendTest, TimeGrowsWithTheWork) {
  const std::size_t bytes = std::size_t{256} << 20;
  const auto from = backend().allocate(bytes);
  const auto to = backend().allocate(bytes);
  const auto copy = [&](std::size_t part) { backend().copy(*to, 0, *from, 0, part); };
  copy(bytes);
  const double small_us = backend().time_us([&] { copy(bytes / 64); });
  const double large_us = backend().time_us([&] { copy(bytes); });
  EXPECT_GT(small_us, 0);
  EXPECT_GT(large_us, small_us);
  RecordProperty("copy_gb_per_s", std::to_string(2.0 * static_cast<double>(bytes) / large_us / 1000));
}

}  // namespace
}  // namespace lossgrad
