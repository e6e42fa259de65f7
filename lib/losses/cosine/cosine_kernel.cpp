// SPDX-License-Identifier: Apache-2.0
#include "losses/cosine/cosine_kernel.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "base/error.hpp"
#include "embedded/losses_text.hpp"
#include "losses/entry_point.hpp"
#include "losses/named.hpp"
#include "losses/storage_source.hpp"

namespace lossgrad {
namespace {

constexpr int kMostThreads = 512;  // so that each may use 128 registers
constexpr int kLeastThreadsOfBlock = 128;
constexpr int kWarp = 32;

constexpr std::array kRules = {
    CosineRule{"exact", "no eps: a zero row gives NaN", CosineConvention::exact},
    CosineRule{"torch", "1e-12 added to each squared norm (torch cosine_embedding_loss)",
               CosineConvention::torch},
    CosineRule{"similarity",
               "each norm at least 1e-8, which the gradient does not see (torch cosine_similarity since 2.1)",
               CosineConvention::similarity},
    CosineRule{"product", "product of the norms at least 1e-8 (torch cosine_similarity before 1.12)",
               CosineConvention::product},
    CosineRule{"normalize", "each norm at least 1e-12 (torch normalize of both, then their dot product)",
               CosineConvention::normalize},
};

void require_block_size(int block_size) {
  if (block_size >= 1 && block_size <= kCosineMostDim &&
      std::has_single_bit(static_cast<unsigned>(block_size)))
    return;
  throw Error(ErrorKind::usage, "--block-size: found " + std::to_string(block_size) +
                                    ", expected a power of two from 1 to 65536");
}

Kernel::Parts kernel_parts(Pass pass, Dtype dtype, int block_size, const CosineRule& rule) {
  require_block_size(block_size);
  const CosineLaunch launch = cosine_launch(dtype, block_size);
  Kernel::Parts parts;
  parts.name = pass == Pass::forward ? "cosine_embedding_loss_forward" : "cosine_embedding_loss_backward";
  parts.pass = pass;
  parts.dtype = dtype;
  parts.constants = {{"block_size", block_size}};
  if (rule.name != kRules[0].name) parts.variants = {std::string(rule.name)};
  parts.kernel_source = storage_source(dtype) + std::string(losses_text::cosine_kernels_cuh());
  parts.launch = {"n_rows", static_cast<std::uint32_t>(launch.rows_per_block),
                  static_cast<std::uint32_t>(launch.rows_per_block * launch.threads_per_row)};
  const std::vector<std::string> rows = {"n_rows"}, matrix = {"n_rows", "n_dim"};
  if (pass == Pass::backward) parts.arguments.push_back({"dy", ArgumentRole::upstream, rows});
  parts.arguments.push_back({"x1", ArgumentRole::input, matrix});
  parts.arguments.push_back({"x2", ArgumentRole::input, matrix});
  parts.arguments.push_back({"y", ArgumentRole::constant, rows, {1, -1}});
  if (pass == Pass::forward) {
    parts.arguments.push_back({"loss", ArgumentRole::output, rows});
  } else {
    parts.arguments.push_back({"dx1", ArgumentRole::gradient, matrix});
    parts.arguments.push_back({"dx2", ArgumentRole::gradient, matrix});
  }
  parts.arguments.push_back({"n_rows", ArgumentRole::size, {}});
  parts.arguments.push_back({"n_dim", ArgumentRole::size, {}});
  parts.arguments.push_back({"margin", ArgumentRole::parameter, {}});
  parts.entry_point_source = entry_point_source(
      parts, std::to_string(block_size) + ", " + std::to_string(launch.threads_per_row) + ", " +
                 std::to_string(launch.rows_per_block) + ", " + std::to_string(launch.elements_per_thread) +
                 ", CosineConvention::" + std::string(rule.name));
  return parts;
}

}  // namespace

const BlockInfo& cosine_block() {
  static const BlockInfo block{
      "block_size", "row length the kernel is made for: powers of two to 65536 (default: the next of dim)"};
  return block;
}

std::span<const CosineRule> cosine_rules() { return kRules; }

const CosineRule& find_cosine_rule(std::string_view name) { return find_named(kRules, "convention", name); }

int cosine_block_size(std::int64_t n_dim) {
  const auto dim = static_cast<std::uint64_t>(std::clamp<std::int64_t>(n_dim, 1, kCosineMostDim));
  return static_cast<int>(std::bit_ceil(dim));
}

CosineLaunch cosine_launch(Dtype dtype, int block_size) {
  const int held = compute_type(dtype) == Dtype::f64 ? 8 : 16;  // elements of each row in registers
  CosineLaunch launch;
  launch.threads_per_row =
      block_size <= kWarp ? block_size : std::clamp(block_size / held, kWarp, kMostThreads);
  launch.rows_per_block = std::max(1, kLeastThreadsOfBlock / launch.threads_per_row);
  launch.elements_per_thread = std::min(held, block_size / launch.threads_per_row);
  return launch;
}

CosineEmbeddingLossForward::CosineEmbeddingLossForward(Dtype dtype, int block_size, const CosineRule& rule)
    : Kernel(kernel_parts(Pass::forward, dtype, block_size, rule)) {}

CosineEmbeddingLossBackward::CosineEmbeddingLossBackward(Dtype dtype, int block_size, const CosineRule& rule)
    : Kernel(kernel_parts(Pass::backward, dtype, block_size, rule)) {}

}  // namespace lossgrad
