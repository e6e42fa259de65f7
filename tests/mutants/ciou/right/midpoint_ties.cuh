// SPDX-License-Identifier: Apache-2.0
// At a tie both edges have half of the slope, and a clamp passes it: what frameworks' automatic
// differentiation gives.
constexpr int kTieHalves = 1;
