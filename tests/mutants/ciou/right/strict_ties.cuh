// SPDX-License-Identifier: Apache-2.0
// At a tie the predicted box's edge has no slope.
constexpr int kTieHalves = 0;
