// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <limits>
#include <set>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "losses/cosine/cosine_kernel.hpp"

namespace lossgrad {
namespace {

using Forward = CosineEmbeddingLossForward;
using Backward = CosineEmbeddingLossBackward;

std::string joined_arguments(const Kernel& kernel) {
  std::string text;
  for (const Argument& argument : kernel.arguments()) text += (text.empty() ? "" : ",") + argument.name;
  return text;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CosineKernel, NamesAreTheAbi) {
  const Forward forward(Dtype::f32, 256);
  const Backward backward(Dtype::bf16, 1);
  EXPECT_EQ(forward.name(), "cosine_embedding_loss_forward");
  EXPECT_EQ(forward.id(), "cosine_embedding_loss_forward__f32__256");
  EXPECT_EQ(forward.entry_point_name(), "cosine_embedding_loss_forward_entry_point");
  EXPECT_EQ(forward.block_size(), 256);
  EXPECT_EQ(joined_arguments(forward), "x1,x2,y,loss,n_rows,n_dim,margin");
  EXPECT_EQ(backward.name(), "cosine_embedding_loss_backward");
  EXPECT_EQ(backward.id(), "cosine_embedding_loss_backward__bf16__1");
  EXPECT_EQ(backward.constant("block_size"), 1);
  EXPECT_EQ(joined_arguments(backward), "dy,x1,x2,y,dx1,dx2,n_rows,n_dim,margin");
  EXPECT_EQ(backward.source(), backward.kernel_source() + "\n\n" + backward.entry_point_source());
}

TEST(CosineKernel, RolesAndShapesOfTheArguments) {
  const Sizes sizes = {{"n_rows", 7}, {"n_dim", 5}};
  for (const Kernel& kernel :
       {static_cast<Kernel>(Forward(Dtype::f16, 8)), static_cast<Kernel>(Backward(Dtype::f16, 8))}) {
    for (const Argument& argument : kernel.arguments()) {
      const bool matrix = argument.name.find('x') != std::string::npos;
      if (argument.is_array()) {
        EXPECT_EQ(element_count(argument, sizes), matrix ? 35 : 7) << argument.name;
      }
      const bool result = argument.name == "loss" || argument.name == "dx1" || argument.name == "dx2";
      EXPECT_EQ(is_written(argument, kernel.pass()), result) << argument.name;
      EXPECT_EQ(argument.allowed.empty(), argument.name != "y") << argument.name;
      if (argument.name == "margin") {
        EXPECT_EQ(name(argument.role), "parameter");
      }
      if (argument.name == "y") {
        EXPECT_EQ(name(argument.role), "constant");
      }
      if (argument.name == "dy") {
        EXPECT_EQ(name(argument.role), "upstream");
      }
    }
  }
}

TEST(CosineKernel, TheEntryPointFillsInWhatIsFixed) {
  const std::string text = Backward(Dtype::f16, 1024, find_cosine_rule("torch")).entry_point_source();
  EXPECT_TRUE(contains(text, "extern \"C\" __global__ void __launch_bounds__(128, 1)\n")) << text;
  EXPECT_TRUE(contains(text, "cosine_embedding_loss_backward_entry_point(")) << text;
  EXPECT_TRUE(contains(text, "const __half* __restrict__ dy, const __half* __restrict__ x1")) << text;
  EXPECT_TRUE(contains(text, "const __half* __restrict__ y")) << text;
  for (const char* written : {"dx1", "dx2"}) {
    EXPECT_TRUE(contains(text, std::string("__half* __restrict__ ") + written)) << text;
    EXPECT_FALSE(contains(text, std::string("const __half* __restrict__ ") + written)) << text;
  }
  EXPECT_TRUE(contains(text, "int n_rows")) << text;
  EXPECT_TRUE(contains(text, "int n_dim")) << text;
  EXPECT_TRUE(contains(text, "float margin")) << text;
  EXPECT_TRUE(contains(text, "using D = __half;")) << text;
  EXPECT_TRUE(contains(text,
                       "cosine_embedding_loss_backward<D, 1024, 64, 2, 16, CosineConvention::torch>(dy, x1, "
                       "x2, y, dx1, dx2, n_rows, n_dim, margin);"))
      << text;
  EXPECT_TRUE(contains(Forward(Dtype::f64, 1).entry_point_source(),
                       "cosine_embedding_loss_forward<D, 1, 1, 128, 1, CosineConvention::exact>(x1, x2, y, "
                       "loss, n_rows, n_dim, margin);"));
}

TEST(CosineKernel, ConventionsAppearInTheIdExceptTheDefault) {
  ASSERT_EQ(cosine_rules().size(), 5u);
  EXPECT_EQ(cosine_rules()[0].name, "exact");
  std::set<std::string> texts;
  for (const CosineRule& rule : cosine_rules()) {
    const Backward kernel(Dtype::f32, 128, rule);
    const std::string suffix = rule.name == "exact" ? "" : "__" + std::string(rule.name);
    EXPECT_EQ(kernel.id(), "cosine_embedding_loss_backward__f32__128" + suffix);
    EXPECT_TRUE(contains(kernel.entry_point_source(), "CosineConvention::" + std::string(rule.name) + '>'));
    texts.insert(kernel.entry_point_source());
  }
  EXPECT_EQ(texts.size(), 5u);
  try {
    (void)find_cosine_rule("similarty");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_TRUE(contains(error.what(), "did you mean 'similarity'")) << error.what();
  }
}

void expect_rejected(int block) {
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    try {
      (void)find_loss("cosine").kernel({pass, Dtype::f32, "exact", block, {}});
      ADD_FAILURE() << block;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_TRUE(contains(error.what(), "--block-size: found " + std::to_string(block))) << error.what();
    }
  }
}

TEST(CosineKernel, BlocksArePowersOfTwoTo65536) {
  int accepted = 0;
  for (int block = 1; block <= 65536; block *= 2, ++accepted) {
    EXPECT_EQ(Forward(Dtype::f32, block).block_size(), block);
    EXPECT_EQ(Backward(Dtype::f64, block).block_size(), block);
  }
  EXPECT_EQ(accepted, 17);
  for (int block = 0; block < 65540; block += block < 2050 ? 1 : 17) {
    if (!std::has_single_bit(static_cast<unsigned>(block))) expect_rejected(block);
  }
  for (int power = 4; power <= 65536; power *= 2) expect_rejected(power - 1), expect_rejected(power + 1);
  for (const int block :
       {-2, -32, -65536, 131072, 1 << 30, std::numeric_limits<int>::max(), std::numeric_limits<int>::min()})
    expect_rejected(block);
}

TEST(CosineKernel, TheOwnBlockIsTheNextPowerOfTwo) {
  const auto block = [](std::int64_t n_dim) {
    return find_loss("cosine")
        .kernel({Pass::backward, Dtype::f32, "exact", kOwnBlock, {{"n_dim", n_dim}}})
        .constant("block_size");
  };
  EXPECT_EQ(block(1), 1);
  EXPECT_EQ(block(2), 2);
  EXPECT_EQ(block(3), 4);
  EXPECT_EQ(block(512), 512);
  EXPECT_EQ(block(513), 1024);
  EXPECT_EQ(block(65535), 65536);
  EXPECT_EQ(block(65536), 65536);
  EXPECT_EQ(
      find_loss("cosine").kernel({Pass::forward, Dtype::f32, "exact", kOwnBlock, {}}).constant("block_size"),
      256)
      << "of the default of n_dim";
  for (std::int64_t n_dim = 1; n_dim <= 65536; n_dim += 1 + n_dim / 7)
    EXPECT_EQ(cosine_block_size(n_dim), block(n_dim)) << n_dim;
}

TEST(CosineKernel, ThereIsNoFusedPass) {
  EXPECT_THROW((void)find_loss("cosine").kernel({Pass::forward_backward, Dtype::f32, "exact", 32, {}}),
               Error);
}

TEST(CosineKernel, LaunchShapeCoversEveryRow) {
  for (const Dtype dtype : kAllDtypes) {
    for (int block = 1; block <= 65536; block *= 2) {
      const CosineLaunch launch = cosine_launch(dtype, block);
      const int threads = launch.threads_per_row * launch.rows_per_block;
      EXPECT_GE(threads, 128) << block;
      EXPECT_LE(threads, 512) << block;
      EXPECT_LE(launch.threads_per_row * launch.elements_per_thread, block) << "a sweep is no longer than it";
      if (block <= (dtype == Dtype::f64 ? 4096 : 8192)) {
        EXPECT_EQ(launch.threads_per_row * launch.elements_per_thread, block) << name(dtype);
      }
      const Forward kernel(dtype, block);
      const auto grid = [&](std::int64_t rows) {
        return kernel.launch_shape({{"n_rows", rows}, {"n_dim", 77}}).grid[0];
      };
      EXPECT_TRUE(kernel.launch_shape({{"n_rows", 0}, {"n_dim", 77}}).empty());
      EXPECT_EQ(grid(1), 1u);
      EXPECT_EQ(grid(launch.rows_per_block), 1u);
      EXPECT_EQ(grid(launch.rows_per_block + 1), 2u);
      EXPECT_EQ(grid(1000), (1000u + static_cast<unsigned>(launch.rows_per_block) - 1) /
                                static_cast<unsigned>(launch.rows_per_block));
      const LaunchShape shape = kernel.launch_shape({{"n_rows", kLargestSize}, {"n_dim", 1}});
      EXPECT_EQ(shape.block[0], static_cast<unsigned>(threads));
      EXPECT_EQ(shape.block[1] * shape.block[2] * shape.grid[1] * shape.grid[2], 1u);
      EXPECT_EQ(shape.shared_bytes, 0u);
    }
  }
  EXPECT_EQ(Forward(Dtype::f32, 16).launch_shape({{"n_rows", 17}, {"n_dim", 9}}).grid[0], 3u);
  EXPECT_EQ(Forward(Dtype::f32, 4096).launch_shape({{"n_rows", 17}, {"n_dim", 9}}).block[0], 256u);
  EXPECT_EQ(Forward(Dtype::f64, 4096).launch_shape({{"n_rows", 17}, {"n_dim", 9}}).block[0], 512u);
}

TEST(CosineKernel, ContentHashCoversAllThatDecidesTheBinary) {
  const BuildTarget target{"nvrtc", "13.0", "sm_90", {"--std=c++17"}};
  std::set<std::string> hashes;
  const auto add = [&](const Kernel& kernel, const BuildTarget& build) {
    hashes.insert(kernel.content_hash(build));
  };
  add(Forward(Dtype::f32, 256), target);
  add(Forward(Dtype::f32, 256), target);
  EXPECT_EQ(hashes.size(), 1u) << "the same kernel has the same hash";
  std::size_t kernels = 1;
  for (const int block : {1, 2, 512, 1024, 65536}) add(Forward(Dtype::f32, block), target), ++kernels;
  for (const Dtype dtype : {Dtype::f64, Dtype::f16, Dtype::bf16}) add(Forward(dtype, 256), target), ++kernels;
  for (const CosineRule& rule : cosine_rules()) add(Backward(Dtype::f32, 256, rule), target), ++kernels;
  add(Forward(Dtype::f32, 256).with_kernel_source("// other"), target), ++kernels;
  for (const BuildTarget& other : {BuildTarget{"c++", "13.0", "sm_90", {"--std=c++17"}},
                                   {"nvrtc", "13.1", "sm_90", {"--std=c++17"}},
                                   {"nvrtc", "13.0", "sm_89", {"--std=c++17"}},
                                   {"nvrtc", "13.0", "sm_90", {}}}) {
    add(Forward(Dtype::f32, 256), other), ++kernels;
  }
  EXPECT_EQ(hashes.size(), kernels);
  for (const std::string& hash : hashes) EXPECT_EQ(hash.size(), 32u);
}

TEST(CosineLoss, SaysWhatItTakes) {
  const Loss& cosine = find_loss("cosine");
  EXPECT_EQ(cosine.item_size(), "n_rows");
  EXPECT_EQ(cosine.conventions().size(), 5u);
  EXPECT_EQ(cosine.conventions()[0].name, "exact");
  EXPECT_EQ(default_parameters(cosine), (Parameters{{"margin", 0.3F}}));
  EXPECT_EQ(default_sizes(cosine).at("n_dim"), 203);
  EXPECT_TRUE(cosine.repeatability_blocks().empty()) << "the block decides the order of the sums";
  EXPECT_EQ(cosine.block().name, "block_size");
}

}  // namespace
}  // namespace lossgrad
