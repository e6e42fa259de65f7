// SPDX-License-Identifier: Apache-2.0
#include "check/samples.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "base/error.hpp"
#include "check/check_request.hpp"
#include "math/random.hpp"
#include "math/ridders.hpp"

namespace lossgrad {
namespace {

constexpr int kRandomDirections = 2;
// Values of differentiated inputs that the differences of one case may take, at the fewest samples.
constexpr std::int64_t kMostValues = std::int64_t{1} << 24;
constexpr std::int64_t kFewestSamples = 2;

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
  const Kernel forward = own_kernel(request, Pass::forward, Dtype::f64);
  for (const Argument& argument : forward.arguments()) {
    if (argument.role != ArgumentRole::output) continue;
    const ReferenceValues& values = reference.at(argument.name);
    const bool usable =
        (values.flags.front() & (kOutOfRange | kOverflow)) == 0 && std::isfinite(values.sharp_low.front());
    return usable ? values.sharp_bound.front() : std::numeric_limits<double>::infinity();
  }
  throw Error(ErrorKind::internal, forward.id() + " has no output");
}

// Steps of a thousand roundings of the coordinates at least, else differences are all noise; along a random
// direction, whose points are rounded in every component, of a million.
constexpr double kLeastStep = 1000 * 0x1p-52;
constexpr double kLeastDenseStep = 1e6 * 0x1p-52;

double largest_magnitude(std::span<const double> values) {
  double largest = 0;
  for (const double x : values) largest = std::max(largest, std::abs(x));
  return largest;
}

std::vector<double> random_unit_vector(std::size_t size, std::uint64_t seed, std::int64_t number) {
  constexpr std::uint32_t kStream = 0xd1ec;
  ItemRandom random(seed, kStream, number);
  std::vector<double> vector(size);
  double square = 0;
  for (double& x : vector) {
    x = random.normal();
    square += x * x;
  }
  for (double& x : vector) x /= std::sqrt(square);
  return vector;
}

std::vector<Direction> choose_directions(const CheckRequest& request, const GradientOracles& oracles,
                                         std::int64_t item) {
  const double scale = largest_magnitude(oracles.point);
  const std::size_t count = oracles.point.size();
  const std::size_t kept = request.full_jacobian ? count : std::min(count, kMostCoordinates);
  std::vector<Direction> chosen;
  const auto add = [&](std::size_t component, std::vector<double> dense, double radius) {
    const double step = std::min(radius, 0.05 * scale);
    if (step > (dense.empty() ? kLeastStep : kLeastDenseStep) * scale)
      chosen.push_back({component, std::move(dense), step});
  };
  for (std::size_t k = 0; k < kept; ++k) {
    const std::size_t c = (k * count / kept + static_cast<std::size_t>(item)) % count;
    add(c, {}, oracles.smooth_radius[c]);
  }
  if (count <= kMostCoordinates) return chosen;
  const double least = *std::min_element(oracles.smooth_radius.begin(), oracles.smooth_radius.end());
  for (int k = 0; k < kRandomDirections; ++k)
    add(0, random_unit_vector(count, request.seed, kRandomDirections * item + k), least);
  return chosen;
}

// Differentiated values of one item.
std::int64_t values_per_item(const CheckRequest& request) {
  std::int64_t values = 0;
  const Kernel backward = own_kernel(request, Pass::backward, Dtype::f64);
  for (const Argument& argument : backward.arguments()) {
    if (argument.role == ArgumentRole::gradient) values += item_layout(request, argument).per_item();
  }
  return values;
}

std::int64_t sample_count(const CheckRequest& request) {
  const std::int64_t values = std::max<std::int64_t>(1, values_per_item(request));
  const std::int64_t most = static_cast<std::int64_t>(kMostCoordinates);
  const std::int64_t directions =
      values <= most ? values : (request.full_jacobian ? values : most) + kRandomDirections;
  const std::int64_t affordable = kMostValues / (values * directions * 2 * kRiddersSteps);
  const std::int64_t total = request.sizes.at(request.loss->item_size());
  return std::min({total, request.fd_samples, std::max(kFewestSamples, affordable)});
}

}  // namespace

std::vector<double> Direction::moved(std::vector<double> point, double step) const {
  if (dense.empty()) {
    point[component] += step;
  } else {
    for (std::size_t i = 0; i < point.size(); ++i) point[i] += step * dense[i];
  }
  return point;
}

double Direction::width(std::span<const double> above, std::span<const double> below, double step) const {
  return dense.empty() ? above[component] - below[component] : 2 * step;
}

std::vector<double> Direction::vector(std::size_t size) const {
  return dense.empty() ? moved(std::vector<double>(size), 1) : dense;
}

double Direction::along(std::span<const double> gradient) const {
  return dense.empty() ? gradient[component]
                       : std::inner_product(dense.begin(), dense.end(), gradient.begin(), 0.0);
}

double Direction::along_magnitudes(std::span<const double> magnitudes) const {
  if (dense.empty()) return magnitudes[component];
  return std::inner_product(dense.begin(), dense.end(), magnitudes.begin(), 0.0, std::plus<>(),
                            [](double d, double m) { return std::abs(d) * m; });
}

GradientComponent gradient_component(const CheckRequest& request, std::size_t component) {
  const Kernel backward = own_kernel(request, Pass::backward, Dtype::f64);
  for (const Argument& argument : backward.arguments()) {
    if (argument.role != ArgumentRole::gradient) continue;
    const auto per_item = static_cast<std::size_t>(item_layout(request, argument).per_item());
    if (component < per_item) return {argument.name, component};
    component -= per_item;
  }
  throw Error(ErrorKind::internal, "the gradients have fewer components than the inputs");
}

std::vector<Sample> draw_samples(const CheckRequest& request, const InputSource& source) {
  std::vector<Sample> samples;
  const std::int64_t total = request.sizes.at(request.loss->item_size());
  const std::int64_t wanted = sample_count(request);
  for (std::int64_t k = 0; k < wanted; ++k) {
    Sample sample;
    // Not total / wanted * k: a period of the data must not decide what is looked at.
    sample.index = static_cast<std::int64_t>((static_cast<double>(k) + 0.5) * static_cast<double>(total) /
                                             static_cast<double>(wanted));
    sample.item = source.read(sample.index, 1);
    if (!all_finite(sample.item)) continue;
    sample.oracles = request.loss->oracles(request.convention, sample.item, 0);
    sample.directions = choose_directions(request, sample.oracles, sample.index);
    if (sample.directions.empty()) continue;
    sample.value_error = error_of_value(request, sample.item);
    if (!std::isfinite(sample.value_error)) continue;
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace lossgrad
