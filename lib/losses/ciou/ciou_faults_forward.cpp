// SPDX-License-Identifier: Apache-2.0
// Wrong values, some of them published: 4/pi^2 squared with the angle, alpha * v with the wrong sign, no eps
// in alpha, areas in half precision, centres read as corners.
// NOLINTBEGIN(readability-function-size): tables
#include "losses/ciou/ciou_faults.hpp"

namespace lossgrad {
namespace {

const std::string kLoss = "one_minus_iou + d2 / c2 + alpha_value * v_value";
const std::string kV = "CiouConstants<C>::kFourOverPiSquared * pair.angle * pair.angle";
const std::vector<std::string> kOnlyLoss = {"loss[0]"};
const std::vector<std::string> kAspect = {"loss[0]", "v[0]", "alpha[0]"};

std::vector<Fault> values() {
  constexpr Pass kPass = Pass::forward;
  return {
      {.name = "sign_of_iou",
       .family = FaultFamily::sign,
       .summary = "the IoU had the other sign",
       .pass = kPass,
       .edits = {{"store_value(loss + i, one_minus_iou +", "store_value(loss + i, C(1) + iou_value +"}},
       .outputs = kOnlyLoss},
      {.name = "sign_of_distance",
       .family = FaultFamily::sign,
       .summary = "the centre distance had the other sign",
       .pass = kPass,
       .edits = {{kLoss, "one_minus_iou - d2 / c2 + alpha_value * v_value"}},
       .outputs = kOnlyLoss},
      {.name = "sign_of_alpha_v",
       .family = FaultFamily::sign,
       .summary = "alpha*v had the other sign",
       .pass = kPass,
       .edits = {{kLoss, "one_minus_iou + d2 / c2 - alpha_value * v_value"}},
       .outputs = kOnlyLoss},
      {.name = "iou_dropped",
       .family = FaultFamily::dropped_term,
       .summary = "the IoU were missing",
       .pass = kPass,
       .edits = {{kLoss, "C(1) + d2 / c2 + alpha_value * v_value"}},
       .outputs = kOnlyLoss},
      {.name = "distance_dropped",
       .family = FaultFamily::dropped_term,
       .summary = "the centre distance were missing",
       .pass = kPass,
       .edits = {{kLoss, "one_minus_iou + alpha_value * v_value"}},
       .outputs = kOnlyLoss},
      {.name = "alpha_v_dropped",
       .family = FaultFamily::dropped_term,
       .summary = "alpha*v were missing",
       .pass = kPass,
       .edits = {{kLoss, "one_minus_iou + d2 / c2"}},
       .outputs = kOnlyLoss},
      {.name = "distance_not_squared",
       .family = FaultFamily::factor,
       .summary = "the centre distance were not squared",
       .pass = kPass,
       .edits = {{"+ d2 / c2 +", "+ sqrt(d2 / c2) +"}},
       .outputs = kOnlyLoss},
      {.name = "constant_squared_too",
       .family = FaultFamily::factor,
       .summary = "4/pi^2 were squared with the angle",
       .pass = kPass,
       .edits = {{kV,
                  "CiouConstants<C>::kFourOverPiSquared * CiouConstants<C>::kFourOverPiSquared * pair.angle "
                  "* pair.angle"}},
       .outputs = kAspect},
      // 1.2e-5 of v: in 16-bit storage it shows where it tips the rounding.
      {.name = "four_over_pi_squared_cut",
       .family = FaultFamily::constant,
       .summary = "4/pi^2 were cut to 0.40528",
       .pass = kPass,
       .edits = {{"0.405284734569351085775517852838911", "0.40528"}},
       .outputs = kAspect},
      {.name = "no_eps_in_alpha",
       .family = FaultFamily::eps,
       .summary = "eps were left out of alpha",
       .pass = kPass,
       .edits = {{"(one_minus_iou + v_value + eps)", "(one_minus_iou + v_value)"}},
       .outputs = {"loss[0]", "alpha[0]"},
       .dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16},
       .elsewhere = "1 - iou is never 0 in f64 here",
       .scenario = "identical"},
      {.name = "no_eps_in_union",
       .family = FaultFamily::eps,
       .summary = "eps were left out of the union",
       .pass = kPass,
       .edits = {{"- pair.inter + eps", "- pair.inter"}}},
      {.name = "no_eps_in_diagonal",
       .family = FaultFamily::eps,
       .summary = "eps were left out of the enclosing diagonal",
       .pass = kPass,
       .edits = {{"pair.y.enclosing + eps;", "pair.y.enclosing;"}},
       .outputs = kOnlyLoss},
      {.name = "overlap_unclamped",
       .family = FaultFamily::branch,
       .summary = "the overlap were not clamped at 0",
       .pass = kPass,
       .edits = {{"overlap <= C(0) ? C(0) : overlap", "overlap"}}},
      {.name = "areas_in_half_precision",
       .family = FaultFamily::low_precision,
       .summary = "the areas were held in half precision",
       .pass = kPass,
       .edits = {{"template <typename C, typename CHOICES = CiouContract>\nstruct CiouConstants",
                  "#include <cuda_fp16.h>\n"
                  "template <typename C, typename CHOICES = CiouContract>\nstruct CiouConstants"},
                 {"pair.pw * pair.ph + tw * th",
                  "__half2float(__float2half(pair.pw * pair.ph)) + __half2float(__float2half(tw * th))"}},
       .scenario = "typical"},
      {.name = "centres_read_as_corners",
       .family = FaultFamily::layout,
       .summary = "the centres were taken for lower corners",
       .pass = kPass,
       .edits = {{"pair.x = ciou_side(px, pair.pw, tx, tw);",
                  "pair.x = ciou_side(px + C(0.5) * pair.pw, pair.pw, tx + C(0.5) * tw, tw);"},
                 {"pair.y = ciou_side(py, pair.ph, ty, th);",
                  "pair.y = ciou_side(py + C(0.5) * pair.ph, pair.ph, ty + C(0.5) * th, th);"}}},
      {.name = "angle_of_prediction_upside_down",
       .family = FaultFamily::swapped_argument,
       .summary = "the predicted aspect ratio were height over width",
       .pass = kPass,
       .edits = {{"tw * ph - pw * th", "tw * pw - ph * th"}, {"th * ph + tw * pw", "th * pw + tw * ph"}},
       .outputs = kAspect,
       .dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16},
       .elsewhere = "f64 takes the plain ratios: this text is not used"},
      {.name = "nan_dropped_in_iou",
       .family = FaultFamily::swallowed_nan,
       .summary = "fmin dropped a NaN in the overlap",
       .pass = kPass,
       .edits = {{"inner < shift ? inner : shift", "fmin(inner, shift)"}},
       .reason = "a NaN input was swallowed",
       .outputs = {"iou[0]", "alpha[0]"},
       .scenario = "non_finite"},
  };
}

// Each kernel alone would do; together they do not.
std::vector<Fault> pairs() {
  return {
      {.name = "saved_alpha_is_alpha_v",
       .family = FaultFamily::inconsistent,
       .summary = "alpha*v were saved for alpha",
       .pass = Pass::forward,
       .edits = {{"store_value(alpha + i, alpha_value)", "store_value(alpha + i, alpha_value * v_value)"}},
       .check = "own_saved",
       .checked = Pass::backward,
       .blind = {"reference", "guards", "repeatability"}},
      {.name = "forward_without_distance",
       .family = FaultFamily::inconsistent,
       .summary = "forward left the centre distance out and backward did not",
       .pass = Pass::forward,
       .edits = {{kLoss, "one_minus_iou + alpha_value * v_value"}},
       .check = "self_consistency",
       .reason = "differ from differences of its own forward",
       .scenario = "typical",
       .f64_build = true,
       .checked = Pass::backward,
       .blind = {"reference", "own_saved", "guards", "repeatability"}},
      {.name = "forward_with_half_of_alpha_v",
       .family = FaultFamily::inconsistent,
       .summary = "forward halved alpha*v and backward did not",
       .pass = Pass::forward,
       .edits = {{kLoss, "one_minus_iou + d2 / c2 + C(0.5) * alpha_value * v_value"}},
       .check = "self_consistency",
       .reason = "differ from differences of its own forward",
       .scenario = "typical",
       .f64_build = true,
       .checked = Pass::backward,
       .blind = {"reference", "own_saved", "guards", "repeatability"}},
      {.name = "backward_unlike_its_forward",
       .family = FaultFamily::inconsistent,
       .summary = "backward halved the centre distance and forward did not",
       .pass = Pass::backward,
       .edits = {{"const C two_over_c2 = C(2) * inverse_c2;", "const C two_over_c2 = inverse_c2;"}},
       .check = "self_consistency",
       .reason = "differ from differences of its own forward",
       .scenario = "typical",
       .f64_build = true},
  };
}

}  // namespace

std::vector<Fault> ciou_forward_faults() {
  std::vector<Fault> all = values();
  for (Fault& kernel : pairs()) all.push_back(std::move(kernel));
  return all;
}

}  // namespace lossgrad
// NOLINTEND(readability-function-size)
