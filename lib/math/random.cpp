// SPDX-License-Identifier: Apache-2.0
#include "math/random.hpp"

#include <cmath>
#include <numbers>

#include <Random123/philox.h>

namespace lossgrad {

ItemRandom::ItemRandom(std::uint64_t seed, std::uint32_t stream, std::int64_t item)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{static_cast<std::uint32_t>(item),
               static_cast<std::uint32_t>(static_cast<std::uint64_t>(item) >> 32), stream, 0} {}

std::uint32_t ItemRandom::next() {
  if (used_ == 4) {
    using Philox = r123::Philox4x32;
    const Philox::ctr_type counter = {{counter_[0], counter_[1], counter_[2], counter_[3]}};
    const Philox::key_type key = {{key_[0], key_[1]}};
    const Philox::ctr_type block = Philox()(counter, key);
    block_ = {block[0], block[1], block[2], block[3]};
    ++counter_[3];
    used_ = 0;
  }
  return block_[static_cast<std::size_t>(used_++)];
}

double ItemRandom::uniform() {
  const std::uint64_t high = next();
  const std::uint64_t low = next();
  return static_cast<double>(((high << 32) | low) >> 11) * 0x1p-53;
}

double ItemRandom::uniform(double low, double high) { return low + (high - low) * uniform(); }

double ItemRandom::log_uniform(double low, double high) {
  return low * std::exp(std::log(high / low) * uniform());
}

double ItemRandom::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - uniform()));
  return radius * std::cos(2 * std::numbers::pi * uniform());
}

std::int64_t ItemRandom::integer(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(uniform() * static_cast<double>(high - low + 1));
}

bool ItemRandom::chance(double probability) { return uniform() < probability; }

}  // namespace lossgrad
