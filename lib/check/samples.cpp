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

// Infinity where some intermediate is infinite: differentiating through it is not meaningful.
double error_of_value(const CheckRequest& request, const Items& item) {
  Reference reference;
  request.loss->evaluate({Pass::forward, Dtype::f64, request.convention}, item, reference);
  const Kernel forward = request.loss->kernel({Pass::forward, Dtype::f64, request.convention, request.block});
  for (const Argument& argument : forward.arguments()) {
    if (argument.role != ArgumentRole::output) continue;
    const ReferenceValues& values = reference.at(argument.name);
    const bool in_range = (values.flags.front() & kOutOfRange) == 0;
    return in_range ? values.sharp_bound.front() : std::numeric_limits<double>::infinity();
  }
  throw Error(ErrorKind::internal, forward.id() + " has no output");
}

std::vector<std::size_t> chosen_components(std::size_t count, std::int64_t item) {
  std::vector<std::size_t> chosen;
  const std::size_t kept = std::min(count, kMostComponents);
  for (std::size_t k = 0; k < kept; ++k) chosen.push_back((k * count / kept + static_cast<std::size_t>(item)) % count);
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
    const double radius = sample.oracles.smooth_radius;
    if (!(radius > 0) || !std::isfinite(radius)) continue;
    double scale = 0;
    for (const double x : sample.oracles.point) scale = std::max(scale, std::abs(x));
    sample.first_step = std::min(radius, 0.05 * scale);
    // Steps of a thousand roundings of the coordinates at least, else differences are all noise.
    if (sample.first_step < 1000 * 0x1p-52 * scale) continue;
    sample.value_error = error_of_value(request, sample.item);
    if (!std::isfinite(sample.value_error)) continue;
    sample.components = chosen_components(sample.oracles.point.size(), sample.index);
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace lossgrad
