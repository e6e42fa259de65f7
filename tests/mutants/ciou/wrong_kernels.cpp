// SPDX-License-Identifier: Apache-2.0
// Faults that the built-in kernel has no place for: it has no barrier, nor a maximum that drops NaN. And
// faults of the dictionary in another kernel's text: corner code, whose rounding is not the built-in
// kernel's, gets the same diagnosis.
#include "mutants/wrong_kernels.hpp"

#include "mutants/ciou/corner_files.hpp"

namespace lossgrad::mutants {
namespace {

WrongKernel without_barrier(const std::string& name, const std::string& what_follows) {
  WrongKernel kernel;
  kernel.name = name;
  kernel.text = {{"boxes.cuh", "corner_box.cuh", "shared_tile.cuh"},
                 {{"__syncthreads();  // " + what_follows, ""}}};
  kernel.check = "repeatability";
  kernel.reason = "the result depends on the order of threads";
  return kernel;
}

// Right for boxes that are finite.
WrongKernel dropping_nan(const std::string& name, const std::string& smaller, const std::string& larger) {
  WrongKernel kernel;
  kernel.name = name;
  kernel.pass = Pass::forward;
  kernel.text = {kCornerFiles,
                 {{"return a < b || a != a ? a : b;", smaller}, {"return a > b || a != a ? a : b;", larger}}};
  kernel.check = "propagation";
  kernel.reason = " was swallowed: ";
  kernel.blind = {"reference", "guards", "repeatability"};
  return kernel;
}

WrongKernel corners(Pass pass, const std::string& diagnosis, const std::vector<SourceEdit>& edits) {
  WrongKernel kernel;
  kernel.name = "corners_" + diagnosis;
  kernel.pass = pass;
  kernel.text = {kCornerFiles, edits};
  kernel.diagnosis = diagnosis;
  return kernel;
}

std::vector<WrongKernel> corners_of_the_dictionary() {
  const std::string distance = "(r.d2 / r.c2 + v * alpha)", turn = "by_v * 2 * Numbers<C>",
                    stored = "load_value(dy + i),\n";
  const std::string by_c2 = "-r.d2 / (r.c2 * r.c2)", by_inter = "by_iou * (r.united + r.inter)";
  const Pass forward = Pass::forward, backward = Pass::backward;
  return {
      corners(forward, "sign_of_iou", {{"C(1) - (r.iou - (", "C(1) - (-r.iou - ("}}),
      corners(forward, "sign_of_distance", {{distance, "(-r.d2 / r.c2 + v * alpha)"}}),
      corners(forward, "sign_of_alpha_v", {{distance, "(r.d2 / r.c2 - v * alpha)"}}),
      corners(forward, "distance_dropped", {{distance, "(v * alpha)"}}),
      corners(forward, "alpha_v_dropped", {{distance, "(r.d2 / r.c2)"}}),
      corners(forward, "overlap_unclamped",
              {{"larger(smaller(a.right, b.right) - larger(a.left, b.left), C(0))",
                "(smaller(a.right, b.right) - larger(a.left, b.left))"},
               {"larger(smaller(a.bottom, b.bottom) - larger(a.top, b.top), C(0))",
                "(smaller(a.bottom, b.bottom) - larger(a.top, b.top))"}}),
      corners(backward, "sign_of_aspect_part", {{turn, "-" + turn}}),
      corners(backward, "aspect_part_dropped", {{turn, "0 * " + turn}}),
      corners(backward, "enclosing_box_held_fixed", {{by_c2, "C(0)"}}),
      corners(backward, "distance_part_dropped",
              {{by_c2, "C(0)"}, {"2 * r.apart_x / r.c2", "C(0)"}, {"2 * r.apart_y / r.c2", "C(0)"}}),
      corners(backward, "iou_part_dropped",
              {{by_inter, "0 * " + by_inter}, {"-by_iou * r.inter", "0 * by_iou * r.inter"}}),
      corners(backward, "area_term_dropped", {{"-by_iou * r.inter", "0 * by_iou * r.inter"}}),
      corners(backward, "overlap_left_out_of_union_slope", {{by_inter, "by_iou * r.united"}}),
      corners(backward, "alpha_detached",
              {{"ALPHA_THROUGH ? now.alpha * now.alpha - C(1) : C(-1)", "C(-1)"},
               {"ALPHA_THROUGH ? now.alpha * (C(2) - now.alpha) : now.alpha", "now.alpha"}}),
      corners(backward, "half_missing_in_overlap_by_size",
              {{"(x.overlap_upper - x.overlap_lower) / 2", "(x.overlap_upper - x.overlap_lower)"},
               {"(y.overlap_upper - y.overlap_lower) / 2", "(y.overlap_upper - y.overlap_lower)"}}),
      corners(backward, "gradient_doubled", {{stored, "2 * " + stored}}),
      corners(backward, "upstream_dropped", {{stored, "C(1),\n"}}),
      corners(backward, "upstream_squared", {{stored, "load_value(dy + i) * " + stored}}),
      corners(backward, "first_upstream_for_all", {{stored, "load_value(dy),\n"}}),
  };
}

}  // namespace

std::vector<WrongKernel> wrong_kernels() {
  std::vector<WrongKernel> kernels = corners_of_the_dictionary();
  const std::vector<WrongKernel> others = {
      without_barrier("barrier_missing_after_filling", "the predictions are there"),
      without_barrier("barrier_missing_after_refilling", "the targets are there"),
      without_barrier("barrier_missing_before_reuse", "the tile is free again"),
      dropping_nan("corners_by_fmin_and_fmax", "return fmin(a, b);", "return fmax(a, b);"),
      dropping_nan("corners_by_comparisons", "return a < b ? a : b;", "return a > b ? a : b;")};
  kernels.insert(kernels.end(), others.begin(), others.end());
  return kernels;
}

}  // namespace lossgrad::mutants
