// SPDX-License-Identifier: Apache-2.0
#include "check/samples.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.hpp"

namespace lossgrad {
namespace {

constexpr std::size_t kMostComponents = 8;

bool all_finite(const Items& items) {
  for (const auto& [name, values] : items.values) {
    if (!std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); })) return false;
  }
  return true;
}

// Infinity where the value or some intermediate is not finite: differentiating through it is not meaningful.
double error_of_value(const CheckRequest& request, const Items& item) {
  Reference reference;
  request.loss->evaluate({Pass::forward, Dtype::f64, request.convention}, item, reference);
  const Kernel forward = request.loss->kernel({Pass::forward, Dtype::f64, request.convention, request.block});
  for (const Argument& argument : forward.arguments()) {
    if (argument.role != ArgumentRole::output) continue;
    const ReferenceValues& values = reference.at(argument.name);
    const bool usable =
        (values.flags.front() & (kOutOfRange | kOverflow)) == 0 && std::isfinite(values.sharp_low.front());
    return usable ? values.sharp_bound.front() : std::numeric_limits<double>::infinity();
  }
  throw Error(ErrorKind::internal, forward.id() + " has no output");
}

// Steps of a thousand roundings of the coordinates at least, else differences are all noise.
constexpr double kLeastStep = 1000 * 0x1p-52;

std::vector<Sample::Component> chosen_components(const GradientOracles& oracles, std::int64_t item) {
  double scale = 0;
  for (const double x : oracles.point) scale = std::max(scale, std::abs(x));
  const std::size_t count = oracles.point.size(), kept = std::min(count, kMostComponents);
  std::vector<Sample::Component> chosen;
  for (std::size_t k = 0; k < kept; ++k) {
    const std::size_t c = (k * count / kept + static_cast<std::size_t>(item)) % count;
    const double step = std::min(oracles.smooth_radius[c], 0.05 * scale);
    if (step > kLeastStep * scale) chosen.push_back({c, step});
  }
  return chosen;
}

}  // namespace

std::vector<Sample> draw_samples(const CheckRequest& request, const InputSource& source) {
  std::vector<Sample> samples;
  const std::int64_t total = request.sizes.at(request.loss->item_size());
  const std::int64_t wanted = std::min(total, request.fd_samples);
  for (std::int64_t k = 0; k < wanted; ++k) {
    Sample sample;
    // Not total / wanted * k: a period of the data must not decide what is looked at.
    sample.index = static_cast<std::int64_t>((static_cast<double>(k) + 0.5) * static_cast<double>(total) /
                                             static_cast<double>(wanted));
    sample.item = source.read(sample.index, 1);
    if (!all_finite(sample.item)) continue;
    sample.oracles = request.loss->oracles(request.convention, sample.item, 0);
    sample.components = chosen_components(sample.oracles, sample.index);
    if (sample.components.empty()) continue;
    sample.value_error = error_of_value(request, sample.item);
    if (!std::isfinite(sample.value_error)) continue;
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace lossgrad
