// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "check/disagreement.hpp"
#include "check/gradient_checks.hpp"

namespace lossgrad {
namespace {

// Intermediates of automatic differentiation, a cube of a reciprocal norm among them, may underflow where the
// closed gradient's do not: what is lost is far below the largest component.
double lost_to_underflow(const std::vector<double>& closed) {
  double largest = 0;
  for (const double component : closed) largest = std::max(largest, std::abs(component));
  return 0x1p-300 * largest + std::numeric_limits<double>::min();
}

// What is compared along one direction of one sample.
struct OracleView {
  const CheckRequest& request;
  const Sample& sample;
  const Direction& direction;
  double closed;
  double closed_error;
  double own_error;  // how far the closed gradient and automatic differentiation may be apart
};

DerivativeEstimate difference_of_value(const OracleView& view, double first_step) {
  const Sample& sample = view.sample;
  std::vector<double> above, below, widths;
  for (const double step : ridders_steps(first_step, kRiddersSteps)) {
    const std::vector<double> plus = view.direction.moved(sample.oracles.point, step);
    const std::vector<double> minus = view.direction.moved(sample.oracles.point, -step);
    widths.push_back(view.direction.width(plus, minus, step));
    for (const bool up : {true, false}) {
      (up ? above : below)
          .push_back(view.request.loss->value_at(view.request.convention, sample.item, 0, up ? plus : minus));
    }
  }
  return ridders_extrapolate(above, below, widths, sample.value_error);
}

GradientPair pair_with(const OracleView& view, const DerivativeEstimate& difference) {
  return {view.closed, difference.value, view.own_error + kEstimateSafety * difference.error};
}

enum class Agreement { yes, no, unclear };

Agreement agreement_with(const OracleView& view, const DerivativeEstimate& difference) {
  if (!informative(difference, view.closed, view.closed_error)) return Agreement::unclear;
  return agree(pair_with(view, difference)) ? Agreement::yes : Agreement::no;
}

void check_sample(const CheckRequest& request, const Sample& sample, CheckResult& result, Disagreement& found,
                  const std::function<void()>& heartbeat) {
  for (const Direction& direction : sample.directions) {
    heartbeat();
    const double closed_error = direction.along_magnitudes(sample.oracles.closed_error);
    const double own_error = 4 * closed_error + lost_to_underflow(sample.oracles.closed);
    if (!std::isfinite(own_error)) continue;
    ++result.compared;
    const OracleView view{request,      sample,   direction, direction.along(sample.oracles.closed),
                          closed_error, own_error};
    const double automatic = request.loss->derivative_along(request.convention, sample.item, 0,
                                                            direction.vector(sample.oracles.point.size()));
    const GradientPair pair{view.closed, automatic, own_error};
    if (!agree(pair)) {
      note_disagreement(found, request, sample, direction, pair, "automatic differentiation differs");
      continue;
    }
    if (agreement_with(view, difference_of_value(view, direction.first_step)) != Agreement::no) continue;
    const auto second = difference_of_value(view, kSecondLook * direction.first_step);
    const Agreement decided = agreement_with(view, second);
    if (decided == Agreement::unclear) --result.compared;
    if (decided == Agreement::no) {
      note_disagreement(found, request, sample, direction, pair_with(view, second),
                        "finite differences differ");
    }
  }
}

}  // namespace

void check_oracles(const CheckRequest& request, const InputSource& source, CheckResult& result,
                   const std::function<void(double)>& heartbeat) {
  Disagreement found;
  const auto samples = draw_samples(request, source);
  double done = 0, directions = 0;
  for (const Sample& sample : samples) directions += static_cast<double>(sample.directions.size());
  for (const Sample& sample : samples)
    check_sample(request, sample, result, found, [&] { heartbeat(done++ / directions); });
  conclude_differences(
      result, found, samples.size(), made_of_kinks(request),
      "gradients of lossgrad's own oracles disagree: this is a defect of lossgrad, not of the kernel");
}

}  // namespace lossgrad
