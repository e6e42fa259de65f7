// SPDX-License-Identifier: Apache-2.0
// The two cosine embedding kernels as values. Forward (x1, x2, y, loss, n_rows, n_dim, margin); backward (dy,
// x1, x2, y, dx1, dx2, n_rows, n_dim, margin). Embeddings [n_rows, n_dim], labels y (1 or -1), loss and dy
// [n_rows].
#pragma once

#include <cstdint>
#include <span>

#include "kernel/kernel.hpp"
#include "losses/cosine/cosine.hpp"
#include "losses/loss.hpp"

namespace lossgrad {

inline constexpr std::int64_t kCosineMostDim = 65536;
const BlockInfo& cosine_block();

// exact (the default), torch, similarity, product, normalize.
std::span<const CosineRule> cosine_rules();
// Throws ErrorKind::usage with the nearest names.
const CosineRule& find_cosine_rule(std::string_view name);

// The simple form's rule: the next power of two of n_dim.
int cosine_block_size(std::int64_t n_dim);

// How threads share the rows. A row of up to 32 elements has a thread for each, longer ones one for 16
// (8 in f64), at least 32 and at most 512; rows that need less than 128 threads share a block.
struct CosineLaunch {
  int threads_per_row = 1;
  int rows_per_block = 1;
  int elements_per_thread = 1;  // of one sweep
};
CosineLaunch cosine_launch(Dtype dtype, int block_size);

// block_size: elements of a row that one sweep covers (at most 8192, 4096 in f64), a power of two from 1 to
// 65536, else ErrorKind::usage.
class CosineEmbeddingLossForward : public Kernel {
 public:
  CosineEmbeddingLossForward(Dtype dtype, int block_size, const CosineRule& rule = cosine_rules()[0]);
  [[nodiscard]] int block_size() const { return static_cast<int>(constant("block_size")); }
};

class CosineEmbeddingLossBackward : public Kernel {
 public:
  CosineEmbeddingLossBackward(Dtype dtype, int block_size, const CosineRule& rule = cosine_rules()[0]);
  [[nodiscard]] int block_size() const { return static_cast<int>(constant("block_size")); }
};

}  // namespace lossgrad
