// SPDX-License-Identifier: Apache-2.0
// What the scenarios of all losses draw alike.
#pragma once

#include "math/random.hpp"

namespace lossgrad {

// dy: signed, magnitudes log-uniform from 1/8 to 8, 1 in 64 exactly zero.
double random_upstream(ItemRandom& random);

}  // namespace lossgrad
