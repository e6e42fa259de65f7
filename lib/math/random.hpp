// SPDX-License-Identifier: Apache-2.0
// Counter-based random numbers: what item i of a stream draws depends on (seed, stream, i) alone, not on the
// order or the number of threads. Philox4x32-10: Salmon, Moraes, Dror, Shaw, Parallel Random Numbers: As Easy
// as 1, 2, 3 (SC 2011).
#pragma once

#include <array>
#include <cstdint>

namespace lossgrad {

class ItemRandom {
 public:
  ItemRandom(std::uint64_t seed, std::uint32_t stream, std::int64_t item);

  double uniform();                                           // [0, 1), 53 bits
  double uniform(double low, double high);                    // [low, high)
  double log_uniform(double low, double high);                // 0 < low < high; uniform in the logarithm
  double normal();                                            // mean 0, deviation 1
  std::int64_t integer(std::int64_t low, std::int64_t high);  // both ends included
  bool chance(double probability);
  double sign() { return chance(0.5) ? 1.0 : -1.0; }

 private:
  std::uint32_t next();

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;  // item (64 bits), stream, block
  std::array<std::uint32_t, 4> block_{};
  int used_ = 4;
};

}  // namespace lossgrad
