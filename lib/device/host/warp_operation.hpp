// SPDX-License-Identifier: Apache-2.0
// What a warp operation gives to each of its lanes, once all of them have arrived.
#pragma once

#include <cstdint>
#include <span>

#include "device/host/cuda/context.hpp"

namespace lossgrad::host {

// `requests` and `results` are indexed by lane; only the lanes in `participants` are read and written. All of
// their requests have the same operation and mask. A shuffle from a lane that does not take part gives the
// lane its own value.
void compute_warp_operation(std::span<const lossgrad_cuda::WarpRequest, lossgrad_cuda::kWarpSize> requests,
                            std::uint32_t participants,
                            std::span<std::uint64_t, lossgrad_cuda::kWarpSize> results);

}  // namespace lossgrad::host
