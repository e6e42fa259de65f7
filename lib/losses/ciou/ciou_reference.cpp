// SPDX-License-Identifier: Apache-2.0
#include "losses/ciou/ciou_reference.hpp"

#include <algorithm>
#include <cmath>

#include "losses/ciou/ciou_kernel.hpp"
#include "losses/right_value.hpp"

namespace lossgrad {
namespace {

// The centre form comes first and is the sharp reference. The general one holds for kernels in either form:
// where an edge happens to lie near zero, corner arithmetic is the more accurate of the two.
void put(ReferenceValues& values, std::size_t element, CiouForm form, const RightValue& x) {
  form == CiouForm::centre ? put_sharp(values, element, x) : put_general(values, element, x);
}

using ForwardOutputs = std::array<ReferenceValues*, 4>;  // loss, iou, v, alpha

template <class T>
std::array<RightValue, 4> value_numbers(const CiouBox<T>& pred, const CiouBox<T>& target,
                                        const CiouConvention& convention, CiouForm form) {
  const CiouValues<T> r = ciou_values(pred, target, convention, form, false);
  return {right_value(r.loss), right_value(r.iou), right_value(r.v), right_value(r.alpha)};
}

template <Dtype kType>
void evaluate_forward(const ReferenceRequest& request, const CiouConvention& convention, const Items& items,
                      const ForwardOutputs& out) {
  using Point = RunningError<kType>;
  using Hull = HullError<kType>;
  const auto pred = items.at("pred"), target = items.at("target");
  const std::int64_t n = items.count;
  for (std::int64_t i = 0; i < n; ++i) {
    for (const CiouForm form : {CiouForm::centre, CiouForm::corner}) {
      running_error_state = {};
      auto numbers =
          value_numbers(ciou_box_at<Point>(pred, n, i), ciou_box_at<Point>(target, n, i), convention, form);
      if (running_error_state.ambiguous) {  // the value itself jumps at a gate
        numbers =
            value_numbers(ciou_box_at<Hull>(pred, n, i), ciou_box_at<Hull>(target, n, i), convention, form);
      }
      for (std::size_t output = 0; output < numbers.size(); ++output)
        put(*out[output], static_cast<std::size_t>(i), form, as_stored(request.dtype, numbers[output]));
    }
  }
}

// alpha and iou as a backward kernel may have them: computed again, or read after rounding to the storage
// type, or alpha computed from the saved iou and v.
template <class T>
struct Seen {
  T iou, alpha;
};
template <class T>
Seen<T> seen_by_backward(const CiouValues<T>& r, const CiouConvention& convention, Dtype dtype) {
  const auto rounded = [&](const T& x) { return widened(x, half_ulp(dtype, right_value(x))); };
  Seen<T> seen{rounded(r.iou), rounded(r.alpha)};
  const T from_saved = ciou_alpha(rounded(r.v), seen.iou, convention);
  seen.alpha.error = std::max(seen.alpha.error, from_saved.error);
  if constexpr (requires { seen.alpha.low; }) {  // a rounded iou may be on the other side of a gate
    seen.alpha.low = std::min(seen.alpha.low, from_saved.low);
    seen.alpha.high = std::max(seen.alpha.high, from_saved.high);
  }
  return seen;
}

template <class T>
std::array<RightValue, 4> gradient_numbers(const CiouBox<T>& pred, const CiouBox<T>& target, double dy,
                                           const CiouConvention& convention, CiouForm form, Dtype dtype) {
  const CiouValues<T> r = ciou_values(pred, target, convention, form, true);
  const Seen<T> seen = seen_by_backward(r, convention, dtype);
  const CiouFactors<T> factors = ciou_factors(pred, r, seen.iou, seen.alpha, convention);
  CiouBox<T> d = ciou_gradient(pred, r, factors, T(dy));
  if (form == CiouForm::corner) {  // published code may add up in either order
    const CiouBox<T> at_edges = ciou_gradient_at_edges(pred, r, factors, T(dy));
    d.cx.error = std::max(d.cx.error, at_edges.cx.error);
    d.cy.error = std::max(d.cy.error, at_edges.cy.error);
    d.w.error = std::max(d.w.error, at_edges.w.error);
    d.h.error = std::max(d.h.error, at_edges.h.error);
  }
  return {right_value(d.cx), right_value(d.cy), right_value(d.w), right_value(d.h)};
}

template <Dtype kType>
void evaluate_backward(const ReferenceRequest& request, const CiouConvention& convention, const Items& items,
                       ReferenceValues& d_pred) {
  using Point = RunningError<kType>;
  using Hull = HullError<kType>;
  const auto pred = items.at("pred"), target = items.at("target"), dy = items.at("dy");
  const std::int64_t n = items.count;
  for (std::int64_t i = 0; i < n; ++i) {
    const double upstream = dy[static_cast<std::size_t>(i)];
    for (const CiouForm form : {CiouForm::centre, CiouForm::corner}) {
      running_error_state = {};
      auto numbers = gradient_numbers(ciou_box_at<Point>(pred, n, i), ciou_box_at<Point>(target, n, i),
                                      upstream, convention, form, request.dtype);
      if (running_error_state.ambiguous) {
        numbers = gradient_numbers(ciou_box_at<Hull>(pred, n, i), ciou_box_at<Hull>(target, n, i), upstream,
                                   convention, form, request.dtype);
      }
      for (std::size_t c = 0; c < 4; ++c) {
        put(d_pred, c * static_cast<std::size_t>(n) + static_cast<std::size_t>(i), form,
            as_stored(request.dtype, numbers[c]));
      }
    }
  }
}

// An overlap, a slope or an edge that does not count is zero, and zero times infinity is NaN here. A kernel
// that selects instead of multiplying leaves such terms out.
void note_infinite_boxes(const Items& items, Reference& reference) {
  const auto count = static_cast<std::size_t>(items.count);
  const auto pred = items.at("pred"), target = items.at("target");
  for (std::size_t i = 0; i < count; ++i) {
    bool infinite = false;
    for (std::size_t e = i; e < 4 * count; e += count)
      infinite = infinite || std::isinf(pred[e]) || std::isinf(target[e]);
    if (!infinite) continue;
    for (auto& [name, values] : reference) {
      for (std::size_t e = i; e < values.flags.size(); e += count) {
        if (std::isnan(values.low[e]) || std::isnan(values.high[e])) values.flags[e] |= kNanOfInfinity;
      }
    }
  }
}

}  // namespace

void evaluate_ciou(const ReferenceRequest& request, const Items& items, Reference& reference) {
  const CiouConvention& convention = find_ciou_convention(request.convention);
  const auto count = static_cast<std::size_t>(items.count);
  const bool wide = compute_type(request.dtype) == Dtype::f64;
  if (request.pass == Pass::forward) {
    for (const char* output : {"loss", "iou", "v", "alpha"}) {
      reference[output] = {};
      reference[output].resize(count);
    }
    const ForwardOutputs out = {&reference["loss"], &reference["iou"], &reference["v"], &reference["alpha"]};
    wide ? evaluate_forward<Dtype::f64>(request, convention, items, out)
         : evaluate_forward<Dtype::f32>(request, convention, items, out);
    note_infinite_boxes(items, reference);
    return;
  }
  ReferenceValues& d_pred = reference["d_pred"];
  d_pred = {};
  d_pred.resize(4 * count);
  wide ? evaluate_backward<Dtype::f64>(request, convention, items, d_pred)
       : evaluate_backward<Dtype::f32>(request, convention, items, d_pred);
  note_infinite_boxes(items, reference);
}

CiouClosedGradient ciou_closed_gradient(const Items& items, std::int64_t index,
                                        const CiouConvention& convention) {
  using T = RunningError<Dtype::f64>;
  running_error_state = {};
  const auto pred = ciou_box_at<T>(items.at("pred"), items.count, index);
  const auto target = ciou_box_at<T>(items.at("target"), items.count, index);
  const auto r = ciou_values(pred, target, convention, CiouForm::centre, true);
  const auto d = ciou_gradient(pred, r, ciou_factors(pred, r, r.iou, r.alpha, convention), T(1.0));
  const auto error = [](const T& x) { return running_error_state.overflow ? HUGE_VAL : x.error; };
  return {{d.cx.value, d.cy.value, d.w.value, d.h.value}, {error(d.cx), error(d.cy), error(d.w), error(d.h)}};
}

}  // namespace lossgrad
