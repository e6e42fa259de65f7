// SPDX-License-Identifier: Apache-2.0
// Right for boxes that are finite, as all of the case are: wrong in what becomes of a NaN or an infinity.
// NOLINTBEGIN(readability-function-size): tables
#include "losses/ciou/ciou_faults.hpp"

namespace lossgrad {
namespace {

constexpr Pass kForward = Pass::forward;
const std::string kCheck = "propagation";
const std::string kStoreDx = "store_value(d_pred + i, upstream * d_cx);";
const std::string kUpstream = "= load_value(dy + i)";
const std::string kStoreLoss = "store_value(loss + i, one_minus_iou";
const std::vector<std::string> kForwardBlind = {"reference", "guards", "repeatability"};
const std::vector<std::string> kBackwardBlind = {"reference", "own_saved", "guards", "repeatability"};

std::vector<Fault> swallowed() {
  return {
      {.name = "overlap_clamped_by_fmax",
       .family = FaultFamily::swallowed_nan,
       .summary = "fmax dropped a NaN in the overlap",
       .pass = kForward,
       .edits = {{"overlap <= C(0) ? C(0) : overlap", "fmax(overlap, C(0))"}},
       .check = kCheck,
       .reason = " was swallowed: ",
       .blind = kForwardBlind},
      {.name = "nan_gradient_zeroed_unseen",
       .family = FaultFamily::swallowed_nan,
       .summary = "NaN gradients were replaced by 0",
       .edits = {{kStoreDx, "store_value(d_pred + i, d_cx == d_cx ? upstream * d_cx : C(0));"}},
       .check = kCheck,
       .reason = " was swallowed: d_pred[0] is 0",
       .blind = kBackwardBlind},
      {.name = "upstream_clipped_unseen",
       .family = FaultFamily::swallowed_nan,
       .summary = "dy were clipped, which drops a NaN",
       .edits = {{kUpstream, "= fmax(C(-20000), fmin(C(20000), C(load_value(dy + i))))"}},
       .check = kCheck,
       .reason = "a NaN in dy[0] of box ",
       .blind = kBackwardBlind},
      // Passes a NaN.
      {.name = "infinite_upstream_clipped",
       .family = FaultFamily::swallowed_nan,
       .summary = "an infinite dy were clipped",
       .edits = {{"const auto load_upstream = [&] { upstream = load_value(dy + i); };",
                  "const auto load_upstream = [&] {\n"
                  "    upstream = load_value(dy + i);\n"
                  "    if (upstream > C(20000)) upstream = C(20000);\n"
                  "  };"}},
       .check = kCheck,
       .reason = " was swallowed: d_pred[0] is ",
       .blind = kBackwardBlind},
      {.name = "minus_infinite_upstream_clipped",
       .family = FaultFamily::swallowed_nan,
       .summary = "a dy of -infinity were clipped",
       .edits = {{"const auto load_upstream = [&] { upstream = load_value(dy + i); };",
                  "const auto load_upstream = [&] {\n"
                  "    upstream = load_value(dy + i);\n"
                  "    if (upstream < C(-20000)) upstream = C(-20000);\n"
                  "  };"}},
       .check = kCheck,
       .reason = "-infinity in dy[0] of box ",
       .blind = kBackwardBlind},
      {.name = "nothing_written_for_nan",
       .family = FaultFamily::element_lost,
       .summary = "boxes with a NaN gradient were not written",
       .edits = {{kStoreDx, "if (!(d_cx == d_cx)) return;\n  " + kStoreDx}},
       .check = kCheck,
       .reason = " is not written",
       .blind = kBackwardBlind},
  };
}

std::vector<Fault> spilled() {
  return {
      // A neighbour masked out by a factor of zero.
      {.name = "neighbour_times_zero",
       .family = FaultFamily::upstream,
       .summary = "the neighbour's dy were added with a factor of zero",
       .edits = {{kUpstream, "= load_value(dy + i) + C(0) * C(load_value(dy + (i > 0 ? i - 1 : i)))"}},
       .check = kCheck,
       .reason =
           "d_pred[0] of box 4 changed because of a NaN in another box (the nearest is in dy[0] of box 3)",
       .blind = kBackwardBlind},
      {.name = "first_upstream_times_zero",
       .family = FaultFamily::spread_nan,
       .summary = "dy of box 0 were added with a factor of zero",
       .edits = {{kUpstream, "= load_value(dy + i) + C(0) * C(load_value(dy))"}},
       .check = kCheck,
       .reason = " changed because of a NaN in another box",
       .blind = kBackwardBlind},
      {.name = "upstream_of_the_warps_first_times_zero",
       .family = FaultFamily::spread_nan,
       .summary = "dy of the warp's first box were added with a factor of zero",
       .edits = {{kUpstream, "= load_value(dy + i) + C(0) * C(load_value(dy + (i & ~31LL)))"}},
       .check = kCheck,
       .reason = " changed because of a NaN in another box",
       .blind = kBackwardBlind},
      {.name = "flag_of_the_warp",
       .family = FaultFamily::spread_nan,
       .summary = "a NaN spoilt its whole warp",
       .pass = kForward,
       .edits = {{kStoreLoss,
                  "if (__any_sync(__activemask(), v_value != v_value)) one_minus_iou = C(0) / (v_value - "
                  "v_value);\n  " +
                      kStoreLoss},
                 {"const C one_minus_iou", "C one_minus_iou"}},
       .check = kCheck,
       .reason = " changed because of a NaN in another box (the nearest is in ",
       .blind = kForwardBlind},
      {.name = "warp_zeroed_for_one_of_it",
       .family = FaultFamily::spread_nan,
       .summary = "an infinite dy zeroed its whole warp",
       .edits = {{kStoreDx,
                  "const bool finite = upstream - upstream == C(0);\n  if (__any_sync(__activemask(), "
                  "!finite) && finite) upstream = C(0);\n  " +
                      kStoreDx}},
       .check = kCheck,
       .reason = " changed because of a NaN in another box (the nearest is in dy[0] of box 3)",
       .blind = kBackwardBlind},
  };
}

}  // namespace

std::vector<Fault> ciou_propagation_faults() {
  std::vector<Fault> all;
  for (const auto& part : {swallowed(), spilled()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lossgrad
// NOLINTEND(readability-function-size)
