// SPDX-License-Identifier: Apache-2.0
#include "check/disagreement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lossgrad {
namespace {

constexpr double kInformative = 1e-3;
// A bound of some roundings of double (2^-53) tells how large the parts were; 2^40 of it is less than a
// thousandth of them, and of a long sum, whose bound is of thousands of roundings, no more than the sum.
constexpr double kPartsPerRounding = 0x1p40;

// Adds a direction of a sample to a list of samples with some of their directions.
void keep_direction(std::vector<Sample>& samples, const Sample& sample, const Direction& direction) {
  if (samples.empty() || samples.back().index != sample.index) {
    samples.push_back(sample);
    samples.back().directions.clear();
  }
  samples.back().directions.push_back(direction);
}

}  // namespace

bool agree(const GradientPair& pair) { return std::abs(pair.got - pair.expected) <= pair.allowed; }

bool informative(const DerivativeEstimate& estimate, double gradient, double gradient_error) {
  const double parts = kPartsPerRounding * gradient_error;
  const double scale = std::max({std::abs(estimate.value), std::abs(gradient), parts});
  return estimate.error <= kInformative * scale;
}

void note_disagreement(Disagreement& found, const CheckRequest& request, const Sample& sample,
                       const Direction& direction, const GradientPair& pair, const std::string& what) {
  const auto [got, expected, allowed] = pair;
  ++found.count;
  keep_direction(found.doubtful, sample, direction);
  const double ratio = std::abs(got - expected) / std::max(allowed, std::numeric_limits<double>::min());
  if (!(ratio > found.worst_ratio) && found.count > 1) return;
  found.worst_ratio = ratio;
  found.worst = {};
  const GradientComponent place = gradient_component(request, direction.component);
  found.worst.output = direction.dense.empty() ? place.output : "gradient along a random direction";
  found.worst.item = sample.index;
  found.worst.component = static_cast<std::int64_t>(place.component);
  found.worst.got = got;
  found.worst.expected_low = found.worst.expected_high = expected;
  found.worst.bound = allowed;
  found.worst.bound_usage = ratio;
  found.worst.abs_error = std::abs(got - expected);
  found.worst.rel_error = found.worst.abs_error / std::abs(expected);
  found.worst.ulp_error = found.worst.abs_error / ulp(Dtype::f64, expected);
  found.worst.note = what;
  found.worst.wrong = true;
  for (const auto& [name, values] : sample.item.values) found.worst.inputs.emplace_back(name, values);
}

void conclude_differences(CheckResult& result, const Disagreement& found, std::size_t samples,
                          bool kinks_are_the_point, const std::string& failed_text) {
  if (!found.damage.empty()) {
    result.verdict = Verdict::failed;
    result.reason = found.damage;
    return;
  }
  if (found.count > 0) {
    result.verdict = Verdict::failed;
    result.reason =
        std::to_string(found.count) + " of " + std::to_string(result.compared) + " " + failed_text;
    result.worst = {found.worst};
  } else if (result.compared == 0 && kinks_are_the_point) {
    result.verdict = Verdict::skipped;
    result.reason = samples == 0
                        ? "every sample of this scenario lies on a kink; `reference` checks the hull there"
                        : "no sample of this scenario is far enough from a kink for precise differences";
  } else if (result.compared == 0) {
    result.verdict = Verdict::mistrusted;
    result.reason = samples == 0 ? "nothing was compared: there is no item, or none away from kinks"
                                 : "no difference was precise enough: nothing was compared";
  } else {
    result.verdict = Verdict::passed;
  }
}

}  // namespace lossgrad
