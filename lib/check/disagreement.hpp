// SPDX-License-Identifier: Apache-2.0
// Gradients compared with differences: what disagreed, and what that means for the verdict.
#pragma once

#include <string>
#include <vector>

#include "check/samples.hpp"
#include "math/ridders.hpp"
#include "results/results.hpp"

namespace lossgrad {

// Extrapolated differences have an estimate of their error, not a bound; ten times it holds on all scenarios,
// but for about one component in a million, where entries of the extrapolation agree by chance. Hence the
// second look.
inline constexpr double kEstimateSafety = 10;
// What disagreed is looked at again with steps this much smaller; what that cannot tell is left out, and not
// counted as compared.
inline constexpr double kSecondLook = 0.2;

struct Disagreement {
  std::int64_t count = 0;
  WorstElement worst;
  double worst_ratio = 0;
  std::string damage;            // what a launch damaged; empty: nothing
  std::vector<Sample> doubtful;  // the samples with only the directions that disagreed
};

// A gradient, what it should be, and how far they may be apart.
struct GradientPair {
  double got, expected, allowed;
};
bool agree(const GradientPair& pair);

// Whether a difference says something about a gradient: its error is below a thousandth of the larger of the
// two, or, where the gradient is what is left of much larger parts (as between parallel rows), so far below
// these that a part which is wrong shows.
bool informative(const DerivativeEstimate& estimate, double gradient, double gradient_error);

void note_disagreement(Disagreement& found, const CheckRequest& request, const Sample& sample,
                       const Direction& direction, const GradientPair& pair, const std::string& what);

// Verdict and reason from what was found. `failed_text` continues "3 of 812 ".
void conclude_differences(CheckResult& result, const Disagreement& found, std::size_t samples,
                          bool kinks_are_the_point, const std::string& failed_text);

}  // namespace lossgrad
