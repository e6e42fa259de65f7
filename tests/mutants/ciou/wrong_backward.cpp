// SPDX-License-Identifier: Apache-2.0
// Wrong gradients. Several are bugs that shipped: the enclosing term's sign and the missing half in darknet's
// kernels, the angle rebuilt as a square root, alpha detached or not.
#include <utility>

#include "mutants/ciou/ciou_wrong_kernels.hpp"

namespace lossgrad::mutants {
namespace {

using Edits = std::vector<Edit>;
using Outputs = std::vector<std::string>;

const std::string kByAlpha = "ALPHA_THROUGH ? alpha_value * alpha_value - C(1) : C(-1)";
const std::string kByIou = "(" + kByAlpha + ") * inverse_union";
const std::string kByV = "ALPHA_THROUGH ? alpha_value * (C(2) - alpha_value) : alpha_value;";
const std::string kTwice = "const C two_over_c2 = C(2) * inverse_c2;";
const std::string kTurn = "const C angle_scale = by_v *";
const std::string kOverlapBySize = "apart ? C(0) : C(0.5) * (inner_upper + inner_lower)";
const std::string kEnclosingBySize = "C(0.5) * (outer_upper + outer_lower)";
const Outputs kSizes = {"d_pred[2]", "d_pred[3]"};
const Outputs kCentres = {"d_pred[0]", "d_pred[1]"};

// Seen by the reference check of backward, among `outputs`; empty: any.
WrongKernel wrong_gradient(std::string name, Edits edits, Outputs outputs = {},
                           std::vector<Dtype> dtypes = kEveryDtype) {
  return {.name = std::move(name),
          .text = {{}, std::move(edits)},
          .outputs = std::move(outputs),
          .dtypes = std::move(dtypes)};
}

// Seen where inputs are NaN.
WrongKernel swallows_nan(std::string name, Edits edits, Outputs outputs = {}) {
  WrongKernel made = wrong_gradient(std::move(name), std::move(edits), std::move(outputs));
  made.reason = "a NaN input was swallowed";
  made.scenario = "typical";
  made.nan_inputs = true;
  return made;
}

std::vector<WrongKernel> signs() {
  return {
      wrong_gradient("sign_of_iou_part", {{kByIou, "-" + kByIou}}),
      wrong_gradient("sign_of_distance_part", {{kTwice, "const C two_over_c2 = C(-2) * inverse_c2;"}}),
      wrong_gradient("sign_of_aspect_part", {{kTurn, "const C angle_scale = -by_v *"}}, kSizes),
      wrong_gradient("sign_of_enclosing_part_in_centres",
                     {{"pair.x.apart - ratio", "pair.x.apart + ratio"},
                      {"pair.y.apart - ratio", "pair.y.apart + ratio"}},
                     kCentres),
      wrong_gradient("sign_of_angle_lost",
                     {{"kFourOverPiSquared) * pair.angle", "kFourOverPiSquared) * absolute(pair.angle)"}},
                     kSizes),
  };
}

std::vector<WrongKernel> factors() {
  return {
      wrong_gradient("half_missing_in_overlap_by_size",
                     {{kOverlapBySize, "apart ? C(0) : (inner_upper + inner_lower)"}}, kSizes),
      wrong_gradient("half_missing_in_enclosing_by_size", {{kEnclosingBySize, "(outer_upper + outer_lower)"}},
                     kSizes),
      wrong_gradient("gradient_doubled", {{"= load_value(dy + i)", "= C(2) * load_value(dy + i)"}}),
      wrong_gradient("distance_part_halved", {{kTwice, "const C two_over_c2 = inverse_c2;"}}),
  };
}

std::vector<WrongKernel> terms() {
  return {
      wrong_gradient("iou_part_dropped", {{kByIou, "C(0) * inverse_union"}}),
      wrong_gradient("distance_part_dropped", {{kTwice, "const C two_over_c2 = C(0);"}}),
      wrong_gradient("aspect_part_dropped", {{kTurn, "const C angle_scale = C(0) *"}}, kSizes),
      wrong_gradient("area_term_dropped", {{"by_area = -by_iou * iou", "by_area = C(0)"}}, kSizes),
      wrong_gradient("overlap_left_out_of_union_slope", {{"by_iou * (C(1) + iou)", "by_iou"}}),
      wrong_gradient("enclosing_box_held_fixed",
                     {{"const C ratio = d2 * inverse_c2;", "const C ratio = C(0);"}}),
  };
}

std::vector<WrongKernel> alpha() {
  WrongKernel carried = wrong_gradient(
      "alpha_carried_where_it_is_fixed",
      {{kByAlpha, "alpha_value * alpha_value - C(1)"}, {kByV, "alpha_value * (C(2) - alpha_value);"}});
  carried.convention = "torchvision";
  return {
      wrong_gradient("alpha_detached", {{kByAlpha, "C(-1)"}, {kByV, "alpha_value;"}}),
      wrong_gradient("alpha_detached_from_iou_alone", {{kByAlpha, "C(-1)"}}),
      std::move(carried),
      wrong_gradient("alpha_squared_twice", {{"alpha_value * alpha_value - C(1)",
                                              "alpha_value * alpha_value * alpha_value - C(1)"}}),
  };
}

std::vector<WrongKernel> constants_eps_and_precision() {
  return {
      // 5e-6 of the aspect part: below the rounding of 16-bit storage.
      wrong_gradient("eight_over_pi_squared_cut",
                     {{"(C(2) * CiouConstants<C>::kFourOverPiSquared)", "C(0.8105)"}}, kSizes, kWideDtypes),
      wrong_gradient("constant_in_f32", {{"C(0.405284734569351085775517852838911)", "C(0.405284734569351f)"}},
                     kSizes, {Dtype::f64}),
      wrong_gradient("eps_left_out_of_union", {{"- pair.inter + eps", "- pair.inter"}}),
      wrong_gradient("eps_left_out_of_diagonal",
                     {{"pair.y.enclosing * pair.y.enclosing + CiouConstants<C>::kEps",
                       "pair.y.enclosing * pair.y.enclosing"}}),
      wrong_gradient("eps_left_out_of_aspect",
                     {{"HAS_EPS ? pair.ph + eps : pair.ph", "pair.ph"}, {"HAS_EPS ? th + eps : th", "th"}},
                     kSizes),
      wrong_gradient("eps_ten_times_too_large", {{"C(1e-7)", "C(1e-6)"}}),
      wrong_gradient("angle_in_half_precision",
                     {{"template <typename C>\nstruct CiouConstants",
                       "#include <cuda_fp16.h>\ntemplate <typename C>\nstruct CiouConstants"},
                      {"kFourOverPiSquared) * pair.angle",
                       "kFourOverPiSquared) * C(__half2float(__float2half(pair.angle)))"}},
                     kSizes, kWideDtypes),
  };
}

std::vector<WrongKernel> branches() {
  WrongKernel ties = wrong_gradient("ties_counted_twice",
                                    {{"inner_upper = upper < C(0) ? C(1) : C(0)",
                                      "inner_upper = upper < C(0) ? C(1) : (upper == C(0) ? C(2) : C(0))"}});
  ties.reason = "outside the hull of the undecided branches";
  ties.scenario = "touching";
  return {
      wrong_gradient("overlap_not_clamped", {{"overlap <= C(0) ? C(0) : overlap", "overlap"}}),
      wrong_gradient("overlap_slope_of_disjoint_boxes",
                     {{"const bool apart = side.overlap <= C(0);", "const bool apart = false;"}}),
      wrong_gradient("inner_edges_swapped", {{"upper < C(0) ? C(1) : C(0), inner_lower = lower > C(0)",
                                              "upper > C(0) ? C(1) : C(0), inner_lower = lower < C(0)"}}),
      std::move(ties),
  };
}

std::vector<WrongKernel> roles() {
  return {
      wrong_gradient("width_and_height_swapped_in_aspect",
                     {{"- angle_scale * pair.height", "- angle_scale * pair.pw"},
                      {"+ angle_scale * pair.pw;", "+ angle_scale * pair.height;"}},
                     kSizes),
      wrong_gradient("width_and_height_swapped_in_area",
                     {{"by_area * pair.ph", "by_area * pair.HH"},
                      {"by_area * pair.pw", "by_area * pair.ph"},
                      {"by_area * pair.HH", "by_area * pair.pw"}},
                     kSizes),
      wrong_gradient("target_and_prediction_swapped",
                     {{"ciou_pair<HAS_EPS, kLoadsFirst>(pred, target, i, n)",
                       "ciou_pair<HAS_EPS, kLoadsFirst>(target, pred, i, n)"}}),
  };
}

std::vector<WrongKernel> upstreams() {
  return {
      wrong_gradient("upstream_dropped", {{"= load_value(dy + i)", "= C(1)"}}),
      wrong_gradient("upstream_squared",
                     {{"= load_value(dy + i)", "= C(load_value(dy + i)) * C(load_value(dy + i))"}}),
      wrong_gradient("first_upstream_for_all", {{"= load_value(dy + i)", "= load_value(dy)"}}),
  };
}

std::vector<WrongKernel> nan_inputs() {
  return {
      swallows_nan("nan_gradient_zeroed",
                   {{"const C d_cx = by_inter", "C d_cx = by_inter"},
                    {"  store_value(d_pred + i, upstream * d_cx);",
                     "  if (!(d_cx == d_cx)) d_cx = C(0);\n  store_value(d_pred + i, upstream * d_cx);"}},
                   {"d_pred[0]"}),
      swallows_nan("upstream_clipped",
                   {{"= load_value(dy + i)", "= fmax(C(-1000), fmin(C(1000), C(load_value(dy + i))))"}}),
  };
}

}  // namespace

std::vector<WrongKernel> wrong_backward_kernels() {
  return joined({signs(), factors(), terms(), alpha(), constants_eps_and_precision(), branches(), roles(),
                 upstreams(), nan_inputs()});
}

}  // namespace lossgrad::mutants
