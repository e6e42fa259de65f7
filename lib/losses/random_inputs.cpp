// SPDX-License-Identifier: Apache-2.0
#include "losses/random_inputs.hpp"

namespace lossgrad {

double random_upstream(ItemRandom& random) {
  const double sign = random.sign();
  const double magnitude = random.log_uniform(0.125, 8);
  return random.chance(1.0 / 64) ? 0 : sign * magnitude;
}

}  // namespace lossgrad
