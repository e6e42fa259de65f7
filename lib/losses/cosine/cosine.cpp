// SPDX-License-Identifier: Apache-2.0
// Cosine embedding loss as the engines see it: what its arguments, kernels, scenarios and reference are, and
// its oracles.
#include "losses/cosine/cosine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "losses/cosine/cosine_faults.hpp"
#include "losses/cosine/cosine_kernel.hpp"
#include "losses/cosine/cosine_parts.hpp"
#include "losses/cosine/cosine_reference.hpp"
#include "losses/cosine/cosine_scenarios.hpp"
#include "losses/loss.hpp"
#include "losses/named.hpp"

namespace lossgrad {
namespace {

template <class T>
CosineSums<T> exact_sums(const Vector<T>& x1, const Vector<T>& x2) {
  return {T((x1 * x1).sum()), T((x2 * x2).sum()), T((x1 * x2).sum())};
}

template <class T>
T value_of_row(const Vector<T>& x1, const Vector<T>& x2, double y, double margin,
               CosineConvention convention) {
  const CosineSums<T> sums = exact_sums(x1, x2);
  const auto factors = cosine_factors(sums, convention, cosine_branches(sums, convention));
  return cosine_value(cosine_of(sums, factors), y, margin);
}

// Steps that keep to one side of every kink and are small against the norms. Where a least norm is hidden
// from the gradient the values do not show it: no step at all.
std::array<double, 2> smooth_radii(const CosineItem& row, double margin, CosineConvention convention) {
  const CosineSums<double> sums = exact_sums(row.x1, row.x2);
  const CosineBranches branches = cosine_branches(sums, convention);
  const double norm1 = std::sqrt(sums.x11), norm2 = std::sqrt(sums.x22);
  const double cosine = cosine_of(sums, cosine_factors(sums, convention, branches));
  double share = row.y < 0 ? std::min(0.05, 0.2 * std::abs(cosine - margin)) : 0.05;
  if (convention == CosineConvention::similarity && (branches.short1 || branches.short2)) share = 0;
  std::array<double, 2> radii = {share * norm1, share * norm2};
  if (convention == CosineConvention::similarity || convention == CosineConvention::normalize) {
    const double least =
        convention == CosineConvention::similarity ? kCosineSimilarityEps : kCosineNormalizeEps;
    radii[0] = std::min(radii[0], 0.25 * std::abs(norm1 - least));
    radii[1] = std::min(radii[1], 0.25 * std::abs(norm2 - least));
  }
  if (convention == CosineConvention::product) {
    const double to_kink = 0.25 * std::abs(norm1 * norm2 - kCosineProductEps);
    radii[0] = std::min(radii[0], to_kink / norm2);
    radii[1] = std::min(radii[1], to_kink / norm1);
  }
  // Derivatives of the reciprocal cubes of norms beyond this leave the range of double.
  constexpr double kMostNorm = 1e100;
  const bool usable = std::max(norm1, norm2) < kMostNorm && std::min(norm1, norm2) > 1 / kMostNorm;
  for (double& radius : radii) {
    if (!usable || !std::isfinite(radius)) radius = 0;
  }
  return radii;
}

class CosineLoss final : public Loss {
 public:
  std::string_view name() const override { return "cosine"; }
  std::string_view summary() const override {
    return "cosine embedding loss of pairs of rows with labels 1 and -1";
  }
  std::span<const NamedChoice> conventions() const override {
    static const std::vector<NamedChoice> choices = choices_of(cosine_rules());
    return choices;
  }
  std::span<const ScenarioInfo> scenarios() const override { return cosine_scenarios(); }
  std::string default_scenario() const override { return "mixed"; }
  std::string item_name() const override { return "row"; }
  std::string item_size() const override { return "n_rows"; }
  std::span<const SizeInfo> sizes() const override {
    static const std::array<SizeInfo, 2> infos = {{{"n_rows", 4099, 0, kLargestSize, "pairs of rows"},
                                                   {"n_dim", 203, 1, kCosineMostDim, "elements of a row"}}};
    return infos;
  }
  std::span<const ParameterInfo> parameters() const override {
    static const std::array<ParameterInfo, 1> infos = {
        // Not 0: a kernel that drops the margin would pass. No number of f16 or bf16: so would one that
        // rounds it.
        {{"margin", 0.3, "of the hinge: pairs with label -1 cost max(0, cos - margin)"}}};
    return infos;
  }
  const BlockInfo& block() const override { return cosine_block(); }
  bool gradients_vanish(const Sizes& sizes) const override {
    return sizes.at("n_dim") == 1;  // the cosine of two numbers is 1 or -1
  }
  std::span<const std::string> examples() const override {
    static const std::vector<std::string> examples = {
        "cosine --rows 20k --dim 512 --dtype f16",
        "cosine --rows 1k --dim 1,31,768 --margin 0.5 --convention torch",
        "cosine --x1 queries.npy --x2 documents.npy --y labels.npy"};
    return examples;
  }

  Kernel kernel(const KernelOptions& options) const override {
    const CosineRule& rule = find_cosine_rule(options.convention);
    const auto dim = options.sizes.find("n_dim");
    const std::int64_t n_dim = dim == options.sizes.end() ? default_sizes(*this).at("n_dim") : dim->second;
    const int block = options.block == kOwnBlock ? cosine_block_size(n_dim) : options.block;
    switch (options.pass) {
      case Pass::forward:
        return CosineEmbeddingLossForward(options.dtype, block, rule);
      case Pass::backward:
        return CosineEmbeddingLossBackward(options.dtype, block, rule);
      case Pass::forward_backward:
        break;
    }
    throw Error(ErrorKind::usage, "cosine has no kernel for the pass forward_backward");
  }
  // The block size decides the order of the sums.
  std::span<const int> repeatability_blocks() const override { return {}; }
  const std::vector<Fault>& faults() const override { return cosine_faults(); }
  Sizes selftest_sizes() const override { return {{"n_rows", 120}, {"n_dim", 200}}; }

  void generate(std::string_view scenario, Dtype dtype, std::uint64_t seed, Items& items) const override;
  void evaluate(const ReferenceRequest& request, const Items& items, Reference& reference) const override;
  GradientOracles oracles(std::string_view convention, const Items& items, std::int64_t index) const override;
  double derivative_along(std::string_view convention, const Items& items, std::int64_t index,
                          std::span<const double> direction) const override;
  double value_at(std::string_view convention, const Items& items, std::int64_t index,
                  std::span<const double> point) const override;
  double value_from_outputs(std::string_view convention, const ItemOutputs& outputs,
                            const ItemOutputs& base) const override;
  std::vector<LossPart> parts(Pass pass, std::string_view convention, const Items& items,
                              std::int64_t index) const override {
    const double dy = pass == Pass::forward ? 0 : items.at("dy")[static_cast<std::size_t>(index)];
    return cosine_parts(pass, find_cosine_rule(convention).convention, cosine_item(items, index), dy,
                        cosine_margin(items));
  }
};

void CosineLoss::generate(std::string_view scenario, Dtype dtype, std::uint64_t seed, Items& items) const {
  const std::int64_t n_dim = items.sizes.at("n_dim");
  const CosineSampler sampler(scenario, dtype, n_dim, cosine_margin(items));
  const auto count = static_cast<std::size_t>(items.count);
  auto& x1 = items.values["x1"];
  auto& x2 = items.values["x2"];
  auto& y = items.values["y"];
  auto& dy = items.values["dy"];
  x1.clear(), x2.clear();
  x1.reserve(count * static_cast<std::size_t>(n_dim)), x2.reserve(count * static_cast<std::size_t>(n_dim));
  y.resize(count), dy.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const CosineRow row = sampler(seed, items.first + static_cast<std::int64_t>(i));
    x1.insert(x1.end(), row.x1.begin(), row.x1.end());
    x2.insert(x2.end(), row.x2.begin(), row.x2.end());
    y[i] = row.y;
    dy[i] = row.dy;
  }
}

void CosineLoss::evaluate(const ReferenceRequest& request, const Items& items, Reference& reference) const {
  evaluate_cosine(request, find_cosine_rule(request.convention).convention, items, reference);
}

GradientOracles CosineLoss::oracles(std::string_view convention_name, const Items& items,
                                    std::int64_t index) const {
  const CosineConvention convention = find_cosine_rule(convention_name).convention;
  const CosineItem row = cosine_item(items, index);
  running_error_state = {};
  const CosineGradients gradients = cosine_closed_gradients(row, cosine_margin(items), convention);
  const std::array<double, 2> radii = smooth_radii(row, cosine_margin(items), convention);
  GradientOracles oracles;
  for (std::size_t output = 0; output < 2; ++output) {
    for (const RightValue& value : gradients.values[output]) {
      oracles.closed.push_back(value.high == value.low ? value.low
                                                       : std::numeric_limits<double>::quiet_NaN());
      oracles.closed_error.push_back(running_error_state.overflow ? HUGE_VAL : value.error);
    }
    const Vector<double>& x = output == 0 ? row.x1 : row.x2;
    oracles.point.insert(oracles.point.end(), x.begin(), x.end());
    oracles.smooth_radius.insert(oracles.smooth_radius.end(), static_cast<std::size_t>(x.size()),
                                 radii[output]);
  }
  return oracles;
}

double CosineLoss::derivative_along(std::string_view convention_name, const Items& items, std::int64_t index,
                                    std::span<const double> direction) const {
  using Slope = Dual<1>;
  const CosineItem row = cosine_item(items, index);
  const auto moving = [&](const Vector<double>& x, std::size_t offset) {
    Vector<Slope> moved(x.size());
    for (Eigen::Index e = 0; e < x.size(); ++e)
      moved[e] = Slope(x[e], Slope::DerType(direction[offset + static_cast<std::size_t>(e)]));
    return moved;
  };
  return value_of_row(moving(row.x1, 0), moving(row.x2, static_cast<std::size_t>(row.x1.size())), row.y,
                      cosine_margin(items), find_cosine_rule(convention_name).convention)
      .derivatives()[0];
}

double CosineLoss::value_at(std::string_view convention_name, const Items& items, std::int64_t index,
                            std::span<const double> point) const {
  const std::int64_t n_dim = items.sizes.at("n_dim");
  const Vector<double> x1 = Eigen::Map<const Vector<double>>(point.data(), n_dim);
  const Vector<double> x2 = Eigen::Map<const Vector<double>>(point.data() + n_dim, n_dim);
  return value_of_row(x1, x2, items.at("y")[static_cast<std::size_t>(index)], cosine_margin(items),
                      find_cosine_rule(convention_name).convention);
}

double CosineLoss::value_from_outputs(std::string_view /*convention*/, const ItemOutputs& outputs,
                                      const ItemOutputs& /*base*/) const {
  return outputs.at("loss").front();
}

}  // namespace

const Loss& cosine_loss() {
  static const CosineLoss loss;
  return loss;
}

}  // namespace lossgrad
