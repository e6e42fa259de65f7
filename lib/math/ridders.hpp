// SPDX-License-Identifier: Apache-2.0
// Numerical derivative by Ridders' method: central differences at shrinking steps, extrapolated to step zero.
// C. J. F. Ridders, Accurate computation of F'(x) and F'(x)F''(x), Advances in Engineering Software 4 (1982)
// 75-76.
#pragma once

#include <span>
#include <vector>

namespace lossgrad {

struct DerivativeEstimate {
  double value = 0;
  double error =
      0;  // how far the value may be off: extrapolation and rounding; infinity when nothing was usable
};

// Steps h, h / 1.4, h / 1.4^2 ... of the method.
std::vector<double> ridders_steps(double first_step, int count);

// Extrapolates central differences. forward[i] = f(x + steps[i]), backward[i] = f(x - steps[i]), where the
// distance between the two points is widths[i] (2 * steps[i] up to the rounding of x +- step). `noise` is the
// absolute error of one function value.
DerivativeEstimate ridders_extrapolate(std::span<const double> forward, std::span<const double> backward,
                                       std::span<const double> widths, double noise);

inline constexpr int kRiddersSteps = 12;

}  // namespace lossgrad
