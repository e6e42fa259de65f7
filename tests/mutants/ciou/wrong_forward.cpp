// SPDX-License-Identifier: Apache-2.0
// Wrong values, some of them published: 4/pi^2 squared with the angle, alpha * v with the wrong sign, no eps
// in alpha, areas in half precision, corners read as centres.
#include "mutants/ciou/ciou_wrong_kernels.hpp"

namespace lossgrad::mutants {
namespace {

const std::string kLoss = "one_minus_iou + d2 / c2 + alpha_value * v_value";
const std::string kV = "CiouConstants<C>::kFourOverPiSquared * pair.angle * pair.angle";
const std::vector<std::string> kOnlyLoss = {"loss[0]"};
const std::vector<std::string> kAspect = {"loss[0]", "v[0]", "alpha[0]"};

std::vector<WrongKernel> values() {
  constexpr Pass pass = Pass::forward;
  return {
      {.name = "sign_of_iou",
       .pass = pass,
       .text = {{}, {{"store_value(loss + i, one_minus_iou +", "store_value(loss + i, C(1) + iou_value +"}}},
       .outputs = kOnlyLoss,
       .dtypes = kEveryDtype},
      {.name = "sign_of_distance",
       .pass = pass,
       .text = {{}, {{kLoss, "one_minus_iou - d2 / c2 + alpha_value * v_value"}}},
       .outputs = kOnlyLoss,
       .dtypes = kEveryDtype},
      {.name = "sign_of_alpha_v",
       .pass = pass,
       .text = {{}, {{kLoss, "one_minus_iou + d2 / c2 - alpha_value * v_value"}}},
       .outputs = kOnlyLoss,
       .dtypes = kEveryDtype},
      {.name = "iou_dropped",
       .pass = pass,
       .text = {{}, {{kLoss, "C(1) + d2 / c2 + alpha_value * v_value"}}},
       .outputs = kOnlyLoss,
       .dtypes = kEveryDtype},
      {.name = "distance_dropped",
       .pass = pass,
       .text = {{}, {{kLoss, "one_minus_iou + alpha_value * v_value"}}},
       .outputs = kOnlyLoss,
       .dtypes = kEveryDtype},
      {.name = "alpha_v_dropped",
       .pass = pass,
       .text = {{}, {{kLoss, "one_minus_iou + d2 / c2"}}},
       .outputs = kOnlyLoss,
       .dtypes = kEveryDtype},
      {.name = "distance_not_squared",
       .pass = pass,
       .text = {{}, {{"+ d2 / c2 +", "+ sqrt(d2 / c2) +"}}},
       .outputs = kOnlyLoss,
       .dtypes = kEveryDtype},
      {.name = "constant_squared_too",
       .pass = pass,
       .text = {{},
                {{kV,
                  "CiouConstants<C>::kFourOverPiSquared * CiouConstants<C>::kFourOverPiSquared * pair.angle "
                  "* pair.angle"}}},
       .outputs = kAspect,
       .dtypes = kEveryDtype},
      {.name = "four_over_pi_squared_cut",
       .pass = pass,  // 1.2e-5 of v: below the rounding of 16-bit storage
       .text = {{}, {{"0.405284734569351085775517852838911", "0.40528"}}},
       .outputs = kAspect,
       .dtypes = kWideDtypes},
      {.name = "no_eps_in_alpha",
       .pass = pass,
       .text = {{}, {{"(one_minus_iou + v_value + eps)", "(one_minus_iou + v_value)"}}},
       .reason = "not finite",
       .outputs = {"loss[0]", "alpha[0]"},
       .dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16},  // in f64 1 - iou is never 0 here
       .scenario = "identical"},
      {.name = "no_eps_in_union",
       .pass = pass,
       .text = {{}, {{"- pair.inter + eps", "- pair.inter"}}},
       .dtypes = kEveryDtype},
      {.name = "no_eps_in_diagonal",
       .pass = pass,
       .text = {{}, {{"pair.y.enclosing + eps;", "pair.y.enclosing;"}}},
       .outputs = kOnlyLoss,
       .dtypes = kEveryDtype},
      {.name = "overlap_unclamped",
       .pass = pass,
       .text = {{}, {{"overlap <= C(0) ? C(0) : overlap", "overlap"}}},
       .dtypes = kEveryDtype},
      {.name = "areas_in_half_precision",
       .pass = pass,
       .text = {{},
                {{"pair.pw * pair.ph + tw * th",
                  "__half2float(__float2half(pair.pw * pair.ph)) + __half2float(__float2half(tw * th))"}}},
       .dtypes = {Dtype::f16},
       .scenario = "typical"},
      {.name = "corners_read_as_centres",
       .pass = pass,
       .text = {{},
                {{"pair.x = ciou_side(px, pair.pw, tx, tw);",
                  "pair.x = ciou_side(px + C(0.5) * pair.pw, pair.pw, tx + C(0.5) * tw, tw);"},
                 {"pair.y = ciou_side(py, pair.ph, ty, th);",
                  "pair.y = ciou_side(py + C(0.5) * pair.ph, pair.ph, ty + C(0.5) * th, th);"}}},
       .dtypes = kEveryDtype},
      {.name = "angle_of_prediction_upside_down",
       .pass = pass,
       .text = {{}, {{"tw * ph - pw * th", "tw * pw - ph * th"}, {"th * ph + tw * pw", "th * pw + tw * ph"}}},
       .outputs = kAspect,
       .dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16}},
      {.name = "nan_dropped_in_iou",
       .pass = pass,
       .text = {{}, {{"inner < shift ? inner : shift", "fmin(inner, shift)"}}},
       .reason = "a NaN input was swallowed",
       .outputs = {"iou[0]", "alpha[0]"},
       .dtypes = kEveryDtype,
       .scenario = "typical",
       .nan_inputs = true},
  };
}

// Each kernel alone would do; together they do not.
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
      {.name = "forward_without_distance",
       .pass = Pass::forward,
       .text = {{}, {{kLoss, "one_minus_iou + alpha_value * v_value"}}},
       .check = "self_consistency",
       .reason = "differ from differences of its own forward",
       .scenario = "typical",
       .f64_build = true,
       .checked = Pass::backward,
       .blind = {"reference", "own_saved", "guards", "repeatability"}},
      {.name = "forward_with_half_of_alpha_v",
       .pass = Pass::forward,
       .text = {{}, {{kLoss, "one_minus_iou + d2 / c2 + C(0.5) * alpha_value * v_value"}}},
       .check = "self_consistency",
       .reason = "differ from differences of its own forward",
       .scenario = "typical",
       .f64_build = true,
       .checked = Pass::backward,
       .blind = {"reference", "own_saved", "guards", "repeatability"}},
      {.name = "backward_unlike_its_forward",
       .pass = Pass::backward,
       .text = {{}, {{"const C two_over_c2 = C(2) * inverse_c2;", "const C two_over_c2 = inverse_c2;"}}},
       .check = "self_consistency",
       .reason = "differ from differences of its own forward",
       .scenario = "typical",
       .f64_build = true},
  };
}

}  // namespace

std::vector<WrongKernel> wrong_forward_kernels() {
  std::vector<WrongKernel> all = values();
  for (WrongKernel& kernel : pairs()) all.push_back(std::move(kernel));
  return all;
}

}  // namespace lossgrad::mutants
