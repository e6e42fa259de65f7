// SPDX-License-Identifier: Apache-2.0
// Wrong gradients. Several are bugs that shipped: the enclosing term's sign and the missing half in darknet's
// kernels, the angle rebuilt as a square root, alpha detached or not.
// NOLINTBEGIN(readability-function-size): tables
#include "losses/ciou/ciou_faults.hpp"

namespace lossgrad {
namespace {

const std::string kByIou = "(ALPHA_THROUGH ? alpha_value * alpha_value - C(1) : C(-1)) * inverse_union";
const std::string kByV = "ALPHA_THROUGH ? alpha_value * (C(2) - alpha_value) : alpha_value;";
const std::string kTwice = "const C two_over_c2 = C(2) * inverse_c2;";
const std::string kTurn = "const C angle_scale = by_v *";
const std::string kOverlapBySize = "apart ? C(0) : C(0.5) * (inner_upper + inner_lower)";
const std::string kEnclosingBySize = "C(0.5) * (outer_upper + outer_lower)";
const std::vector<std::string> kSizes = {"d_pred[2]", "d_pred[3]"};
const std::vector<std::string> kCentres = {"d_pred[0]", "d_pred[1]"};

std::vector<Fault> signs_and_factors() {
  return {
      {.name = "sign_of_iou_part",
       .family = FaultFamily::sign,
       .summary = "the IoU part had the other sign",
       .edits = {{kByIou, "-" + kByIou}}},
      {.name = "sign_of_distance_part",
       .family = FaultFamily::sign,
       .summary = "the centre-distance part had the other sign",
       .edits = {{kTwice, "const C two_over_c2 = C(-2) * inverse_c2;"}}},
      {.name = "sign_of_aspect_part",
       .family = FaultFamily::sign,
       .summary = "the alpha*v part had the other sign",
       .edits = {{kTurn, "const C angle_scale = -by_v *"}},
       .outputs = kSizes},
      {.name = "sign_of_enclosing_part_in_centres",
       .family = FaultFamily::sign,
       .summary = "the enclosing box's term had the other sign in the centre components",
       .edits = {{"pair.x.apart - ratio", "pair.x.apart + ratio"},
                 {"pair.y.apart - ratio", "pair.y.apart + ratio"}},
       .outputs = kCentres},
      {.name = "sign_of_angle_lost",
       .family = FaultFamily::sign,
       .summary = "the aspect angle were taken without its sign",
       .edits = {{"kFourOverPiSquared) * pair.angle", "kFourOverPiSquared) * absolute(pair.angle)"}},
       .outputs = kSizes},
      {.name = "half_missing_in_overlap_by_size",
       .family = FaultFamily::factor,
       .summary = "the overlap grew by a whole unit per unit of size instead of half",
       .edits = {{kOverlapBySize, "apart ? C(0) : (inner_upper + inner_lower)"}},
       .outputs = kSizes},
      {.name = "half_missing_in_enclosing_by_size",
       .family = FaultFamily::factor,
       .summary = "the enclosing length grew by a whole unit per unit of size instead of half",
       .edits = {{kEnclosingBySize, "(outer_upper + outer_lower)"}},
       .outputs = kSizes},
      {.name = "gradient_doubled",
       .family = FaultFamily::factor,
       .summary = "the gradient were taken twice",
       .edits = {{"= load_value(dy + i)", "= C(2) * load_value(dy + i)"}}},
      {.name = "distance_part_halved",
       .family = FaultFamily::factor,
       .summary = "the centre-distance part were halved",
       .edits = {{kTwice, "const C two_over_c2 = inverse_c2;"}}},
  };
}

std::vector<Fault> terms() {
  return {
      {.name = "iou_part_dropped",
       .family = FaultFamily::dropped_term,
       .summary = "the IoU part were missing",
       .edits = {{kByIou, "C(0) * inverse_union"}}},
      {.name = "distance_part_dropped",
       .family = FaultFamily::dropped_term,
       .summary = "the centre-distance part were missing",
       .edits = {{kTwice, "const C two_over_c2 = C(0);"}}},
      {.name = "aspect_part_dropped",
       .family = FaultFamily::dropped_term,
       .summary = "the alpha*v part were missing",
       .edits = {{kTurn, "const C angle_scale = C(0) *"}},
       .outputs = kSizes},
      {.name = "area_term_dropped",
       .family = FaultFamily::dropped_term,
       .summary = "the predicted area's term of the union were missing",
       .edits = {{"by_area = -by_iou * iou", "by_area = C(0)"}},
       .outputs = kSizes},
      {.name = "overlap_left_out_of_union_slope",
       .family = FaultFamily::dropped_term,
       .summary = "the union did not depend on the overlap",
       .edits = {{"by_iou * (C(1) + iou)", "by_iou"}}},
      {.name = "enclosing_box_held_fixed",
       .family = FaultFamily::dropped_term,
       .summary = "the enclosing box were held fixed",
       .edits = {{"const C ratio = d2 * inverse_c2;", "const C ratio = C(0);"}}},
      {.name = "alpha_detached",
       .family = FaultFamily::convention,
       .summary = "alpha carried no gradient",
       .edits = {{"ALPHA_THROUGH ? alpha_value * alpha_value - C(1) : C(-1)", "C(-1)"},
                 {kByV, "alpha_value;"}}},
      {.name = "alpha_detached_from_iou_alone",
       .family = FaultFamily::convention,
       .summary = "alpha carried no gradient through the IoU",
       .edits = {{"ALPHA_THROUGH ? alpha_value * alpha_value - C(1) : C(-1)", "C(-1)"}}},
      {.name = "alpha_carried_where_it_is_fixed",
       .family = FaultFamily::convention,
       .summary = "alpha carried a gradient that the convention holds fixed",
       .edits = {{"ALPHA_THROUGH ? alpha_value * alpha_value - C(1) : C(-1)",
                  "alpha_value * alpha_value - C(1)"},
                 {kByV, "alpha_value * (C(2) - alpha_value);"}},
       .convention = "torchvision"},
      {.name = "alpha_cubed",
       .family = FaultFamily::factor,
       .summary = "alpha stood in the third power instead of the second",
       .edits = {{"alpha_value * alpha_value - C(1)", "alpha_value * alpha_value * alpha_value - C(1)"}}},
  };
}

std::vector<Fault> constants_and_eps() {
  return {
      // 5e-6 of the aspect part, which the roundings of the saved v and alpha in 16-bit storage cover.
      {.name = "eight_over_pi_squared_cut",
       .family = FaultFamily::constant,
       .summary = "8/pi^2 were cut to 0.8105",
       .edits = {{"(C(2) * CiouConstants<C>::kFourOverPiSquared)", "C(0.8105)"}},
       .outputs = kSizes,
       .dtypes = kWideDtypes,
       .elsewhere = kBelow16Bits},
      {.name = "constant_in_f32",
       .family = FaultFamily::low_precision,
       .summary = "4/pi^2 were a float",
       .edits = {{"C(0.405284734569351085775517852838911)", "C(0.405284734569351f)"}},
       .outputs = kSizes,
       .dtypes = {Dtype::f64},
       .elsewhere = "the others compute in f32"},
      {.name = "eps_left_out_of_union",
       .family = FaultFamily::eps,
       .summary = "eps were left out of the union",
       .edits = {{"- pair.inter + eps", "- pair.inter"}}},
      {.name = "eps_left_out_of_diagonal",
       .family = FaultFamily::eps,
       .summary = "eps were left out of the enclosing diagonal",
       .edits = {{"pair.y.enclosing * pair.y.enclosing +\n               CiouConstants<C, CHOICES>::kEps",
                  "pair.y.enclosing * pair.y.enclosing"}}},
      {.name = "eps_left_out_of_aspect",
       .family = FaultFamily::eps,
       .summary = "eps were left out of the aspect ratios",
       .edits = {{"HAS_EPS ? pair.ph + eps : pair.ph", "pair.ph"}, {"HAS_EPS ? th + eps : th", "th"}},
       .outputs = kSizes},
      {.name = "eps_ten_times_too_large",
       .family = FaultFamily::eps,
       .summary = "eps were 1e-6",
       .edits = {{"kEps = 1e-7", "kEps = 1e-6"}}},
  };
}

std::vector<Fault> upstreams_and_precision() {
  const std::string loaded = "= load_value(dy + i)";
  return {
      {.name = "small_upstream_dropped",
       .family = FaultFamily::upstream,
       .summary = "dy of magnitudes below 0.1 were zero",
       .edits = {{loaded, "= [](C u) { return absolute(u) < C(0.1) ? C(0) : u; }(load_value(dy + i))"}}},
      {.name = "tiny_upstream_dropped",
       .family = FaultFamily::upstream,
       .summary = "dy of magnitudes below 1e-6 were zero",
       .edits = {{loaded, "= [](C u) { return absolute(u) < C(1e-6) ? C(0) : u; }(load_value(dy + i))"}}},
      {.name = "large_upstream_clipped",
       .family = FaultFamily::upstream,
       .summary = "finite dy above 10 were 10",
       .edits = {{loaded, "= [](C u) { return u > C(10) && u < C(1e30) ? C(10) : u; }(load_value(dy + i))"}}},
      {.name = "gradient_cut_to_16_bits",
       .family = FaultFamily::low_precision,
       .summary = "d_pred[0] were cut to the upper 16 bits of a float",
       .edits = {{"store_value(d_pred + i, upstream * d_cx);",
                  "store_value(d_pred + i, C(__uint_as_float(__float_as_uint(float(upstream * d_cx)) & "
                  "0xffff0000u)));"}},
       .outputs = {"d_pred[0]"}},
      {.name = "enclosing_edge_late",
       .family = FaultFamily::branch,
       .summary = "an edge of the enclosing box had to be 1e-4 beyond",
       .edits = {{"outer_upper = upper > C(0)", "outer_upper = upper > C(1e-4)"}},
       .dtypes = kWideDtypes,
       .elsewhere = "the scenario has no such gaps in 16-bit storage",
       .scenario = "near_touching"},
      {.name = "small_angle_as_zero",
       .family = FaultFamily::branch,
       .summary = "the aspect ratios were equal where their angles differ by less than 1e-6",
       .edits = {{"const C angle_scale = by_v",
                  "const C angle_scale = (absolute(pair.angle) < C(1e-6) ? C(0) : by_v)"}},
       .dtypes = {Dtype::f64},
       .elsewhere = "less than the rounding of f32",
       .scenario = "near_equal"},
      {.name = "inner_edge_early",
       .family = FaultFamily::branch,
       .summary = "an edge of the overlap counted from 1e-4 before it",
       .edits = {{"inner_upper = upper < C(0)", "inner_upper = upper < C(1e-4)"}},
       .dtypes = kWideDtypes,
       .elsewhere = "the scenario has no such gaps in 16-bit storage",
       .scenario = "near_touching"},
  };
}

std::vector<Fault> branches_and_roles() {
  return {
      {.name = "overlap_not_clamped",
       .family = FaultFamily::branch,
       .summary = "the overlap were not clamped at 0",
       .edits = {{"overlap <= C(0) ? C(0) : overlap", "overlap"}}},
      {.name = "overlap_slope_of_disjoint_boxes",
       .family = FaultFamily::branch,
       .summary = "disjoint boxes had an overlap's slope",
       .edits = {{"const bool apart = side.overlap <= C(0);", "const bool apart = false;"}}},
      {.name = "inner_edges_swapped",
       .family = FaultFamily::branch,
       .summary = "the edges of the overlap were tested the wrong way round",
       .edits = {{"upper < C(0) ? C(1) : C(0), inner_lower = lower > C(0)",
                  "upper > C(0) ? C(1) : C(0), inner_lower = lower < C(0)"}}},
      {.name = "ties_counted_twice",
       .family = FaultFamily::branch,
       .summary = "a shared edge counted twice",
       .edits = {{"inner_upper = upper < C(0) ? C(1) : C(0)",
                  "inner_upper = upper < C(0) ? C(1) : (upper == C(0) ? C(2) : C(0))"}},
       .reason = "outside the hull of the undecided branches",
       .scenario = "touching"},
      {.name = "width_and_height_swapped_in_aspect",
       .family = FaultFamily::swapped_argument,
       .summary = "width and height were swapped in the aspect part",
       .edits = {{"- angle_scale * pair.height", "- angle_scale * pair.pw"},
                 {"+ angle_scale * pair.pw;", "+ angle_scale * pair.height;"}},
       .outputs = kSizes},
      {.name = "width_and_height_swapped_in_area",
       .family = FaultFamily::swapped_argument,
       .summary = "width and height were swapped in the area's slope",
       .edits = {{"by_area * pair.ph", "by_area * pair.HH"},
                 {"by_area * pair.pw", "by_area * pair.ph"},
                 {"by_area * pair.HH", "by_area * pair.pw"}},
       .outputs = kSizes},
      {.name = "target_and_prediction_swapped",
       .family = FaultFamily::swapped_argument,
       .summary = "prediction and target were swapped",
       .edits = {{"ciou_pair<HAS_EPS, kLoadsFirst, CHOICES>(pred, target, i, n)",
                  "ciou_pair<HAS_EPS, kLoadsFirst, CHOICES>(target, pred, i, n)"}}},
      {.name = "upstream_dropped",
       .family = FaultFamily::upstream,
       .summary = "dy were 1",
       .edits = {{"= load_value(dy + i)", "= C(1)"}}},
      {.name = "upstream_squared",
       .family = FaultFamily::upstream,
       .summary = "dy were squared",
       .edits = {{"= load_value(dy + i)", "= C(load_value(dy + i)) * C(load_value(dy + i))"}}},
      {.name = "first_upstream_for_all",
       .family = FaultFamily::upstream,
       .summary = "every box used the first box's dy",
       .edits = {{"= load_value(dy + i)", "= load_value(dy)"}}},
      {.name = "angle_in_half_precision",
       .family = FaultFamily::low_precision,
       .summary = "the aspect angle were held in half precision",
       .edits = {{"template <typename C, typename CHOICES = CiouContract>\nstruct CiouConstants",
                  "#include <cuda_fp16.h>\ntemplate <typename C, typename CHOICES = CiouContract>\nstruct "
                  "CiouConstants"},
                 {"kFourOverPiSquared) * pair.angle",
                  "kFourOverPiSquared) * C(__half2float(__float2half(pair.angle)))"}},
       .outputs = kSizes,
       .dtypes = kWideDtypes,
       .elsewhere = kBelow16Bits},
      {.name = "nan_gradient_zeroed",
       .family = FaultFamily::swallowed_nan,
       .summary = "NaN gradients were replaced by 0",
       .edits = {{"const C d_cx = by_inter", "C d_cx = by_inter"},
                 {"  store_value(d_pred + i, upstream * d_cx);",
                  "  if (!(d_cx == d_cx)) d_cx = C(0);\n  store_value(d_pred + i, upstream * d_cx);"}},
       .reason = "a NaN input was swallowed",
       .outputs = {"d_pred[0]"},
       .scenario = "non_finite"},
      {.name = "upstream_clipped",
       .family = FaultFamily::swallowed_nan,
       .summary = "dy were clipped, which drops a NaN and infinities",
       .edits = {{"= load_value(dy + i)", "= fmax(C(-20000), fmin(C(20000), C(load_value(dy + i))))"}},
       .scenario = "non_finite"},
  };
}

}  // namespace

std::vector<Fault> ciou_backward_faults() {
  std::vector<Fault> all;
  for (const auto& part :
       {signs_and_factors(), terms(), constants_and_eps(), upstreams_and_precision(), branches_and_roles()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace lossgrad
// NOLINTEND(readability-function-size)
