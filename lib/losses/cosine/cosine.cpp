// SPDX-License-Identifier: Apache-2.0
// Cosine embedding loss as the engines see it: arguments, conventions, scenarios, kernels, reference with
// bounds, oracles.
#include "losses/cosine/cosine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/error.hpp"
#include "losses/cosine/cosine_kernel.hpp"
#include "losses/cosine/cosine_scenarios.hpp"
#include "losses/loss.hpp"
#include "losses/right_value.hpp"

namespace lossgrad {
namespace {

// One row of a run.
struct Row {
  Vector<double> x1, x2;
  double y;
};

Row row_at(const Items& items, std::int64_t index) {
  const std::int64_t n_dim = items.sizes.at("n_dim");
  const auto vector = [&](const char* argument) -> Vector<double> {
    const auto values = items.at(argument).subspan(static_cast<std::size_t>(index * n_dim));
    return Eigen::Map<const Vector<double>>(values.data(), n_dim);
  };
  return {vector("x1"), vector("x2"), items.at("y")[static_cast<std::size_t>(index)]};
}

double margin_of(const Items& items) { return items.parameters.at("margin"); }

struct ProductSums {
  ProductSum x11, x22, x12;
};
ProductSums product_sums(const Row& row) {
  return {product_sum(row.x1, row.x1), product_sum(row.x2, row.x2), product_sum(row.x1, row.x2)};
}

template <Dtype kType>
CosineSums<RunningError<kType>> running_sums(const ProductSums& sums, SumOrder order) {
  return {running_sum<kType>(sums.x11, order), running_sum<kType>(sums.x22, order),
          running_sum<kType>(sums.x12, order)};
}

// Many kernels divide by the root of n1^2 * n2^2, and for the gradient by n1^2 * (n1 * n2), whose range is
// smaller than that of the norms. Where it does not fit, what comes out says nothing. The squares of a row
// that is not zero may all be: in f64 here as well as in the kernel.
template <Dtype kType>
void note_range_of_product(const CosineSums<RunningError<kType>>& sums, const Row& row, Pass pass,
                           CosineConvention convention) {
  if (convention == CosineConvention::similarity || convention == CosineConvention::normalize) return;
  const double product = sums.x11.value * sums.x22.value;
  if (!std::isfinite(sums.x11.value) || !std::isfinite(sums.x22.value)) return;
  const double norm1 = std::sqrt(sums.x11.value), norm2 = std::sqrt(sums.x22.value);
  const double least = std::min(norm1, norm2), most = std::max(norm1, norm2);
  const double ratio = pass == Pass::backward && least > 0 ? most / least : 1;
  const bool too_large = product * ratio > ComputeFormat<kType>::kMax;
  const bool has_zero_row = (row.x1 == 0).all() || (row.x2 == 0).all();
  const bool too_small = convention == CosineConvention::exact && !has_zero_row &&
                         product / ratio < ComputeFormat<kType>::kMinNormal;
  if (too_large || too_small) running_error_state.overflow = true;
}

template <Dtype kType>
struct Outcome {
  CosineFactors<RunningError<kType>> factors;
  RunningError<kType> cosine;
};

template <Dtype kType>
Outcome<kType> outcome_of(const CosineSums<RunningError<kType>>& sums, CosineConvention convention,
                          const CosineBranches& branches) {
  const auto factors = cosine_factors(sums, convention, branches);
  return {factors, cosine_of(sums, factors)};
}

// A maximum of a norm and a constant that rounding leaves undecided.
template <Dtype kType>
bool undecided(RunningError<kType> norm, double least) {
  return std::abs(norm.value - least) <= norm.error + ComputeFormat<kType>::kUnitRoundoff * least;
}

// Every way in which a kernel may resolve the maxima that its gradient sees.
template <Dtype kType>
std::vector<CosineBranches> ways(const CosineSums<RunningError<kType>>& sums, CosineConvention convention) {
  std::vector<CosineBranches> all = {cosine_branches(sums, convention)};
  const auto norm1 = root_of(sums.x11), norm2 = root_of(sums.x22);
  const auto also_other = [&](bool CosineBranches::*choice) {
    const std::size_t count = all.size();
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(all[i]);
      all.back().*choice = !(all.back().*choice);
    }
  };
  if (convention == CosineConvention::product) {
    if (undecided(norm1 * norm2, kCosineProductEps)) also_other(&CosineBranches::short1);
  } else if (convention == CosineConvention::normalize) {
    if (undecided(norm1, kCosineNormalizeEps)) also_other(&CosineBranches::short1);
    if (undecided(norm2, kCosineNormalizeEps)) also_other(&CosineBranches::short2);
  }
  return all;
}

void widen(RightValue& value, const RightValue& other) {
  value.low = std::min(value.low, other.low);
  value.high = std::max(value.high, other.high);
  value.error = std::max(value.error, other.error);
}

// Ways that differ by less than half their bound are one: what remains is rounding of the reference itself.
void settle(RightValue& value) {
  const double width = value.high - value.low;
  if (!(width > 0) || !std::isfinite(width) || width > 0.5 * value.error) return;
  value.error += width;
  value.high = value.low;
}

// The value is continuous, so that undecided maxima do not matter to it.
template <Dtype kType>
RightValue loss_value(const CosineSums<RunningError<kType>>& sums, const Row& row, double margin,
                      CosineConvention convention) {
  const auto outcome = outcome_of(sums, convention, cosine_branches(sums, convention));
  return right_value(cosine_value(outcome.cosine, row.y, margin));
}

template <Dtype kType>
void evaluate_forward(const ReferenceRequest& request, CosineConvention convention, const Items& items,
                      ReferenceValues& loss) {
  for (std::int64_t i = 0; i < items.count; ++i) {
    const Row row = row_at(items, i);
    const ProductSums sums = product_sums(row);
    const auto element = static_cast<std::size_t>(i);
    running_error_state = {};
    const auto blocked = running_sums<kType>(sums, SumOrder::blocked);
    note_range_of_product(blocked, row, request.pass, convention);
    put_sharp(loss, element,
              as_stored(request.dtype, loss_value(blocked, row, margin_of(items), convention)));
    const auto any = running_sums<kType>(sums, SumOrder::any);
    put_general(loss, element, as_stored(request.dtype, loss_value(any, row, margin_of(items), convention)));
  }
}

// Gradients of one row with one set of sums; both outputs.
struct RowGradients {
  std::array<std::vector<RightValue>, 2> values;
  bool nan_or_zero = false;  // cos is NaN and y = -1: the comparison with the margin takes no branch for sure
};

enum class Hinge { active, inactive, undecided };

template <Dtype kType>
Hinge hinge_of(const RunningError<kType>& cosine, double y, double margin) {
  const double distance = cosine.value - margin;
  if (y > 0 || std::isnan(distance)) return Hinge::active;
  if (std::abs(distance) <= cosine.error) return Hinge::undecided;
  return distance > 0 ? Hinge::active : Hinge::inactive;
}

// d loss / d x1 (output 0) or d x2 (output 1) with the maxima and the hinge resolved in one way.
template <Dtype kType>
std::vector<RightValue> values_of_way(const Row& row, std::size_t output, double coefficient,
                                      const Outcome<kType>& outcome, Hinge hinge) {
  using T = RunningError<kType>;
  const auto& [factors, cosine] = outcome;
  const bool first = output == 0;
  const Vector<double>& own = first ? row.x1 : row.x2;
  std::vector<RightValue> values(static_cast<std::size_t>(own.size()));
  if (hinge == Hinge::inactive) return values;
  const T along = cosine * (first ? factors.k1 : factors.k2);
  const Vector<T> gradient = cosine_gradient(own, first ? row.x2 : row.x1, first ? factors.r1 : factors.r2,
                                             first ? factors.r2 : factors.r1, along, T(coefficient));
  for (std::size_t e = 0; e < values.size(); ++e) {
    values[e] = right_value(gradient[static_cast<Eigen::Index>(e)]);
    if (hinge == Hinge::undecided) widen(values[e], {0, 0, values[e].error});
  }
  return values;
}

template <Dtype kType>
RowGradients row_gradients(const CosineSums<RunningError<kType>>& sums, const Row& row, double upstream,
                           double margin, CosineConvention convention) {
  RowGradients gradients;
  const double coefficient = row.y > 0 ? -upstream : upstream;
  for (const CosineBranches& branches : ways(sums, convention)) {
    const auto outcome = outcome_of(sums, convention, branches);
    const Hinge hinge = hinge_of(outcome.cosine, row.y, margin);
    gradients.nan_or_zero = row.y < 0 && std::isnan(outcome.cosine.value);
    for (std::size_t output = 0; output < 2; ++output) {
      std::vector<RightValue>& all = gradients.values[output];
      std::vector<RightValue> values = values_of_way(row, output, coefficient, outcome, hinge);
      if (all.empty()) all.swap(values);
      for (std::size_t e = 0; e < values.size(); ++e) widen(all[e], values[e]);
    }
  }
  for (auto& values : gradients.values) std::for_each(values.begin(), values.end(), settle);
  return gradients;
}

template <Dtype kType>
void evaluate_backward(const ReferenceRequest& request, CosineConvention convention, const Items& items,
                       const std::array<ReferenceValues*, 2>& outputs) {
  const auto dy = items.at("dy");
  const auto n_dim = static_cast<std::size_t>(items.sizes.at("n_dim"));
  for (std::int64_t i = 0; i < items.count; ++i) {
    const Row row = row_at(items, i);
    const ProductSums sums = product_sums(row);
    const std::size_t begin = static_cast<std::size_t>(i) * n_dim;
    running_error_state = {};
    note_range_of_product(running_sums<kType>(sums, SumOrder::blocked), row, request.pass, convention);
    for (const SumOrder order : {SumOrder::blocked, SumOrder::any}) {
      const RowGradients gradients =
          row_gradients(running_sums<kType>(sums, order), row, dy[static_cast<std::size_t>(i)],
                        margin_of(items), convention);
      for (std::size_t output = 0; output < 2; ++output) {
        ReferenceValues& values = *outputs[output];
        for (std::size_t e = 0; e < n_dim; ++e) {
          const RightValue value = as_stored(request.dtype, gradients.values[output][e]);
          order == SumOrder::blocked ? put_sharp(values, begin + e, value)
                                     : put_general(values, begin + e, value);
          if (gradients.nan_or_zero) values.flags[begin + e] |= kZeroToo;
        }
      }
      // Short rows: every order is a blocked one.
      if (static_cast<double>(n_dim) + 3 <= kBlockedRoundings) break;
    }
  }
}

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
std::array<double, 2> smooth_radii(const Row& row, double margin, CosineConvention convention) {
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
    static const std::vector<NamedChoice> choices = [] {
      std::vector<NamedChoice> list;
      for (const CosineRule& rule : cosine_rules())
        list.push_back({std::string(rule.name), std::string(rule.summary)});
      return list;
    }();
    return choices;
  }
  std::span<const ScenarioInfo> scenarios() const override { return cosine_scenarios(); }
  std::string default_scenario() const override { return "mixed"; }
  std::string item_name() const override { return "row"; }
  std::string item_size() const override { return "n_rows"; }
  std::span<const SizeInfo> sizes() const override {
    static const std::array<SizeInfo, 2> infos = {{{"n_rows", 4099, 0, kLargestSize, "pairs of rows"},
                                                   {"n_dim", 200, 1, kCosineMostDim, "elements of a row"}}};
    return infos;
  }
  std::span<const ParameterInfo> parameters() const override {
    static const std::array<ParameterInfo, 1> infos = {
        {{"margin", 0.0, "of the hinge: pairs with label -1 cost max(0, cos - margin)"}}};
    return infos;
  }
  const BlockInfo& block() const override { return cosine_block(); }

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

  void generate(std::string_view scenario, Dtype dtype, std::uint64_t seed, Items& items) const override;
  void evaluate(const ReferenceRequest& request, const Items& items, Reference& reference) const override;
  GradientOracles oracles(std::string_view convention, const Items& items, std::int64_t index) const override;
  double derivative_along(std::string_view convention, const Items& items, std::int64_t index,
                          std::span<const double> direction) const override;
  double value_at(std::string_view convention, const Items& items, std::int64_t index,
                  std::span<const double> point) const override;
  double value_from_outputs(std::string_view convention, const ItemOutputs& outputs,
                            const ItemOutputs& base) const override;
};

void CosineLoss::generate(std::string_view scenario, Dtype dtype, std::uint64_t seed, Items& items) const {
  const std::int64_t n_dim = items.sizes.at("n_dim");
  const CosineSampler sampler(scenario, dtype, n_dim, margin_of(items));
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
  const CosineConvention convention = find_cosine_rule(request.convention).convention;
  const bool wide = compute_type(request.dtype) == Dtype::f64;
  const auto count = static_cast<std::size_t>(items.count);
  const auto fresh = [&](const char* output, std::size_t elements) {
    ReferenceValues& values = reference[output];
    values = {};
    values.resize(elements);
    return &values;
  };
  if (request.pass == Pass::forward) {
    ReferenceValues& loss = *fresh("loss", count);
    wide ? evaluate_forward<Dtype::f64>(request, convention, items, loss)
         : evaluate_forward<Dtype::f32>(request, convention, items, loss);
    return;
  }
  const std::size_t elements = count * static_cast<std::size_t>(items.sizes.at("n_dim"));
  const std::array<ReferenceValues*, 2> outputs = {fresh("dx1", elements), fresh("dx2", elements)};
  wide ? evaluate_backward<Dtype::f64>(request, convention, items, outputs)
       : evaluate_backward<Dtype::f32>(request, convention, items, outputs);
}

GradientOracles CosineLoss::oracles(std::string_view convention_name, const Items& items,
                                    std::int64_t index) const {
  const CosineConvention convention = find_cosine_rule(convention_name).convention;
  const Row row = row_at(items, index);
  const auto sums = running_sums<Dtype::f64>(product_sums(row), SumOrder::any);
  const RowGradients gradients = row_gradients(sums, row, 1, margin_of(items), convention);
  const std::array<double, 2> radii = smooth_radii(row, margin_of(items), convention);
  GradientOracles oracles;
  for (std::size_t output = 0; output < 2; ++output) {
    for (const RightValue& value : gradients.values[output]) {
      oracles.closed.push_back(value.high == value.low ? value.low
                                                       : std::numeric_limits<double>::quiet_NaN());
      oracles.closed_error.push_back(value.error);
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
  const Row row = row_at(items, index);
  const auto moving = [&](const Vector<double>& x, std::size_t offset) {
    Vector<Slope> moved(x.size());
    for (Eigen::Index e = 0; e < x.size(); ++e)
      moved[e] = Slope(x[e], Slope::DerType(direction[offset + static_cast<std::size_t>(e)]));
    return moved;
  };
  return value_of_row(moving(row.x1, 0), moving(row.x2, static_cast<std::size_t>(row.x1.size())), row.y,
                      margin_of(items), find_cosine_rule(convention_name).convention)
      .derivatives()[0];
}

double CosineLoss::value_at(std::string_view convention_name, const Items& items, std::int64_t index,
                            std::span<const double> point) const {
  const std::int64_t n_dim = items.sizes.at("n_dim");
  const Vector<double> x1 = Eigen::Map<const Vector<double>>(point.data(), n_dim);
  const Vector<double> x2 = Eigen::Map<const Vector<double>>(point.data() + n_dim, n_dim);
  return value_of_row(x1, x2, items.at("y")[static_cast<std::size_t>(index)], margin_of(items),
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
