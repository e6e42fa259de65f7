// SPDX-License-Identifier: Apache-2.0
// Right arithmetic on wrong elements, in a wrong order, or with something left over from before.
#include "mutants/ciou/ciou_wrong_kernels.hpp"

namespace lossgrad::mutants {
namespace {

constexpr Pass kForward = Pass::forward;
const std::string kOwn = "static_cast<long long>(blockIdx.x) * BLOCK_N + threadIdx.x;";
const std::string kBackwardBound = "if (i >= n) return;";
const std::string kForwardBound = "if (i >= N) return;";
const std::string kStoreDx = "store_value(d_pred + i, upstream * d_cx);";
const std::string kStoreDw = "store_value(d_pred + 2 * n + i, upstream * d_w);";
const std::string kStoreLoss = "store_value(loss + i, one_minus_iou";

std::vector<WrongKernel> elements() {
  return {
      {.name = "last_box_lost",
       .text = {{}, {{kBackwardBound, "if (i >= n - 1) return;"}}},
       .check = "guards",
       .reason = "is not written"},
      {.name = "tail_block_lost",
       .text = {{}, {{kBackwardBound, "if ((blockIdx.x + 1ll) * BLOCK_N > n) return;"}}},
       .check = "guards",
       .reason = "is not written"},
      {.name = "first_box_lost",
       .pass = kForward,
       .text = {{}, {{kForwardBound, "if (i >= N || i < 1) return;"}}},
       .check = "guards",
       .reason = "is not written"},
      {.name = "written_past_the_end",
       .text = {{}, {{kBackwardBound, ""}}},
       .check = "guards",
       .reason = "written at element"},
      {.name = "forward_written_past_the_end",
       .pass = kForward,
       .text = {{}, {{kForwardBound, ""}}},
       .check = "guards",
       .reason = "written at element"},
      {.name = "one_box_too_many",
       .pass = kForward,
       .text = {{}, {{kForwardBound, "if (i > N) return;"}}},
       .check = "guards",
       .reason = "written at element"},
      {.name = "written_one_further",
       .text = {{}, {{"store_value(d_pred + 3 * n + i,", "store_value(d_pred + 3 * n + i + 1,"}}},
       .check = "guards",
       .reason = "written at element"},
      {.name = "written_one_before",
       .pass = kForward,
       .text = {{}, {{kStoreLoss, "store_value(loss + i - 1, one_minus_iou"}}},
       .check = "guards",
       .reason = "before the start of loss"},
      {.name = "forward_written_one_before_its_backward",
       .pass = kForward,
       .text = {{}, {{kStoreLoss, "store_value(loss + i - 1, one_minus_iou"}}},
       .check = "guards",
       .reason = "forward: written 1 elements before the start of loss",
       .checked = Pass::backward,
       .blind = {"reference"}},
      {.name = "neighbour_read",
       .text = {{},
                {{"ciou_pair<HAS_EPS, kLoadsFirst, CHOICES>(pred, target, i, n)",
                  "ciou_pair<HAS_EPS, kLoadsFirst, CHOICES>(pred, target, i + 1, n)"}}}},
      {.name = "boxes_read_as_rows",
       .text = {{},
                {{"load_value(pred + i), py = load_value(pred + n + i)",
                  "load_value(pred + 4 * i), py = load_value(pred + 4 * i + 1)"}}}},
      {.name = "width_never_written",
       .text = {{}, {{kStoreDw, "(void)d_w;"}}},
       .check = "guards",
       .reason = "is not written"},
      {.name = "saved_v_never_written",
       .pass = kForward,
       .text = {{}, {{"store_value(v + i, v_value);", ""}}},
       .check = "guards",
       .reason = "v of box 0 is not written"},
      {.name = "zero_gradient_not_written",
       .text = {{}, {{kStoreDx, "if (upstream * d_cx != C(0)) store_value(d_pred + i, upstream * d_cx);"}}},
       .check = "guards",
       .reason = "is not written",
       .scenario = "nested"},
      {.name = "index_of_16_bits",
       .text = {{},
                {{"ciou_pair<HAS_EPS, kLoadsFirst, CHOICES>(pred, target, i, n)",
                  "ciou_pair<HAS_EPS, kLoadsFirst, CHOICES>(pred, target, i & 0xffff, n)"}}},
       .sizes = {{"N", 70000}}},
      {.name = "forward_index_of_16_bits",
       .pass = kForward,
       .text = {{}, {{kOwn + "\n  if (i >= N)", kOwn + "\n  if ((i & ~0xffffll) != 0 || i >= N)"}}},
       .check = "guards",
       .reason = "is not written",
       .sizes = {{"N", 70000}}},
      {.name = "block_size_written_as_256",
       .text = {{},
                {{kOwn + "\n  if (i >= n)",
                  "static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;\n  if (i >= n)"}}},
       .check = "repeatability",
       .reason = "other bits with a block of",
       .every_block_size = true,
       .blind = {"reference", "own_saved", "guards"}},
  };
}

std::vector<WrongKernel> leftovers() {
  return {
      {.name = "added_to_the_output",
       .text = {{}, {{kStoreDx, "store_value(d_pred + i, load_value(d_pred + i) + upstream * d_cx);"}}},
       .check = "guards",
       .reason = "the result depends on what the output held before",
       .outputs = {"d_pred[0]"}},
      {.name = "largest_kept",
       .pass = kForward,
       .text = {{},
                {{"store_value(alpha + i, alpha_value);",
                  "if (alpha_value < load_value(alpha + i)) store_value(alpha + i, alpha_value);"}}},
       .check = "guards",
       .reason = "alpha of box"},
      {.name = "saved_alpha_overwritten",
       .text = {{}, {{kStoreDx, kStoreDx + "\n  store_value(const_cast<D*>(alpha) + i, C(0));"}}},
       .check = "guards",
       .reason = "input"},
      {.name = "prediction_overwritten",
       .pass = kForward,
       .text = {{},
                {{"const C eps = CiouConstants<C, CHOICES>::kEps;\n  const C d2",
                  "const C eps = CiouConstants<C, CHOICES>::kEps;\n  store_value(const_cast<D*>(pred) + i, "
                  "pair.pw);\n  const C d2"}}},
       .check = "guards",
       .reason = "input"},
      {.name = "answer_from_a_cache",
       .pass = kForward,
       .text = {{},
                {{"template <typename D, int BLOCK_N, bool HAS_EPS, typename CHOICES = "
                  "CiouContract>\n__device__ __forceinline__ void "
                  "yolo_ciou_loss_forward",
                  "__device__ float kept_loss[1 << 16];\n"
                  "template <typename D, int BLOCK_N, bool HAS_EPS, typename CHOICES = "
                  "CiouContract>\n__device__ __forceinline__ void "
                  "yolo_ciou_loss_forward"},
                 {kStoreLoss + " + d2 / c2 + alpha_value * v_value);",
                  "if (kept_loss[i] == 0) kept_loss[i] = one_minus_iou + d2 / c2 + alpha_value * v_value;\n"
                  "  store_value(loss + i, kept_loss[i]);"}}},
       .check = "guards",
       .reason = "second launch on other inputs"},
  };
}

std::vector<WrongKernel> order() {
  const std::vector<std::string> tile = {"boxes.cuh", "corner_box.cuh", "shared_tile.cuh"};
  const std::string filled = "__syncthreads();  // the predictions are there";
  const std::string target_filled = "__syncthreads();  // the targets are there";
  const std::string free = "__syncthreads();  // the tile is free again";
  return {
      {.name = "barrier_missing_after_filling",
       .text = {tile, {{filled, ""}}},
       .check = "repeatability",
       .reason = "the result depends on the order of threads"},
      {.name = "barrier_missing_after_refilling",
       .text = {tile, {{target_filled, ""}}},
       .check = "repeatability",
       .reason = "the result depends on the order of threads"},
      {.name = "barrier_missing_before_reuse",
       .text = {tile, {{free, ""}}},
       .check = "repeatability",
       .reason = "the result depends on the order of threads"},
      {.name = "block_neighbour_awaited",
       .pass = kForward,
       .text = {{},
                {{"store_value(v + i, v_value);",
                  "store_value(v + i, v_value);\n"
                  "  if (i >= BLOCK_N && load_value(v + i - BLOCK_N) > C(30)) store_value(v + i, C(0));"}}},
       .check = "repeatability",
       .reason = "the result depends on the order of threads"},
  };
}

}  // namespace

std::vector<WrongKernel> wrong_memory_kernels() {
  std::vector<WrongKernel> all;
  for (const auto& part : {elements(), leftovers(), order()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lossgrad::mutants
