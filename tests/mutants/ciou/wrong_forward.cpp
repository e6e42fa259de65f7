// SPDX-License-Identifier: Apache-2.0
// Wrong values, some of them published: 4/pi^2 squared with the angle, alpha * v with the wrong sign, no eps
// in alpha, areas in half precision, corners read as centres.
#include <utility>

#include "mutants/ciou/ciou_wrong_kernels.hpp"

namespace lossgrad::mutants {
namespace {

using Edits = std::vector<Edit>;
using Outputs = std::vector<std::string>;

const std::string kLoss = "one_minus_iou + d2 / c2 + alpha_value * v_value";
const std::string kV = "CiouConstants<C>::kFourOverPiSquared * pair.angle * pair.angle";
const Outputs kOnlyLoss = {"loss[0]"};
const Outputs kAspect = {"loss[0]", "v[0]", "alpha[0]"};

// Seen by the reference check of forward, among `outputs`; empty: any.
WrongKernel wrong_value(std::string name, Edits edits, Outputs outputs = {},
                        std::vector<Dtype> dtypes = kEveryDtype) {
  return {.name = std::move(name),
          .pass = Pass::forward,
          .text = {{}, std::move(edits)},
          .outputs = std::move(outputs),
          .dtypes = std::move(dtypes)};
}

std::vector<WrongKernel> signs() {
  return {
      wrong_value("sign_of_iou",
                  {{"store_value(loss + i, one_minus_iou +", "store_value(loss + i, C(1) + iou_value +"}},
                  kOnlyLoss),
      wrong_value("sign_of_distance", {{kLoss, "one_minus_iou - d2 / c2 + alpha_value * v_value"}},
                  kOnlyLoss),
      wrong_value("sign_of_alpha_v", {{kLoss, "one_minus_iou + d2 / c2 - alpha_value * v_value"}}, kOnlyLoss),
  };
}

std::vector<WrongKernel> terms() {
  return {
      wrong_value("iou_dropped", {{kLoss, "C(1) + d2 / c2 + alpha_value * v_value"}}, kOnlyLoss),
      wrong_value("distance_dropped", {{kLoss, "one_minus_iou + alpha_value * v_value"}}, kOnlyLoss),
      wrong_value("alpha_v_dropped", {{kLoss, "one_minus_iou + d2 / c2"}}, kOnlyLoss),
      wrong_value("distance_not_squared", {{"+ d2 / c2 +", "+ sqrt(d2 / c2) +"}}, kOnlyLoss),
  };
}

std::vector<WrongKernel> constants_and_eps() {
  WrongKernel no_eps_in_alpha = wrong_value(
      "no_eps_in_alpha", {{"(one_minus_iou + v_value + eps)", "(one_minus_iou + v_value)"}},
      {"loss[0]", "alpha[0]"}, {Dtype::f32, Dtype::f16, Dtype::bf16});  // in f64 1 - iou is never 0 here
  no_eps_in_alpha.reason = "not finite";
  no_eps_in_alpha.scenario = "identical";
  return {
      wrong_value("constant_squared_too", {{kV, "CiouConstants<C>::kFourOverPiSquared * " + kV}}, kAspect),
      // 1.2e-5 of v: below the rounding of 16-bit storage.
      wrong_value("four_over_pi_squared_cut", {{"0.405284734569351085775517852838911", "0.40528"}}, kAspect,
                  kWideDtypes),
      std::move(no_eps_in_alpha),
      wrong_value("no_eps_in_union", {{"- pair.inter + eps", "- pair.inter"}}),
      wrong_value("no_eps_in_diagonal", {{"pair.y.enclosing + eps;", "pair.y.enclosing;"}}, kOnlyLoss),
  };
}

std::vector<WrongKernel> geometry() {
  WrongKernel half_areas =
      wrong_value("areas_in_half_precision",
                  {{"pair.pw * pair.ph + tw * th",
                    "__half2float(__float2half(pair.pw * pair.ph)) + __half2float(__float2half(tw * th))"}},
                  {}, {Dtype::f16});
  half_areas.scenario = "typical";
  return {
      wrong_value("overlap_unclamped", {{"overlap <= C(0) ? C(0) : overlap", "overlap"}}),
      std::move(half_areas),
      wrong_value("corners_read_as_centres",
                  {{"pair.x = ciou_side(px, pair.pw, tx, tw);",
                    "pair.x = ciou_side(px + C(0.5) * pair.pw, pair.pw, tx + C(0.5) * tw, tw);"},
                   {"pair.y = ciou_side(py, pair.ph, ty, th);",
                    "pair.y = ciou_side(py + C(0.5) * pair.ph, pair.ph, ty + C(0.5) * th, th);"}}),
      wrong_value("angle_of_prediction_upside_down",
                  {{"tw * ph - pw * th", "tw * pw - ph * th"}, {"th * ph + tw * pw", "th * pw + tw * ph"}},
                  kAspect, {Dtype::f32, Dtype::f16, Dtype::bf16}),
  };
}

std::vector<WrongKernel> nan_inputs() {
  WrongKernel dropped =
      wrong_value("nan_dropped_in_iou", {{"inner < shift ? inner : shift", "fmin(inner, shift)"}},
                  {"iou[0]", "alpha[0]"});
  dropped.reason = "a NaN input was swallowed";
  dropped.scenario = "typical";
  dropped.nan_inputs = true;
  return {std::move(dropped)};
}

// Each kernel alone would do; together they do not: seen by the differences of forward alone.
WrongKernel unlike_its_other(std::string name, Pass pass, Edits edits) {
  WrongKernel made{.name = std::move(name),
                   .pass = pass,
                   .text = {{}, std::move(edits)},
                   .check = "self_consistency",
                   .reason = "differ from differences of its own forward",
                   .scenario = "typical",
                   .f64_build = true};
  if (pass == Pass::forward) {
    made.checked = Pass::backward;
    made.blind = {"reference", "own_saved", "guards", "repeatability"};
  }
  return made;
}

std::vector<WrongKernel> pairs() {
  return {
      {.name = "saved_alpha_is_alpha_v",
       .pass = Pass::forward,
       .text = {{},
                {{"store_value(alpha + i, alpha_value)", "store_value(alpha + i, alpha_value * v_value)"}}},
       .check = "own_saved",
       .dtypes = kEveryDtype,
       .checked = Pass::backward,
       .blind = {"reference", "guards", "repeatability"}},
      unlike_its_other("forward_without_distance", Pass::forward,
                       {{kLoss, "one_minus_iou + alpha_value * v_value"}}),
      unlike_its_other("forward_with_half_of_alpha_v", Pass::forward,
                       {{kLoss, "one_minus_iou + d2 / c2 + C(0.5) * alpha_value * v_value"}}),
      unlike_its_other("backward_unlike_its_forward", Pass::backward,
                       {{"const C two_over_c2 = C(2) * inverse_c2;", "const C two_over_c2 = inverse_c2;"}}),
  };
}

}  // namespace

std::vector<WrongKernel> wrong_forward_kernels() {
  return joined({signs(), terms(), constants_and_eps(), geometry(), nan_inputs(), pairs()});
}

}  // namespace lossgrad::mutants
