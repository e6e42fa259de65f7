// SPDX-License-Identifier: Apache-2.0
// Right for boxes that are finite, as all of the case are: wrong in what becomes of a NaN or an infinity.
#include "mutants/ciou/ciou_wrong_kernels.hpp"

namespace lossgrad::mutants {
namespace {

constexpr Pass kForward = Pass::forward;
const std::string kCheck = "propagation";
const std::string kStoreDx = "store_value(d_pred + i, upstream * d_cx);";
const std::string kUpstream = "= load_value(dy + i)";
const std::string kSmaller = "return a < b || a != a ? a : b;";
const std::string kLarger = "return a > b || a != a ? a : b;";
const std::string kStoreLoss = "store_value(loss + i, one_minus_iou";
const std::vector<std::string> kCorners = {"boxes.cuh", "corner_box.cuh", "strict_ties.cuh",
                                           "one_thread_a_box.cuh"};
const std::vector<std::string> kForwardBlind = {"reference", "guards", "repeatability"};
const std::vector<std::string> kBackwardBlind = {"reference", "own_saved", "guards", "repeatability"};

std::vector<WrongKernel> swallowed() {
  return {
      {.name = "corners_by_fmin_and_fmax",
       .pass = kForward,
       .text = {kCorners, {{kSmaller, "return fmin(a, b);"}, {kLarger, "return fmax(a, b);"}}},
       .check = kCheck,
       .reason = "a NaN in pred[0] of box 3 was swallowed: alpha[0] is ",
       .dtypes = kWideDtypes,
       .blind = kForwardBlind},
      {.name = "corners_by_comparisons",
       .pass = kForward,
       .text = {kCorners, {{kSmaller, "return a < b ? a : b;"}, {kLarger, "return a > b ? a : b;"}}},
       .check = kCheck,
       .reason = " was swallowed: ",
       .blind = kForwardBlind},
      {.name = "overlap_clamped_by_fmax",
       .pass = kForward,
       .text = {{}, {{"overlap <= C(0) ? C(0) : overlap", "fmax(overlap, C(0))"}}},
       .check = kCheck,
       .reason = " was swallowed: ",
       .dtypes = kEveryDtype,
       .blind = kForwardBlind},
      {.name = "nan_gradient_zeroed_unseen",
       .text = {{}, {{kStoreDx, "store_value(d_pred + i, d_cx == d_cx ? upstream * d_cx : C(0));"}}},
       .check = kCheck,
       .reason = " was swallowed: d_pred[0] is 0",
       .dtypes = kEveryDtype,
       .blind = kBackwardBlind},
      {.name = "upstream_clipped_unseen",
       .text = {{}, {{kUpstream, "= fmax(C(-1000), fmin(C(1000), C(load_value(dy + i))))"}}},
       .check = kCheck,
       .reason = "a NaN in dy[0] of box ",
       .dtypes = kEveryDtype,
       .blind = kBackwardBlind},
      // Passes a NaN.
      {.name = "infinite_upstream_clipped",
       .text = {{},
                {{"const auto load_upstream = [&] { upstream = load_value(dy + i); };",
                  "const auto load_upstream = [&] {\n"
                  "    upstream = load_value(dy + i);\n"
                  "    if (upstream > C(1000)) upstream = C(1000);\n"
                  "  };"}}},
       .check = kCheck,
       .reason = "an infinity in dy[0] of box 3 was swallowed: d_pred[0] is ",
       .blind = kBackwardBlind},
      {.name = "nothing_written_for_nan",
       .text = {{}, {{kStoreDx, "if (!(d_cx == d_cx)) return;\n  " + kStoreDx}}},
       .check = kCheck,
       .reason = " is not written",
       .blind = kBackwardBlind},
  };
}

std::vector<WrongKernel> spilled() {
  return {
      // A neighbour masked out by a factor of zero.
      {.name = "neighbour_times_zero",
       .text = {{}, {{kUpstream, "= load_value(dy + i) + C(0) * C(load_value(dy + (i > 0 ? i - 1 : i)))"}}},
       .check = kCheck,
       .reason =
           "d_pred[0] of box 4 changed because of a NaN in another box (the nearest is in dy[0] of box 3)",
       .dtypes = kEveryDtype,
       .blind = kBackwardBlind},
      {.name = "flag_of_the_warp",
       .pass = kForward,
       .text = {{},
                {{kStoreLoss,
                  "if (__any_sync(__activemask(), v_value != v_value)) one_minus_iou = C(0) / (v_value - "
                  "v_value);\n  " +
                      kStoreLoss},
                 {"const C one_minus_iou", "C one_minus_iou"}}},
       .check = kCheck,
       .reason = " changed because of a NaN in another box (the nearest is in ",
       .dtypes = kWideDtypes,
       .blind = kForwardBlind},
      {.name = "warp_zeroed_for_one_of_it",
       .text = {{},
                {{kStoreDx,
                  "const bool finite = upstream - upstream == C(0);\n  if (__any_sync(__activemask(), "
                  "!finite) && finite) upstream = C(0);\n  " +
                      kStoreDx}}},
       .check = kCheck,
       .reason = " changed because of a NaN in another box (the nearest is in dy[0] of box 3)",
       .blind = kBackwardBlind},
  };
}

}  // namespace

std::vector<WrongKernel> wrong_propagation_kernels() {
  std::vector<WrongKernel> all;
  for (const auto& part : {swallowed(), spilled()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lossgrad::mutants
