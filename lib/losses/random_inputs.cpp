// SPDX-License-Identifier: Apache-2.0
#include "losses/random_inputs.hpp"

#include <limits>

namespace lossgrad {

double random_upstream(ItemRandom& random) {
  const double sign = random.sign();
  const double magnitude = random.log_uniform(0.125, 8);
  return random.chance(1.0 / 64) ? 0 : sign * magnitude;
}

double random_non_finite(ItemRandom& random) {
  const double sign = random.sign();
  return random.chance(0.5) ? std::numeric_limits<double>::quiet_NaN()
                            : sign * std::numeric_limits<double>::infinity();
}

}  // namespace lossgrad
