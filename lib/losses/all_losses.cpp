// SPDX-License-Identifier: Apache-2.0
// Apart from loss.cpp, so that a program can link that one with losses of its own.
#include <array>

#include "losses/loss.hpp"

namespace lossgrad {

#define LOSS(name) const Loss& name##_loss();
#include "losses/losses.def"
#undef LOSS

std::span<const Loss* const> all_losses() {
  static const std::array losses = {
#define LOSS(name) &name##_loss(),
#include "losses/losses.def"
#undef LOSS
  };
  return losses;
}

}  // namespace lossgrad
