// SPDX-License-Identifier: Apache-2.0
#include "device/host/warp_operation.hpp"

#include <algorithm>
#include <bit>

namespace lossgrad::host {
namespace {

using lossgrad_cuda::kWarpSize;
using lossgrad_cuda::WarpOperation;
using lossgrad_cuda::WarpRequest;
using Requests = std::span<const WarpRequest, kWarpSize>;
using Results = std::span<std::uint64_t, kWarpSize>;

template <class Body>
void for_each_lane(std::uint32_t lanes, Body body) {
  for (; lanes != 0; lanes &= lanes - 1) body(static_cast<unsigned>(std::countr_zero(lanes)));
}

// PTX ISA, shfl.sync: segments of `width` lanes; a source outside of the own segment means the own value,
// except that shuffle_xor may read from a lower segment.
unsigned shuffle_source(const WarpRequest& request, unsigned lane) {
  const unsigned width =
      std::has_single_bit(request.width) && request.width <= kWarpSize ? request.width : kWarpSize;
  const unsigned first = lane & ~(width - 1);
  const unsigned distance = request.parameter;
  switch (request.operation) {
    case WarpOperation::shuffle:
      return first + (distance & (width - 1));
    case WarpOperation::shuffle_up:
      return distance <= lane - first ? lane - distance : lane;
    case WarpOperation::shuffle_down:
      return distance < width - (lane - first) ? lane + distance : lane;
    default: {
      const unsigned source = lane ^ (distance & (kWarpSize - 1));
      return source < first + width ? source : lane;
    }
  }
}

void shuffle(Requests requests, std::uint32_t participants, Results results) {
  for_each_lane(participants, [&](unsigned lane) {
    const unsigned source = shuffle_source(requests[lane], lane);
    results[lane] = requests[(participants >> source & 1u) != 0 ? source : lane].value;
  });
}

std::uint32_t lanes_equal_to(Requests requests, std::uint32_t participants, std::uint64_t value) {
  std::uint32_t equal = 0;
  for_each_lane(participants,
                [&](unsigned lane) { equal |= std::uint32_t{requests[lane].value == value} << lane; });
  return equal;
}

std::uint32_t combine(WarpOperation operation, std::uint32_t a, std::uint32_t b) {
  const auto as_signed = [](std::uint32_t x) { return static_cast<std::int32_t>(x); };
  switch (operation) {
    case WarpOperation::reduce_add:
      return a + b;
    case WarpOperation::reduce_min_signed:
      return as_signed(a) < as_signed(b) ? a : b;
    case WarpOperation::reduce_max_signed:
      return as_signed(a) > as_signed(b) ? a : b;
    case WarpOperation::reduce_min_unsigned:
      return std::min(a, b);
    case WarpOperation::reduce_max_unsigned:
      return std::max(a, b);
    case WarpOperation::reduce_and:
      return a & b;
    case WarpOperation::reduce_or:
      return a | b;
    default:
      return a ^ b;
  }
}

std::uint32_t reduce(Requests requests, std::uint32_t participants) {
  const auto first = static_cast<unsigned>(std::countr_zero(participants));
  auto result = static_cast<std::uint32_t>(requests[first].value);
  for_each_lane(participants & (participants - 1), [&](unsigned lane) {
    result = combine(requests[first].operation, result, static_cast<std::uint32_t>(requests[lane].value));
  });
  return result;
}

}  // namespace

void compute_warp_operation(Requests requests, std::uint32_t participants, Results results) {
  const WarpRequest& any = requests[static_cast<unsigned>(std::countr_zero(participants))];
  const auto give_all = [&](std::uint32_t value) {
    for_each_lane(participants, [&](unsigned lane) { results[lane] = value; });
  };
  switch (any.operation) {
    case WarpOperation::sync:
      return;
    case WarpOperation::active_mask:
      return give_all(participants);
    case WarpOperation::shuffle:
    case WarpOperation::shuffle_up:
    case WarpOperation::shuffle_down:
    case WarpOperation::shuffle_xor:
      return shuffle(requests, participants, results);
    case WarpOperation::ballot:
      return give_all(participants & ~lanes_equal_to(requests, participants, 0));
    case WarpOperation::match_any:
      for_each_lane(participants, [&](unsigned lane) {
        results[lane] = lanes_equal_to(requests, participants, requests[lane].value);
      });
      return;
    case WarpOperation::match_all:
      return give_all(lanes_equal_to(requests, participants, any.value) == participants ? participants : 0);
    default:
      return give_all(reduce(requests, participants));
  }
}

}  // namespace lossgrad::host
