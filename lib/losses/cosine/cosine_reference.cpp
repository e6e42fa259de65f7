// SPDX-License-Identifier: Apache-2.0
#include "losses/cosine/cosine_reference.hpp"

#include <algorithm>
#include <cmath>

namespace lossgrad {
namespace {

struct ProductSums {
  ProductSum x11, x22, x12;
};
ProductSums product_sums(const CosineItem& row) {
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
void note_range_of_product(const CosineSums<RunningError<kType>>& sums, const CosineItem& row, Pass pass,
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
  const double error = norm.error + ComputeFormat<kType>::kUnitRoundoff * least;
  return std::abs(norm.value - least) <= running_error_detail::apart_by<kType>(error);
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

// The value is continuous: where a maximum is undecided, either way of resolving it errs within its own bound
// of its own value.
template <Dtype kType>
RightValue loss_value(const CosineSums<RunningError<kType>>& sums, const CosineItem& row, double margin,
                      CosineConvention convention) {
  const auto value_of_way = [&](const CosineBranches& branches) {
    return cosine_value(outcome_of(sums, convention, branches).cosine, row.y, margin);
  };
  RightValue value = right_value(value_of_way(cosine_branches(sums, convention)));
  for (const CosineBranches& branches : ways(sums, convention)) {
    const RunningError<kType> other = value_of_way(branches);
    value.error = std::max(value.error, other.error + std::abs(other.value - value.low));
  }
  return value;
}

template <Dtype kType>
void evaluate_forward(const ReferenceRequest& request, CosineConvention convention, const Items& items,
                      ReferenceValues& loss) {
  for (std::int64_t i = 0; i < items.count; ++i) {
    const CosineItem row = cosine_item(items, i);
    const ProductSums sums = product_sums(row);
    const auto element = static_cast<std::size_t>(i);
    running_error_state = {};
    const auto blocked = running_sums<kType>(sums, SumOrder::blocked);
    note_range_of_product(blocked, row, request.pass, convention);
    put_sharp(loss, element,
              as_stored(request.dtype, loss_value(blocked, row, cosine_margin(items), convention)));
    const auto any = running_sums<kType>(sums, SumOrder::any);
    put_general(loss, element,
                as_stored(request.dtype, loss_value(any, row, cosine_margin(items), convention)));
  }
}

enum class Hinge { active, inactive, undecided };

template <Dtype kType>
Hinge hinge_of(const RunningError<kType>& cosine, double y, double margin) {
  const double distance = cosine.value - margin;
  if (y > 0 || std::isnan(distance)) return Hinge::active;
  if (std::abs(distance) <= running_error_detail::apart_by<kType>(cosine.error)) return Hinge::undecided;
  return distance > 0 ? Hinge::active : Hinge::inactive;
}

// d loss / d x1 (output 0) or d x2 (output 1) with the maxima and the hinge resolved in one way.
template <Dtype kType>
std::vector<RightValue> values_of_way(const CosineItem& row, std::size_t output, double coefficient,
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
CosineGradients row_gradients(const CosineSums<RunningError<kType>>& sums, const CosineItem& row,
                              double upstream, double margin, CosineConvention convention) {
  CosineGradients gradients;
  const double coefficient = row.y > 0 ? -upstream : upstream;
  for (const CosineBranches& branches : ways(sums, convention)) {
    const auto outcome = outcome_of(sums, convention, branches);
    const Hinge hinge = hinge_of(outcome.cosine, row.y, margin);
    // A row that may be inactive may be zero, whatever its dy.
    const bool may_be_inactive = std::isnan(outcome.cosine.value) || hinge == Hinge::undecided;
    gradients.nan_or_zero = gradients.nan_or_zero || (row.y < 0 && may_be_inactive);
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
    const CosineItem row = cosine_item(items, i);
    const ProductSums sums = product_sums(row);
    const std::size_t begin = static_cast<std::size_t>(i) * n_dim;
    running_error_state = {};
    note_range_of_product(running_sums<kType>(sums, SumOrder::blocked), row, request.pass, convention);
    for (const SumOrder order : {SumOrder::blocked, SumOrder::any}) {
      const CosineGradients gradients =
          row_gradients(running_sums<kType>(sums, order), row, dy[static_cast<std::size_t>(i)],
                        cosine_margin(items), convention);
      // A cosine that overflows is on neither side of the margin for sure.
      const bool nan_or_zero = gradients.nan_or_zero || (row.y < 0 && running_error_state.overflow);
      for (std::size_t output = 0; output < 2; ++output) {
        ReferenceValues& values = *outputs[output];
        for (std::size_t e = 0; e < n_dim; ++e) {
          const RightValue value = as_stored(request.dtype, gradients.values[output][e]);
          order == SumOrder::blocked ? put_sharp(values, begin + e, value)
                                     : put_general(values, begin + e, value);
          if (nan_or_zero) values.flags[begin + e] |= kZeroToo;
        }
      }
      // Short rows: every order is a blocked one.
      if (static_cast<double>(n_dim) + 3 <= kBlockedRoundings) break;
    }
  }
}

}  // namespace

CosineItem cosine_item(const Items& items, std::int64_t index) {
  const std::int64_t n_dim = items.sizes.at("n_dim");
  const auto vector = [&](const char* argument) -> Vector<double> {
    const auto values = items.at(argument).subspan(static_cast<std::size_t>(index * n_dim));
    return Eigen::Map<const Vector<double>>(values.data(), n_dim);
  };
  return {vector("x1"), vector("x2"), items.at("y")[static_cast<std::size_t>(index)]};
}

void evaluate_cosine(const ReferenceRequest& request, CosineConvention convention, const Items& items,
                     Reference& reference) {
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

CosineGradients cosine_closed_gradients(const CosineItem& item, double margin, CosineConvention convention) {
  return row_gradients(running_sums<Dtype::f64>(product_sums(item), SumOrder::any), item, 1, margin,
                       convention);
}

}  // namespace lossgrad
