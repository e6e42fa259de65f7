// SPDX-License-Identifier: Apache-2.0
// Right arithmetic on wrong elements, in a wrong order, or with something left over from before.
// NOLINTBEGIN(readability-function-size): tables
#include "losses/ciou/ciou_faults.hpp"

namespace lossgrad {
namespace {

constexpr Pass kForward = Pass::forward;
const std::string kOwn = "static_cast<long long>(blockIdx.x) * BLOCK_N + threadIdx.x;";
const std::string kBackwardBound = "if (i >= n) return;";
const std::string kForwardBound = "if (i >= N) return;";
const std::string kStoreDx = "store_value(d_pred + i, upstream * d_cx);";
const std::string kStoreDw = "store_value(d_pred + 2 * n + i, upstream * d_w);";
const std::string kStoreLoss = "store_value(loss + i, one_minus_iou";

std::vector<Fault> elements() {
  return {
      {.name = "last_box_lost",
       .family = FaultFamily::element_lost,
       .summary = "the last box were left out",
       .edits = {{kBackwardBound, "if (i >= n - 1) return;"}},
       .check = "guards",
       .reason = "is not written"},
      {.name = "tail_block_lost",
       .family = FaultFamily::tail_lost,
       .summary = "the boxes after the last whole block were left out",
       .edits = {{kBackwardBound, "if ((blockIdx.x + 1ll) * BLOCK_N > n) return;"}},
       .check = "guards",
       .reason = "is not written"},
      {.name = "last_of_five_lost",
       .family = FaultFamily::tail_lost,
       .summary = "the last box were left out where five remain after the last whole vector of eight",
       .edits = {{kBackwardBound, "if (i >= n || (n % 8 == 5 && i == n - 1)) return;"}},
       .check = "guards",
       .reason = "is not written",
       .blind = {"reference", "own_saved", "repeatability"}},
      {.name = "last_of_two_lost_after_vectors",
       .family = FaultFamily::tail_lost,
       .summary = "the last box were left out where two remain after vectors of eight",
       .edits = {{kBackwardBound, "if (i >= n || (n > 8 && n % 8 == 2 && i == n - 1)) return;"}},
       .check = "guards",
       .reason = "is not written",
       .blind = {"reference", "own_saved", "repeatability"}},
      {.name = "vectors_where_one_pointer_is_aligned",
       .family = FaultFamily::layout,
       .summary = "dy were read as vectors where N is a multiple of four and pred is aligned",
       .edits = {{kStoreDx,
                  "const bool apart = n % 4 == 0 && reinterpret_cast<unsigned long long>(pred) % 16 == 0 &&\n"
                  "                     reinterpret_cast<unsigned long long>(dy) % 16 != 0;\n"
                  "  store_value(d_pred + i, (apart ? C(2) : C(1)) * upstream * d_cx);"}},
       .check = "guards",
       .reason = "the base of dy 1 element off alignment",
       .blind = {"reference", "own_saved", "repeatability"}},
      {.name = "first_box_lost",
       .family = FaultFamily::element_lost,
       .summary = "the first box were left out",
       .pass = kForward,
       .edits = {{kForwardBound, "if (i >= N || i < 1) return;"}},
       .check = "guards",
       .reason = "is not written"},
      {.name = "written_past_the_end",
       .family = FaultFamily::out_of_bounds,
       .summary = "threads past the last box wrote as well",
       .edits = {{kBackwardBound, ""}},
       .check = "guards",
       .reason = "written at element"},
      {.name = "forward_written_past_the_end",
       .family = FaultFamily::out_of_bounds,
       .summary = "threads past the last box wrote as well",
       .pass = kForward,
       .edits = {{kForwardBound, ""}},
       .check = "guards",
       .reason = "written at element"},
      {.name = "one_box_too_many",
       .family = FaultFamily::out_of_bounds,
       .summary = "one box too many were written",
       .pass = kForward,
       .edits = {{kForwardBound, "if (i > N) return;"}},
       .check = "guards",
       .reason = "written at element"},
      {.name = "written_one_further",
       .family = FaultFamily::out_of_bounds,
       .summary = "the last component were written one box further",
       .edits = {{"store_value(d_pred + 3 * n + i,", "store_value(d_pred + 3 * n + i + 1,"}},
       .check = "guards",
       .reason = "written at element"},
      {.name = "written_one_before",
       .family = FaultFamily::out_of_bounds,
       .summary = "the loss were written one box before its place",
       .pass = kForward,
       .edits = {{kStoreLoss, "store_value(loss + i - 1, one_minus_iou"}},
       .check = "guards",
       .reason = "before the start of loss"},
      {.name = "forward_written_one_before_its_backward",
       .family = FaultFamily::out_of_bounds,
       .summary = "forward wrote one box before its place",
       .pass = kForward,
       .edits = {{kStoreLoss, "store_value(loss + i - 1, one_minus_iou"}},
       .check = "guards",
       .reason = "forward: written 1 element before the start of loss",
       .checked = Pass::backward,
       .blind = {"reference"}},
      {.name = "neighbour_read",
       .family = FaultFamily::layout,
       .summary = "the next box were read",
       .edits = {{"ciou_pair<HAS_EPS, kLoadsFirst, CHOICES>(pred, target, i, n)",
                  "ciou_pair<HAS_EPS, kLoadsFirst, CHOICES>(pred, target, i + 1 < n ? i + 1 : i, n)"}}},
      {.name = "boxes_read_as_rows",
       .family = FaultFamily::layout,
       .summary = "the boxes were read as [N, 4]",
       .edits = {{"load_value(pred + i), py = load_value(pred + n + i)",
                  "load_value(pred + 4 * i), py = load_value(pred + 4 * i + 1)"}}},
      {.name = "width_never_written",
       .family = FaultFamily::element_lost,
       .summary = "the width's gradient were not written",
       .edits = {{kStoreDw, "(void)d_w;"}},
       .check = "guards",
       .reason = "is not written"},
      {.name = "saved_v_never_written",
       .family = FaultFamily::element_lost,
       .summary = "v were not saved",
       .pass = kForward,
       .edits = {{"store_value(v + i, v_value);", ""}},
       .check = "guards",
       .reason = "v of box 0 is not written"},
      {.name = "zero_gradient_not_written",
       .family = FaultFamily::element_lost,
       .summary = "zeros were not written",
       .edits = {{kStoreDx, "if (upstream * d_cx != C(0)) store_value(d_pred + i, upstream * d_cx);"}},
       .check = "guards",
       .reason = "is not written",
       .scenario = "nested"},
      {.name = "index_of_16_bits",
       .family = FaultFamily::narrow_offset,
       .summary = "the index had 16 bits",
       .edits = {{"ciou_pair<HAS_EPS, kLoadsFirst, CHOICES>(pred, target, i, n)",
                  "ciou_pair<HAS_EPS, kLoadsFirst, CHOICES>(pred, target, i & 0xffff, n)"}},
       .sizes = {{"N", 70000}}},
      {.name = "forward_index_of_16_bits",
       .family = FaultFamily::narrow_offset,
       .summary = "the index had 16 bits",
       .pass = kForward,
       .edits = {{kOwn + "\n  if (i >= N)", kOwn + "\n  if ((i & ~0xffffll) != 0 || i >= N)"}},
       .check = "guards",
       .reason = "is not written",
       .sizes = {{"N", 70000}}},
      {.name = "block_size_written_as_256",
       .family = FaultFamily::tail_lost,
       .summary = "the block size were always 256",
       .edits = {{kOwn + "\n  if (i >= n)",
                  "static_cast<long long>(blockIdx.x) * 256 + threadIdx.x;\n  if (i >= n)"}},
       .check = "repeatability",
       .reason = "other bits with a block of",
       .every_block_size = true,
       .blind = {"reference", "own_saved", "guards"}},
  };
}

// Offsets of ints, as `int i` gives them: 4 * N passes 2^31.
Fault offset_of_32_bits() {
  Fault fault;
  fault.name = "offset_of_32_bits";
  fault.family = FaultFamily::narrow_offset;
  fault.summary = "offsets had 32 bits";
  fault.edits = {
      {"store_value(d_pred + 3 * n + i, upstream * d_h);",
       "store_value(d_pred + static_cast<int>(3u * static_cast<unsigned>(N) + static_cast<unsigned>(i)), "
       "upstream * d_h);"}};
  fault.dtypes = {};
  fault.elsewhere = "no offset reaches 2^31 below 536,870,912 boxes; index_of_16_bits stands for it";
  return fault;
}

Fault right_on_the_first_launch() {
  const std::string forward =
      "template <typename D, int BLOCK_N, bool HAS_EPS, typename CHOICES = CiouContract>\n__device__ "
      "__forceinline__ void "
      "yolo_ciou_loss_forward";
  Fault fault;
  fault.name = "right_on_the_first_launch";
  fault.family = FaultFamily::stale_result;
  fault.summary = "only the first launch were right";
  fault.pass = kForward;
  fault.edits = {
      {forward, "__device__ unsigned char launched[1 << 16];\n" + forward},
      {kStoreLoss, "store_value(loss + i, (launched[i & 0xffff] ? C(1) : C(0)) + one_minus_iou"},
      {"store_value(v + i, v_value);", "store_value(v + i, v_value);\n  launched[i & 0xffff] = 1;"}};
  fault.check = "guards";
  return fault;
}

std::vector<Fault> leftovers() {
  return {
      {.name = "added_to_the_output",
       .family = FaultFamily::accumulation,
       .summary = "the gradient were added to what the output held",
       .edits = {{kStoreDx, "store_value(d_pred + i, load_value(d_pred + i) + upstream * d_cx);"}},
       .check = "guards",
       .reason = "the result depends on what the output held before",
       .outputs = {"d_pred[0]"}},
      {.name = "old_v_times_zero",
       .family = FaultFamily::accumulation,
       .summary = "what the output held were added to v with a factor of zero",
       .pass = kForward,
       .edits = {{"store_value(v + i, v_value);", "store_value(v + i, v_value + C(0) * load_value(v + i));"}},
       .check = "guards",
       .reason = "with NaN in the outputs before",
       .outputs = {"v"},
       .blind = {"reference", "repeatability"}},
      {.name = "smallest_kept",
       .family = FaultFamily::accumulation,
       .summary = "the output kept what it held where that was smaller",
       .pass = kForward,
       .edits = {{"store_value(alpha + i, alpha_value);",
                  "if (alpha_value < load_value(alpha + i)) store_value(alpha + i, alpha_value);"}},
       .check = "guards",
       .reason = "alpha of box"},
      {.name = "saved_alpha_overwritten",
       .family = FaultFamily::input_damaged,
       .summary = "the saved alpha were overwritten",
       .edits = {{kStoreDx, kStoreDx + "\n  store_value(const_cast<D*>(alpha) + i, C(0));"}},
       .check = "guards",
       .reason = "input"},
      {.name = "prediction_overwritten",
       .family = FaultFamily::input_damaged,
       .summary = "the prediction were overwritten",
       .pass = kForward,
       .edits = {{"const C eps = CiouConstants<C, CHOICES>::kEps;\n  const C d2",
                  "const C eps = CiouConstants<C, CHOICES>::kEps;\n  store_value(const_cast<D*>(pred) + i, "
                  "pair.pw);\n  const C d2"}},
       .check = "guards",
       .reason = "input"},
      {.name = "answer_from_a_cache",
       .family = FaultFamily::stale_result,
       .summary = "the loss of the first launch were kept",
       .pass = kForward,
       .edits = {{"template <typename D, int BLOCK_N, bool HAS_EPS, typename CHOICES = "
                  "CiouContract>\n__device__ __forceinline__ void "
                  "yolo_ciou_loss_forward",
                  "__device__ float kept_loss[1 << 16];\n"
                  "template <typename D, int BLOCK_N, bool HAS_EPS, typename CHOICES = "
                  "CiouContract>\n__device__ __forceinline__ void "
                  "yolo_ciou_loss_forward"},
                 {kStoreLoss + " + d2 / c2 + alpha_value * v_value);",
                  "if (kept_loss[i] == 0) kept_loss[i] = one_minus_iou + d2 / c2 + alpha_value * v_value;\n"
                  "  store_value(loss + i, kept_loss[i]);"}},
       .check = "guards"},
  };
}

std::vector<Fault> order() {
  return {
      {.name = "block_neighbour_awaited",
       .family = FaultFamily::order_dependent,
       .summary = "a block read what another one wrote",
       .pass = kForward,
       .edits = {{"store_value(v + i, v_value);",
                  "store_value(v + i, v_value);\n"
                  "  const C before = i >= BLOCK_N ? load_value(v + i - BLOCK_N) : C(0);\n"
                  "  if (before < C(0) || before > C(1)) store_value(v + i, C(0));"}},
       .check = "repeatability",
       .reason = "",  // the host says which order, a GPU that two launches differ
       .races = true},
  };
}

}  // namespace

std::vector<Fault> ciou_memory_faults() {
  std::vector<Fault> all;
  for (const auto& part : {elements(), leftovers(), order()}) all.insert(all.end(), part.begin(), part.end());
  all.push_back(offset_of_32_bits());
  all.push_back(right_on_the_first_launch());
  return all;
}

}  // namespace lossgrad
// NOLINTEND(readability-function-size)
