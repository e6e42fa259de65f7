// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <optional>

#include "check/disagreement.hpp"
#include "check/gradient_checks.hpp"

namespace lossgrad {
namespace {

// What is compared along one direction of one sample.
struct OracleView {
  const CheckRequest& request;
  const Sample& sample;
  const Direction& direction;
  double closed;
  double own_error;
};

DerivativeEstimate difference_of_value(const OracleView& view, double first_step) {
  const Sample& sample = view.sample;
  const auto value = [&](double step) {
    return view.request.loss->value_at(view.request.convention, sample.item, 0,
                                       view.direction.moved(sample.oracles.point, step));
  };
  return ridders_derivative(value, 0, first_step, sample.value_error);
}

GradientPair pair_with(const OracleView& view, const DerivativeEstimate& difference) {
  return {view.closed, difference.value, view.own_error + kEstimateSafety * difference.error};
}

// The pair that disagrees for good.
std::optional<GradientPair> difference_disagrees(const OracleView& view) {
  const DerivativeEstimate first = difference_of_value(view, view.direction.first_step);
  if (!informative(first, view.closed) || agree(pair_with(view, first))) return std::nullopt;
  for (const double closer : {kSecondLook, kThirdLook}) {
    const DerivativeEstimate again = difference_of_value(view, closer * view.direction.first_step);
    if (!informative(again, view.closed)) continue;
    if (agree(pair_with(view, again))) return std::nullopt;
    return pair_with(view, again);
  }
  return std::nullopt;
}

void check_sample(const CheckRequest& request, const Sample& sample, CheckResult& result,
                  Disagreement& found) {
  for (const Direction& direction : sample.directions) {
    const double own_error =
        4 * direction.along_magnitudes(sample.oracles.closed_error) + std::numeric_limits<double>::min();
    if (!std::isfinite(own_error)) continue;
    ++result.compared;
    const OracleView view{request, sample, direction, direction.along(sample.oracles.closed), own_error};
    const double automatic = request.loss->derivative_along(request.convention, sample.item, 0,
                                                            direction.vector(sample.oracles.point.size()));
    const GradientPair pair{view.closed, automatic, own_error};
    if (!agree(pair)) {
      note_disagreement(found, request, sample, direction, pair, "automatic differentiation differs");
    } else if (const auto other = difference_disagrees(view)) {
      note_disagreement(found, request, sample, direction, *other, "finite differences differ");
    }
  }
}

}  // namespace

void check_oracles(const CheckRequest& request, const InputSource& source, CheckResult& result) {
  Disagreement found;
  const auto samples = draw_samples(request, source);
  for (const Sample& sample : samples) check_sample(request, sample, result, found);
  conclude_differences(
      result, found, samples.size(), made_of_kinks(request),
      "gradients of lossgrad's own oracles disagree: this is a defect of lossgrad, not of the kernel");
}

}  // namespace lossgrad
