// SPDX-License-Identifier: Apache-2.0
// Wrong gradients. Several are bugs that shipped: the enclosing term's sign and the missing half in darknet's
// kernels, the angle rebuilt as a square root, alpha detached or not.
#include "mutants/ciou/ciou_wrong_kernels.hpp"

namespace lossgrad::mutants {
namespace {

const std::string kByIou = "(ALPHA_THROUGH ? alpha_value * alpha_value - C(1) : C(-1)) * inverse_union";
const std::string kByV = "ALPHA_THROUGH ? alpha_value * (C(2) - alpha_value) : alpha_value;";
const std::string kTwice = "const C two_over_c2 = C(2) * inverse_c2;";
const std::string kTurn = "const C angle_scale = by_v *";
const std::string kOverlapBySize = "apart ? C(0) : C(0.5) * (inner_upper + inner_lower)";
const std::string kEnclosingBySize = "C(0.5) * (outer_upper + outer_lower)";
const std::vector<std::string> kSizes = {"d_pred[2]", "d_pred[3]"};
const std::vector<std::string> kCentres = {"d_pred[0]", "d_pred[1]"};

std::vector<WrongKernel> signs_and_factors() {
  return {
      {.name = "sign_of_iou_part", .text = {{}, {{kByIou, "-" + kByIou}}}, .dtypes = kEveryDtype},
      {.name = "sign_of_distance_part",
       .text = {{}, {{kTwice, "const C two_over_c2 = C(-2) * inverse_c2;"}}},
       .dtypes = kEveryDtype},
      {.name = "sign_of_aspect_part",
       .text = {{}, {{kTurn, "const C angle_scale = -by_v *"}}},
       .outputs = kSizes,
       .dtypes = kEveryDtype},
      {.name = "sign_of_enclosing_part_in_centres",
       .text = {{},
                {{"pair.x.apart - ratio", "pair.x.apart + ratio"},
                 {"pair.y.apart - ratio", "pair.y.apart + ratio"}}},
       .outputs = kCentres,
       .dtypes = kEveryDtype},
      {.name = "sign_of_angle_lost",
       .text = {{}, {{"kFourOverPiSquared) * pair.angle", "kFourOverPiSquared) * absolute(pair.angle)"}}},
       .outputs = kSizes,
       .dtypes = kEveryDtype},
      {.name = "half_missing_in_overlap_by_size",
       .text = {{}, {{kOverlapBySize, "apart ? C(0) : (inner_upper + inner_lower)"}}},
       .outputs = kSizes,
       .dtypes = kEveryDtype},
      {.name = "half_missing_in_enclosing_by_size",
       .text = {{}, {{kEnclosingBySize, "(outer_upper + outer_lower)"}}},
       .outputs = kSizes,
       .dtypes = kEveryDtype},
      {.name = "gradient_doubled",
       .text = {{}, {{"= load_value(dy + i)", "= C(2) * load_value(dy + i)"}}},
       .dtypes = kEveryDtype},
      {.name = "distance_part_halved",
       .text = {{}, {{kTwice, "const C two_over_c2 = inverse_c2;"}}},
       .dtypes = kEveryDtype},
  };
}

std::vector<WrongKernel> terms() {
  return {
      {.name = "iou_part_dropped", .text = {{}, {{kByIou, "C(0) * inverse_union"}}}, .dtypes = kEveryDtype},
      {.name = "distance_part_dropped",
       .text = {{}, {{kTwice, "const C two_over_c2 = C(0);"}}},
       .dtypes = kEveryDtype},
      {.name = "aspect_part_dropped",
       .text = {{}, {{kTurn, "const C angle_scale = C(0) *"}}},
       .outputs = kSizes,
       .dtypes = kEveryDtype},
      {.name = "area_term_dropped",
       .text = {{}, {{"by_area = -by_iou * iou", "by_area = C(0)"}}},
       .outputs = kSizes,
       .dtypes = kEveryDtype},
      {.name = "overlap_left_out_of_union_slope",
       .text = {{}, {{"by_iou * (C(1) + iou)", "by_iou"}}},
       .dtypes = kEveryDtype},
      {.name = "enclosing_box_held_fixed",
       .text = {{}, {{"const C ratio = d2 * inverse_c2;", "const C ratio = C(0);"}}},
       .dtypes = kEveryDtype},
      {.name = "alpha_detached",
       .text = {{},
                {{"ALPHA_THROUGH ? alpha_value * alpha_value - C(1) : C(-1)", "C(-1)"},
                 {kByV, "alpha_value;"}}},
       .dtypes = kEveryDtype},
      {.name = "alpha_detached_from_iou_alone",
       .text = {{}, {{"ALPHA_THROUGH ? alpha_value * alpha_value - C(1) : C(-1)", "C(-1)"}}},
       .dtypes = kEveryDtype},
      {.name = "alpha_carried_where_it_is_fixed",
       .text = {{},
                {{"ALPHA_THROUGH ? alpha_value * alpha_value - C(1) : C(-1)",
                  "alpha_value * alpha_value - C(1)"},
                 {kByV, "alpha_value * (C(2) - alpha_value);"}}},
       .dtypes = kEveryDtype,
       .convention = "torchvision"},
      {.name = "alpha_squared_twice",
       .text = {{}, {{"alpha_value * alpha_value - C(1)", "alpha_value * alpha_value * alpha_value - C(1)"}}},
       .dtypes = kEveryDtype},
  };
}

std::vector<WrongKernel> constants_and_eps() {
  return {
      // 5e-6 of the aspect part: below the rounding of 16-bit storage.
      {.name = "eight_over_pi_squared_cut",
       .text = {{}, {{"(C(2) * CiouConstants<C>::kFourOverPiSquared)", "C(0.8105)"}}},
       .outputs = kSizes,
       .dtypes = kWideDtypes},
      {.name = "constant_in_f32",
       .text = {{}, {{"C(0.405284734569351085775517852838911)", "C(0.405284734569351f)"}}},
       .outputs = kSizes,
       .dtypes = {Dtype::f64}},
      {.name = "eps_left_out_of_union",
       .text = {{}, {{"- pair.inter + eps", "- pair.inter"}}},
       .dtypes = kEveryDtype},
      {.name = "eps_left_out_of_diagonal",
       .text = {{},
                {{"pair.y.enclosing * pair.y.enclosing +\n               CiouConstants<C, CHOICES>::kEps",
                  "pair.y.enclosing * pair.y.enclosing"}}},
       .dtypes = kEveryDtype},
      {.name = "eps_left_out_of_aspect",
       .text = {{}, {{"HAS_EPS ? pair.ph + eps : pair.ph", "pair.ph"}, {"HAS_EPS ? th + eps : th", "th"}}},
       .outputs = kSizes,
       .dtypes = kEveryDtype},
      {.name = "eps_ten_times_too_large",
       .text = {{}, {{"kEps = 1e-7", "kEps = 1e-6"}}},
       .dtypes = kEveryDtype},
  };
}

std::vector<WrongKernel> branches_and_roles() {
  return {
      {.name = "overlap_not_clamped",
       .text = {{}, {{"overlap <= C(0) ? C(0) : overlap", "overlap"}}},
       .dtypes = kEveryDtype},
      {.name = "overlap_slope_of_disjoint_boxes",
       .text = {{}, {{"const bool apart = side.overlap <= C(0);", "const bool apart = false;"}}},
       .dtypes = kEveryDtype},
      {.name = "inner_edges_swapped",
       .text = {{},
                {{"upper < C(0) ? C(1) : C(0), inner_lower = lower > C(0)",
                  "upper > C(0) ? C(1) : C(0), inner_lower = lower < C(0)"}}},
       .dtypes = kEveryDtype},
      {.name = "ties_counted_twice",
       .text = {{},
                {{"inner_upper = upper < C(0) ? C(1) : C(0)",
                  "inner_upper = upper < C(0) ? C(1) : (upper == C(0) ? C(2) : C(0))"}}},
       .reason = "outside the hull of the undecided branches",
       .dtypes = kEveryDtype,
       .scenario = "touching"},
      {.name = "width_and_height_swapped_in_aspect",
       .text = {{},
                {{"- angle_scale * pair.height", "- angle_scale * pair.pw"},
                 {"+ angle_scale * pair.pw;", "+ angle_scale * pair.height;"}}},
       .outputs = kSizes,
       .dtypes = kEveryDtype},
      {.name = "width_and_height_swapped_in_area",
       .text = {{},
                {{"by_area * pair.ph", "by_area * pair.HH"},
                 {"by_area * pair.pw", "by_area * pair.ph"},
                 {"by_area * pair.HH", "by_area * pair.pw"}}},
       .outputs = kSizes,
       .dtypes = kEveryDtype},
      {.name = "target_and_prediction_swapped",
       .text = {{},
                {{"ciou_pair<HAS_EPS, kLoadsFirst, CHOICES>(pred, target, i, n)",
                  "ciou_pair<HAS_EPS, kLoadsFirst, CHOICES>(target, pred, i, n)"}}},
       .dtypes = kEveryDtype},
      {.name = "upstream_dropped", .text = {{}, {{"= load_value(dy + i)", "= C(1)"}}}, .dtypes = kEveryDtype},
      {.name = "upstream_squared",
       .text = {{}, {{"= load_value(dy + i)", "= C(load_value(dy + i)) * C(load_value(dy + i))"}}},
       .dtypes = kEveryDtype},
      {.name = "first_upstream_for_all",
       .text = {{}, {{"= load_value(dy + i)", "= load_value(dy)"}}},
       .dtypes = kEveryDtype},
      {.name = "angle_in_half_precision",
       .text = {{},
                {{"template <typename C, typename CHOICES = CiouContract>\nstruct CiouConstants",
                  "#include <cuda_fp16.h>\n"
                  "template <typename C, typename CHOICES = CiouContract>\nstruct CiouConstants"},
                 {"kFourOverPiSquared) * pair.angle",
                  "kFourOverPiSquared) * C(__half2float(__float2half(pair.angle)))"}}},
       .outputs = kSizes,
       .dtypes = kWideDtypes},
      {.name = "nan_gradient_zeroed",
       .text = {{},
                {{"const C d_cx = by_inter", "C d_cx = by_inter"},
                 {"  store_value(d_pred + i, upstream * d_cx);",
                  "  if (!(d_cx == d_cx)) d_cx = C(0);\n  store_value(d_pred + i, upstream * d_cx);"}}},
       .reason = "a NaN input was swallowed",
       .outputs = {"d_pred[0]"},
       .dtypes = kEveryDtype,
       .scenario = "typical",
       .nan_inputs = true},
      {.name = "upstream_clipped",
       .text = {{}, {{"= load_value(dy + i)", "= fmax(C(-1000), fmin(C(1000), C(load_value(dy + i))))"}}},
       .reason = "a NaN input was swallowed",
       .dtypes = kEveryDtype,
       .scenario = "typical",
       .nan_inputs = true},
  };
}

}  // namespace

std::vector<WrongKernel> wrong_backward_kernels() {
  std::vector<WrongKernel> all;
  for (const auto& part : {signs_and_factors(), terms(), constants_and_eps(), branches_and_roles()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace lossgrad::mutants
