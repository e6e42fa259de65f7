// SPDX-License-Identifier: Apache-2.0
#include "device/host/schedule.hpp"

#include <algorithm>
#include <numeric>

#include "device/host/cuda/context.hpp"

namespace lossgrad::host {
namespace {

template <class T>
void shuffle(std::vector<T>& values, OrderRandom& random) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[random.below(static_cast<std::uint32_t>(i))]);
  }
}

// multiplier and blocks stay below 2^24 and 2^40, so that their product fits.
void permute_blocks(Schedule& schedule, OrderRandom& random) {
  if (schedule.blocks >= std::uint64_t{1} << 40) return;
  do {
    schedule.block_multiplier = 1 + random.below(1u << 24);
  } while (std::gcd(schedule.block_multiplier, schedule.blocks) != 1);
  schedule.block_offset = random.next() % schedule.blocks;
}

}  // namespace

Schedule make_schedule(std::optional<std::uint64_t> seed, std::uint64_t blocks, std::uint32_t threads) {
  Schedule schedule;
  schedule.blocks = blocks;
  if (!seed || blocks == 0) return schedule;
  OrderRandom random(*seed);
  schedule.seed = *seed;
  schedule.warp_order.resize((threads + lossgrad_cuda::kWarpSize - 1) / lossgrad_cuda::kWarpSize);
  std::iota(schedule.warp_order.begin(), schedule.warp_order.end(), 0u);
  schedule.thread_order.resize(threads);
  std::iota(schedule.thread_order.begin(), schedule.thread_order.end(), 0u);
  schedule.rule = PickRule::greedy;
  if (*seed >= 4) schedule.first_lane = random.below(lossgrad_cuda::kWarpSize);
  switch (*seed % 4) {
    case 0:
      break;
    case 1:
      schedule.descending = true;
      std::reverse(schedule.warp_order.begin(), schedule.warp_order.end());
      std::reverse(schedule.thread_order.begin(), schedule.thread_order.end());
      if (blocks < std::uint64_t{1} << 31) {
        schedule.block_multiplier = blocks == 1 ? 1 : blocks - 1;
        schedule.block_offset = blocks - 1;
      }
      break;
    case 2:
      schedule.rule = PickRule::random;
      shuffle(schedule.thread_order, random);
      permute_blocks(schedule, random);
      break;
    default:
      shuffle(schedule.warp_order, random);
      shuffle(schedule.thread_order, random);
      permute_blocks(schedule, random);
      break;
  }
  // The order of threads that run one after another is turned as far.
  std::rotate(schedule.thread_order.begin(),
              schedule.thread_order.begin() + static_cast<std::ptrdiff_t>(schedule.first_lane % threads),
              schedule.thread_order.end());
  return schedule;
}

}  // namespace lossgrad::host
