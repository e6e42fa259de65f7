// SPDX-License-Identifier: Apache-2.0
// Right arithmetic on wrong elements, in a wrong order, or with something left over from before.
#include <utility>

#include "mutants/ciou/ciou_wrong_kernels.hpp"

namespace lossgrad::mutants {
namespace {

using Edits = std::vector<Edit>;

constexpr Pass kForward = Pass::forward;
constexpr Pass kBackward = Pass::backward;
const std::string kOwn = "static_cast<long long>(blockIdx.x) * BLOCK_N + threadIdx.x;";
const std::string kBackwardBound = "if (i >= n) return;";
const std::string kForwardBound = "if (i >= N) return;";
const std::string kStoreDx = "store_value(d_pred + i, upstream * d_cx);";
const std::string kStoreDw = "store_value(d_pred + 2 * n + i, upstream * d_w);";
const std::string kStoreLoss = "store_value(loss + i, one_minus_iou";
const std::string kPair = "ciou_pair<HAS_EPS, kLoadsFirst>(pred, target, i, n)";
const std::string kForwardHead =
    "template <typename D, int BLOCK_N, bool HAS_EPS>\n__device__ __forceinline__ void "
    "yolo_ciou_loss_forward";

// Seen by the check `guards`.
WrongKernel by_guards(std::string name, Pass pass, Edits edits, std::string reason) {
  return {.name = std::move(name),
          .pass = pass,
          .text = {{}, std::move(edits)},
          .check = "guards",
          .reason = std::move(reason)};
}

// Seen by the reference check of backward.
WrongKernel by_reference(std::string name, Edits edits, Sizes sizes = {}) {
  return {.name = std::move(name), .text = {{}, std::move(edits)}, .sizes = std::move(sizes)};
}

// Seen where threads run in another order.
WrongKernel by_order(std::string name, Pass pass, KernelText text) {
  return {.name = std::move(name),
          .pass = pass,
          .text = std::move(text),
          .check = "repeatability",
          .reason = "the result depends on the order of threads"};
}

std::vector<WrongKernel> boxes_lost() {
  return {
      by_guards("last_box_lost", kBackward, {{kBackwardBound, "if (i >= n - 1) return;"}}, "is not written"),
      by_guards("tail_block_lost", kBackward,
                {{kBackwardBound, "if ((blockIdx.x + 1ll) * BLOCK_N > n) return;"}}, "is not written"),
      by_guards("first_box_lost", kForward, {{kForwardBound, "if (i >= N || i < 1) return;"}},
                "is not written"),
  };
}

std::vector<WrongKernel> written_outside() {
  const Edits one_before = {{kStoreLoss, "store_value(loss + i - 1, one_minus_iou"}};
  WrongKernel before_its_backward = by_guards("forward_written_one_before_its_backward", kForward, one_before,
                                              "forward: written 1 elements before the start of loss");
  before_its_backward.checked = kBackward;
  before_its_backward.blind = {"reference"};
  return {
      by_guards("written_past_the_end", kBackward, {{kBackwardBound, ""}}, "written at element"),
      by_guards("forward_written_past_the_end", kForward, {{kForwardBound, ""}}, "written at element"),
      by_guards("one_box_too_many", kForward, {{kForwardBound, "if (i > N) return;"}}, "written at element"),
      by_guards("written_one_further", kBackward,
                {{"store_value(d_pred + 3 * n + i,", "store_value(d_pred + 3 * n + i + 1,"}},
                "written at element"),
      by_guards("written_one_before", kForward, one_before, "before the start of loss"),
      std::move(before_its_backward),
  };
}

std::vector<WrongKernel> read_elsewhere() {
  return {
      by_reference("neighbour_read", {{kPair, "ciou_pair<HAS_EPS, kLoadsFirst>(pred, target, i + 1, n)"}}),
      by_reference("boxes_read_as_rows", {{"load_value(pred + i), py = load_value(pred + n + i)",
                                           "load_value(pred + 4 * i), py = load_value(pred + 4 * i + 1)"}}),
  };
}

std::vector<WrongKernel> not_written() {
  WrongKernel zero =
      by_guards("zero_gradient_not_written", kBackward,
                {{kStoreDx, "if (upstream * d_cx != C(0)) store_value(d_pred + i, upstream * d_cx);"}},
                "is not written");
  zero.scenario = "nested";
  return {
      by_guards("width_never_written", kBackward, {{kStoreDw, "(void)d_w;"}}, "is not written"),
      by_guards("saved_v_never_written", kForward, {{"store_value(v + i, v_value);", ""}},
                "v of box 0 is not written"),
      std::move(zero),
  };
}

std::vector<WrongKernel> indices() {
  const Sizes beyond_16_bits = {{"N", 70000}};
  WrongKernel forward = by_guards(
      "forward_index_of_16_bits", kForward,
      {{kOwn + "\n  if (i >= N)", kOwn + "\n  if ((i & ~0xffffll) != 0 || i >= N)"}}, "is not written");
  forward.sizes = beyond_16_bits;
  return {
      by_reference("index_of_16_bits",
                   {{kPair, "ciou_pair<HAS_EPS, kLoadsFirst>(pred, target, i & 0xffff, n)"}}, beyond_16_bits),
      std::move(forward),
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
  WrongKernel added =
      by_guards("added_to_the_output", kBackward,
                {{kStoreDx, "store_value(d_pred + i, load_value(d_pred + i) + upstream * d_cx);"}},
                "the result depends on what the output held before");
  added.outputs = {"d_pred[0]"};
  return {
      std::move(added),
      by_guards("largest_kept", kForward,
                {{"store_value(alpha + i, alpha_value);",
                  "if (alpha_value < load_value(alpha + i)) store_value(alpha + i, alpha_value);"}},
                "alpha of box"),
      by_guards("saved_alpha_overwritten", kBackward,
                {{kStoreDx, kStoreDx + "\n  store_value(const_cast<D*>(alpha) + i, C(0));"}}, "input"),
      by_guards("prediction_overwritten", kForward,
                {{"const C eps = CiouConstants<C>::kEps;\n  const C d2",
                  "const C eps = CiouConstants<C>::kEps;\n  store_value(const_cast<D*>(pred) + i, "
                  "pair.pw);\n  const C d2"}},
                "input"),
      by_guards("answer_from_a_cache", kForward,
                {{kForwardHead, "__device__ float kept_loss[1 << 16];\n" + kForwardHead},
                 {kStoreLoss + " + d2 / c2 + alpha_value * v_value);",
                  "if (kept_loss[i] == 0) kept_loss[i] = one_minus_iou + d2 / c2 + alpha_value * v_value;\n"
                  "  store_value(loss + i, kept_loss[i]);"}},
                "second launch on other inputs"),
  };
}

std::vector<WrongKernel> order() {
  const std::vector<std::string> tile = {"boxes.cuh", "corner_box.cuh", "shared_tile.cuh"};
  const std::string filled = "__syncthreads();  // the predictions are there";
  const std::string target_filled = "__syncthreads();  // the targets are there";
  const std::string free = "__syncthreads();  // the tile is free again";
  return {
      by_order("barrier_missing_after_filling", kBackward, {tile, {{filled, ""}}}),
      by_order("barrier_missing_after_refilling", kBackward, {tile, {{target_filled, ""}}}),
      by_order("barrier_missing_before_reuse", kBackward, {tile, {{free, ""}}}),
      by_order("block_neighbour_awaited", kForward,
               {{},
                {{"store_value(v + i, v_value);",
                  "store_value(v + i, v_value);\n"
                  "  if (i >= BLOCK_N && load_value(v + i - BLOCK_N) > C(30)) store_value(v + i, C(0));"}}}),
  };
}

}  // namespace

std::vector<WrongKernel> wrong_memory_kernels() {
  return joined(
      {boxes_lost(), written_outside(), read_elsewhere(), not_written(), indices(), leftovers(), order()});
}

}  // namespace lossgrad::mutants
