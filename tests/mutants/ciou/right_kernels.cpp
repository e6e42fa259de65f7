// SPDX-License-Identifier: Apache-2.0
#include "mutants/right_kernels.hpp"

#include "mutants/ciou/corner_files.hpp"

namespace lossgrad::mutants {
namespace {

const std::vector<Dtype> kOnlyF32 = {Dtype::f32};
const std::vector<Dtype> kComputedInF32 = {Dtype::f32, Dtype::f16, Dtype::bf16};
const std::vector<std::string> kOnlyYolo = {"yolo"};

// Corner code that divides once by the union and once by the diagonal; `reciprocal` is a function's name.
std::vector<SourceEdit> by_reciprocals(const std::string& reciprocal) {
  return {{"r.iou = r.inter / r.united;", "r.iou = r.inter * " + reciprocal + "(r.united);"},
          {"(r.d2 / r.c2 + v * alpha)", "(r.d2 * " + reciprocal + "(r.c2) + v * alpha)"},
          {"const C by_inter = by_iou * (r.united + r.inter) / (r.united * r.united);",
           "const C inverse = " + reciprocal + "(r.united), inverse_c2 = " + reciprocal +
               "(r.c2);\n  const C by_inter = by_iou * inverse + by_iou * r.inter * inverse * inverse;"},
          {"-by_iou * r.inter / (r.united * r.united)", "-by_iou * r.inter * inverse * inverse"},
          {"-r.d2 / (r.c2 * r.c2)", "-r.d2 * inverse_c2 * inverse_c2"},
          {"2 * r.apart_x / r.c2", "2 * r.apart_x * inverse_c2"},
          {"2 * r.apart_y / r.c2", "2 * r.apart_y * inverse_c2"}};
}
// Squared distance of the centres as YOLO repositories have it: from the edges, four times too large.
const std::vector<SourceEdit> kDistanceFromEdges = {
    {"r.apart_x = ((a.left + a.right) - (b.left + b.right)) / 2;",
     "const C twice_x = b.left + b.right - a.left - a.right;\n  r.apart_x = -twice_x / 2;"},
    {"r.apart_y = ((a.top + a.bottom) - (b.top + b.bottom)) / 2;",
     "const C twice_y = b.top + b.bottom - a.top - a.bottom;\n  r.apart_y = -twice_y / 2;"},
    {"r.d2 = r.apart_x * r.apart_x + r.apart_y * r.apart_y;",
     "r.d2 = (twice_x * twice_x + twice_y * twice_y) / 4;"}};
const std::vector<SourceEdit> kUnionByParts = {{"p.w * p.h + t.w * t.h - r.inter + Numbers<C>::kEps",
                                                "(p.w * p.h + (t.w * t.h + Numbers<C>::kEps)) - r.inter"}};

// Terms whose slope is zero are left out instead of multiplied by it: a number where 0 * infinity is NaN.
std::vector<SourceEdit> zero_slopes_left_out() {
  std::vector<SourceEdit> edits;
  const auto leave_out = [&edits](const std::string& term, const std::string& slope) {
    edits.push_back({term + slope, "(" + slope + " == C(0) ? C(0) : " + term + slope + ")"});
  };
  leave_out("by_inter * pair.y.overlap * ", "sx.overlap_by_centre");
  leave_out("by_inter * pair.x.overlap * ", "sy.overlap_by_centre");
  leave_out("by_inter * pair.y.overlap * ", "sx.overlap_by_size");
  leave_out("by_inter * pair.x.overlap * ", "sy.overlap_by_size");
  leave_out("ratio * pair.x.enclosing * ", "sx.enclosing_by_centre");
  leave_out("ratio * pair.y.enclosing * ", "sy.enclosing_by_centre");
  leave_out("two_over_c2 * ratio * pair.x.enclosing * ", "sx.enclosing_by_size");
  leave_out("two_over_c2 * ratio * pair.y.enclosing * ", "sy.enclosing_by_size");
  return edits;
}
// The same of everything about an overlap of nothing.
const std::vector<SourceEdit> kOverlapOfNothingLeftOut = {
    {"const C iou_value = pair.inter / pair.united;",
     "const C iou_value = pair.inter == C(0) && pair.united == pair.united ? C(0) : pair.inter / "
     "pair.united;"},
    {"const C iou = pair.inter * inverse_union;",
     "const C iou = pair.inter == C(0) ? C(0) : pair.inter * inverse_union;"},
    {"+ by_area * pair.ph", "+ (pair.inter == C(0) ? C(0) : by_area * pair.ph)"},
    {"+ by_area * pair.pw", "+ (pair.inter == C(0) ? C(0) : by_area * pair.pw)"}};
}  // namespace

std::vector<RightKernel> right_kernels() {
  std::vector<RightKernel> kernels = {
      {.name = "builtin",
       .text = {},
       .conventions = {"yolo", "torchvision", "ultralytics", "mmdetection", "paddle", "keras"}},
      {.name = "corners", .text = {kCornerFiles, {}}},
      {.name = "fast_math",
       .text = {.files = kCornerFiles, .edits = {}, .fast_math = true},
       .dtypes = kOnlyF32,
       // GCC's (v - iou) + (1 + eps) loses eps, and alpha of equal boxes is 0/0; NVRTC keeps the order.
       .rejected_in = {"identical", "near_identical"},
       .luck_decides_in = {"mixed"},
       .drops_nan = true},
      {.name = "reciprocals", .text = {kCornerFiles, by_reciprocals("C(1) / ")}},
      {.name = "newton_reciprocals",
       .text = {{"boxes.cuh", "newton_reciprocal.cuh", "corner_box.cuh", "strict_ties.cuh",
                 "one_thread_a_box.cuh"},
                by_reciprocals("newton_reciprocal")},
       .dtypes = kComputedInF32},
      {.name = "distance_from_edges", .text = {kCornerFiles, kDistanceFromEdges}},
      {.name = "union_by_parts", .text = {kCornerFiles, kUnionByParts}},
      // Without eps in the aspect a NaN in v would reach the centres, times a slope of zero.
      {.name = "forward_mode", .text = {{"boxes.cuh", "forward_mode.cuh"}, {}}, .conventions = kOnlyYolo},
      {.name = "corners_midpoint_ties",
       .text = {{"boxes.cuh", "corner_box.cuh", "midpoint_ties.cuh", "one_thread_a_box.cuh"}, {}}},
      {.name = "corners_fmin_fmax",
       .text = {kCornerFiles,
                {{"return a < b || a != a ? a : b;", "return fmin(a, b);"},
                 {"return a > b || a != a ? a : b;", "return fmax(a, b);"}}},
       .drops_nan = true},
      {.name = "summed_at_edges",
       .text = {{"boxes.cuh", "corner_box.cuh", "summed_at_edges.cuh"}, {}},
       .backward_only = true},
      {.name = "contract_formulas", .text = {{"boxes.cuh", "corner_box.cuh", "contract_formulas.cuh"}, {}}},
      {.name = "centre_divisions", .text = {{"boxes.cuh", "centre_divisions.cuh"}, {}}},
      {.name = "fused_multiply_add", .text = {{"boxes.cuh", "corner_box.cuh", "fused_multiply_add.cuh"}, {}}},
      {.name = "two_arctangents",
       .text = {{}, {{"if (!HAS_EPS || sizeof(C) == 8 || !finite)", "if (!HAS_EPS || ph == ph)"}}},
       .conventions = kOnlyYolo},
      {.name = "zero_slopes_left_out", .text = {{}, zero_slopes_left_out()}},
      {.name = "overlap_of_nothing_left_out", .text = {{}, kOverlapOfNothingLeftOut}},
      {.name = "double_intermediates",
       .text = {{"boxes.cuh", "corner_box.cuh", "double_intermediates.cuh"}, {}},
       .dtypes = kComputedInF32},
      {.name = "two_boxes_a_thread",
       .text = {{"boxes.cuh", "corner_box.cuh", "two_boxes_a_thread.cuh"}, {}},
       .conventions = kOnlyYolo,
       .every_block_size = true},
      {.name = "shared_tile",
       .text = {{"boxes.cuh", "corner_box.cuh", "shared_tile.cuh"}, {}},
       .conventions = kOnlyYolo,
       .every_block_size = true},
      {.name = "warp_transposition",
       .text = {{"boxes.cuh", "corner_box.cuh", "warp_transposition.cuh"}, {}},
       .conventions = kOnlyYolo,
       .every_block_size = true},
  };
  for (RightKernel& kernel : kernels) {
    if (kernel.conventions.empty()) kernel.conventions = {"yolo", "torchvision"};
  }
  return kernels;
}

std::vector<RightCase> right_cases() { return {{{{"N", 1500}}}}; }

}  // namespace lossgrad::mutants
