// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel.hpp"

#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace lossgrad {
namespace {

Kernel::Parts parts_with(std::uint32_t items_per_block, std::uint32_t threads) {
  Kernel::Parts parts;
  parts.name = "scale";
  parts.dtype = Dtype::f32;
  parts.constants = {{"block_n", 256}, {"block_size", 64}};
  parts.variants = {"torchvision"};
  parts.kernel_source = "body";
  parts.entry_point_source = "wrapper";
  parts.arguments = {{"x", ArgumentRole::input, {"N"}}, {"N", ArgumentRole::size, {}}};
  parts.launch = {"N", items_per_block, threads};
  return parts;
}

ErrorKind kind_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.kind();
  }
  ADD_FAILURE() << "no error";
  return ErrorKind::data;
}

TEST(Kernel, NamesAndText) {
  const Kernel kernel(parts_with(256, 256));
  EXPECT_EQ(kernel.id(), "scale__f32__256__64__torchvision");
  EXPECT_EQ(kernel.entry_point_name(), "scale_entry_point");
  EXPECT_EQ(kernel.source(), "body\n\nwrapper");
  EXPECT_EQ(kernel.constant("block_size"), 64);
  EXPECT_EQ(kind_of([&] { (void)kernel.constant("block"); }), ErrorKind::internal);
}

TEST(Kernel, OtherSourceChangesNothingElse) {
  const Kernel kernel(parts_with(256, 256));
  const Kernel other = kernel.with_kernel_source("other");
  EXPECT_EQ(other.source(), "other\n\nwrapper");
  EXPECT_EQ(other.id(), kernel.id());
  EXPECT_EQ(other.arguments().size(), kernel.arguments().size());
  EXPECT_EQ(kernel.kernel_source(), "body");
}

TEST(LaunchShape, GridCoversEveryItem) {
  const Kernel kernel(parts_with(256, 128));
  const auto blocks = [&](std::int64_t items) { return kernel.launch_shape({{"N", items}}).grid[0]; };
  EXPECT_EQ(blocks(0), 0u);
  EXPECT_EQ(blocks(1), 1u);
  EXPECT_EQ(blocks(255), 1u);
  EXPECT_EQ(blocks(256), 1u);
  EXPECT_EQ(blocks(257), 2u);
  EXPECT_EQ(blocks(2147483647), 8388608u);
  const LaunchShape shape = kernel.launch_shape({{"N", 1000}});
  EXPECT_EQ(shape.grid, (std::array<std::uint32_t, 3>{4, 1, 1}));
  EXPECT_EQ(shape.block, (std::array<std::uint32_t, 3>{128, 1, 1})) << "threads are not items";
  EXPECT_EQ(shape.shared_bytes, 0u);
}

TEST(LaunchShape, EmptyGrid) {
  const Kernel kernel(parts_with(256, 256));
  EXPECT_TRUE(kernel.launch_shape({{"N", 0}}).empty());
  EXPECT_FALSE(kernel.launch_shape({{"N", 1}}).empty());
  EXPECT_TRUE((LaunchShape{{1, 0, 1}, {1, 1, 1}, 0}).empty());
  EXPECT_TRUE((LaunchShape{{1, 1, 0}, {1, 1, 1}, 0}).empty());
  EXPECT_FALSE(LaunchShape{}.empty());
}

TEST(LaunchShape, LimitOfTheGrid) {
  const Kernel one_each(parts_with(1, 32));
  EXPECT_EQ(one_each.launch_shape({{"N", 2147483647}}).grid[0], 2147483647u);
  EXPECT_EQ(kind_of([&] { (void)one_each.launch_shape({{"N", 2147483648}}); }), ErrorKind::usage);
  const Kernel wide(parts_with(1024, 1024));
  EXPECT_EQ(wide.launch_shape({{"N", 2147483647ll * 1024}}).grid[0], 2147483647u);
  EXPECT_EQ(kind_of([&] { (void)wide.launch_shape({{"N", 2147483647ll * 1024 + 1}}); }), ErrorKind::usage);
}

TEST(LaunchShape, MissingSizeIsADefect) {
  const Kernel kernel(parts_with(256, 256));
  EXPECT_EQ(kind_of([&] { (void)kernel.launch_shape({{"M", 4}}); }), ErrorKind::internal);
}

TEST(KernelHash, TextCannotMoveBetweenBodyAndWrapper) {
  const BuildTarget target{"c++", "12.2", "x86_64", {"-O3"}};
  Kernel::Parts one = parts_with(256, 256), other = one, third = one;
  one.kernel_source = "a", one.entry_point_source = "bc";
  other.kernel_source = "ab", other.entry_point_source = "c";
  third.constants = {{"block_n", 2566}, {"block_size", 4}};
  std::set<std::string> hashes;
  for (const Kernel::Parts& parts : {one, other, third}) hashes.insert(Kernel(parts).content_hash(target));
  EXPECT_EQ(hashes.size(), 3u);
}

TEST(KernelHash, OptionsAreKeptApart) {
  const Kernel kernel(parts_with(256, 256));
  std::set<std::string> hashes;
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, {""}, {"-a", "-b"}, {"-a-b"}, {"-b", "-a"}, {"-a", "", "-b"}}) {
    hashes.insert(kernel.content_hash({"c++", "12.2", "x86_64", options}));
  }
  EXPECT_EQ(hashes.size(), 6u);
}

}  // namespace
}  // namespace lossgrad
