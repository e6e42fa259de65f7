// SPDX-License-Identifier: Apache-2.0
#include "losses/random_inputs.hpp"

#include <algorithm>
#include <limits>

namespace lossgrad {

double random_upstream(ItemRandom& random, Dtype dtype) {
  const double sign = random.sign();
  double magnitude = random.log_uniform(0.125, 8);
  if (random.chance(1.0 / 8))
    magnitude = random.log_uniform(std::max(1e-9, format_of(dtype).min_subnormal), 1e4);
  return random.chance(1.0 / 64) ? 0 : round_to(dtype, sign * magnitude);
}

double random_non_finite(ItemRandom& random) {
  const double sign = random.sign();
  return random.chance(0.5) ? std::numeric_limits<double>::quiet_NaN()
                            : sign * std::numeric_limits<double>::infinity();
}

}  // namespace lossgrad
