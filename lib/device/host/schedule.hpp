// SPDX-License-Identifier: Apache-2.0
// In which order blocks and threads run. Without a seed: 0, 1, 2 ... and, at a barrier, the next thread in
// turn. With a seed, seed % 4 chooses the kind and the rest of the seed the details:
//   0  greedy, ascending: of all threads that can run, always those of the lowest warp; blocks ascending
//   1  greedy, descending: always those of the highest warp, lanes and blocks descending
//   2  random: after every wait any thread of the block that can run; blocks in a permuted order
//   3  greedy in a random order of the warps; blocks in a permuted order
// Seeds 0, 1 and 3 take the lanes of a warp in order (kernels without barriers: 3 shuffles all threads);
// greedy seeds from 4 on begin at any lane.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace lossgrad::host {

// A small generator of the quality that orders need (splitmix64, Steele, Lea and Flood 2014).
class OrderRandom {
 public:
  explicit OrderRandom(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Below `limit`, which is not zero and small: the slight bias does not matter.
  std::uint32_t below(std::uint32_t limit) {
    return static_cast<std::uint32_t>((next() >> 32) * limit >> 32);
  }

 private:
  std::uint64_t state_;
};

enum class PickRule { in_turn, greedy, random };

struct Schedule {
  PickRule rule = PickRule::in_turn;
  bool descending = false;                // lanes within a warp
  std::uint32_t first_lane = 0;           // where a warp's turn begins
  std::vector<std::uint32_t> warp_order;  // greedy: the preferred warp first
  std::uint64_t seed = 0;
  // Block i of the launch is block (i * multiplier + offset) % blocks.
  std::uint64_t block_multiplier = 1;
  std::uint64_t block_offset = 0;
  std::uint64_t blocks = 0;
  // Every thread of a block once, for kernels that run as a plain loop; empty for 0, 1, 2 ...
  std::vector<unsigned> thread_order;

  [[nodiscard]] std::uint64_t block(std::uint64_t index) const {
    return (index * block_multiplier + block_offset) % blocks;
  }
  [[nodiscard]] bool keeps_block_order() const { return block_multiplier == 1 && block_offset == 0; }
};

Schedule make_schedule(std::optional<std::uint64_t> seed, std::uint64_t blocks, std::uint32_t threads);

}  // namespace lossgrad::host
