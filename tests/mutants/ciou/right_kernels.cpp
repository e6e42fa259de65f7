// SPDX-License-Identifier: Apache-2.0
#include "mutants/right_kernels.hpp"

namespace lossgrad::mutants {
namespace {

const std::vector<Dtype> kOnlyF32 = {Dtype::f32};
const std::vector<std::string> kOnlyYolo = {"yolo"};

}  // namespace

std::vector<RightKernel> right_kernels() {
  std::vector<RightKernel> kernels = {
      {.name = "builtin",
       .text = {},
       .conventions = {"yolo", "torchvision", "ultralytics", "mmdetection", "paddle", "keras"}},
      {.name = "corners",
       .text = {{"boxes.cuh", "corner_box.cuh", "strict_ties.cuh", "one_thread_a_box.cuh"}, {}}},
      {.name = "corners_midpoint_ties",
       .text = {{"boxes.cuh", "corner_box.cuh", "midpoint_ties.cuh", "one_thread_a_box.cuh"}, {}}},
      {.name = "corners_fmin_fmax",
       .text = {{"boxes.cuh", "corner_box.cuh", "strict_ties.cuh", "one_thread_a_box.cuh"},
                {{"return a < b || a != a ? a : b;", "return fmin(a, b);"},
                 {"return a > b || a != a ? a : b;", "return fmax(a, b);"}}},
       .dtypes = {Dtype::f32, Dtype::f64},
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
      {.name = "double_intermediates",
       .text = {{"boxes.cuh", "corner_box.cuh", "double_intermediates.cuh"}, {}},
       .dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16}},
      {.name = "two_boxes_a_thread",
       .text = {{"boxes.cuh", "corner_box.cuh", "two_boxes_a_thread.cuh"}, {}},
       .dtypes = kOnlyF32,
       .conventions = kOnlyYolo,
       .every_block_size = true},
      {.name = "shared_tile",
       .text = {{"boxes.cuh", "corner_box.cuh", "shared_tile.cuh"}, {}},
       .dtypes = kOnlyF32,
       .conventions = kOnlyYolo,
       .every_block_size = true},
      {.name = "warp_transposition",
       .text = {{"boxes.cuh", "corner_box.cuh", "warp_transposition.cuh"}, {}},
       .dtypes = kOnlyF32,
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
