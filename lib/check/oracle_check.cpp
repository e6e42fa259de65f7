// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "check/disagreement.hpp"
#include "check/gradient_checks.hpp"

namespace lossgrad {
namespace {

DerivativeEstimate difference_of_value(const CheckRequest& request, const Sample& sample,
                                       const Sample::Component& component) {
  std::vector<double> point = sample.oracles.point;
  const double x = point[component.index];
  const auto value = [&](double moved) {
    point[component.index] = moved;
    return request.loss->value_at(request.convention, sample.item, 0, point);
  };
  return ridders_derivative(value, x, component.first_step, sample.value_error);
}

bool differences_agree(const CheckRequest& request, const Sample& sample, const Sample::Component& component,
                       double own_error) {
  const double closed = sample.oracles.closed[component.index];
  const auto difference = difference_of_value(request, sample, component);
  return !informative(difference, closed) ||
         agree({closed, difference.value, own_error + kEstimateSafety * difference.error});
}

}  // namespace

void check_oracles(const CheckRequest& request, const InputSource& source, CheckResult& result) {
  Disagreement found;
  const auto samples = draw_samples(request, source);
  for (const Sample& sample : samples) {
    for (const auto& component : sample.components) {
      const std::size_t c = component.index;
      const double closed = sample.oracles.closed[c];
      const double own_error = 4 * sample.oracles.closed_error[c] + std::numeric_limits<double>::min();
      if (!std::isfinite(own_error)) continue;
      ++result.compared;
      const GradientPair pair{closed, sample.oracles.automatic[c], own_error};
      if (!agree(pair)) {
        note_disagreement(found, sample, component, pair, "automatic differentiation differs");
        continue;
      }
      if (differences_agree(request, sample, component, own_error)) continue;
      const Sample::Component closer{c, kSecondLook * component.first_step};
      if (differences_agree(request, sample, closer, own_error)) continue;
      const auto difference = difference_of_value(request, sample, closer);
      note_disagreement(found, sample, component,
                        {closed, difference.value, own_error + kEstimateSafety * difference.error},
                        "finite differences differ");
    }
  }
  conclude_differences(
      result, found, samples.size(), made_of_kinks(request),
      "gradients of lossgrad's own oracles disagree: this is a defect of lossgrad, not of the kernel");
}

}  // namespace lossgrad
