// SPDX-License-Identifier: Apache-2.0
// What the scenarios of all losses draw alike.
#pragma once

#include "math/dtype.hpp"
#include "math/random.hpp"

namespace lossgrad {

// dy: signed, magnitudes log-uniform from 1/8 to 8, 1 in 8 of them from 1e-9 (in f16 its smallest number)
// to 1e4, as means and scaled losses have them; 1 in 64 exactly zero. Rounded to `dtype`.
double random_upstream(ItemRandom& random, Dtype dtype);

// The scenario non_finite: one item in four has a NaN (half of them) or an infinity of either sign in one
// element.
inline constexpr double kNonFiniteShare = 0.25;
double random_non_finite(ItemRandom& random);

}  // namespace lossgrad
