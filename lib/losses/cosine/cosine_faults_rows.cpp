// SPDX-License-Identifier: Apache-2.0
// Right arithmetic on wrong rows, in a wrong place, or with something left over from before.
// NOLINTBEGIN(readability-function-size): tables
#include "losses/cosine/cosine_faults.hpp"

namespace lossgrad {
namespace {

constexpr Pass kForward = Pass::forward;
const std::string kInside = "const bool inside = row < n_rows;";
const std::string kRow1 = "const D* const row1 = x1 + row * n_dim;";
const std::string kRow2 = "const D* const row2 = x2 + row * n_dim;";
const std::string kGradientRow1 = "D* const d_row1 = dx1 + row * n_dim;";
const std::string kStoreFirst = "store_value(d_row1 + column, active ? d1 : C(0));";
const std::string kStoreSecond = "store_value(d_row2 + column, active ? d2 : C(0));";
const std::string kLoss = "store_value(loss + row, load_value(y + row) > C(0) ? C(1) - cosine : hinge);";
const std::string kUpstream = "const C upstream = load_value(dy + row);";
// More than 65536 elements.
const Sizes kManyRows = {{"n_rows", 400}};

std::vector<Fault> places() {
  return {
      {.name = "offset_of_16_bits",
       .family = FaultFamily::narrow_offset,
       .summary = "the row's offset had 16 bits",
       .pass = kForward,
       .edits = {{kRow1, "const D* const row1 = x1 + ((row * n_dim) & 0xffff);", 2}},
       .sizes = kManyRows},
      {.name = "offset_of_16_bits_in_backward",
       .family = FaultFamily::narrow_offset,
       .summary = "the offset of x2's row had 16 bits",
       .edits = {{kRow2, "const D* const row2 = x2 + ((row * n_dim) & 0xffff);", 2}},
       .sizes = kManyRows},
      {.name = "offset_of_16_bits_in_what_is_written",
       .family = FaultFamily::narrow_offset,
       .summary = "the offset of dx1's row had 16 bits",
       .edits = {{kGradientRow1, "D* const d_row1 = dx1 + ((row * n_dim) & 0xffff);"}},
       .sizes = kManyRows},
      {.name = "row_offset_one_less",
       .family = FaultFamily::layout,
       .summary = "x1's rows were one element shorter",
       .pass = kForward,
       .edits = {{kRow1, "const D* const row1 = x1 + row * (n_dim - 1);", 2}}},
      {.name = "row_offset_one_less_in_backward",
       .family = FaultFamily::layout,
       .summary = "x2's rows were one element shorter",
       .edits = {{kRow2, "const D* const row2 = x2 + row * (n_dim - 1);", 2}}},
      {.name = "written_with_row_offset_one_less",
       .family = FaultFamily::layout,
       .summary = "dx1's rows were one element shorter",
       .edits = {{kGradientRow1, "D* const d_row1 = dx1 + row * (n_dim - 1);"}},
       .check = "guards",
       .reason = ""},  // rows overlap: which of them stays, and so what is found first, is a race
      {.name = "columns_read_as_rows",
       .family = FaultFamily::layout,
       .summary = "x1's rows began one element apart",
       .pass = kForward,
       .edits = {{kRow1, "const D* const row1 = x1 + row;", 2},
                 {"load_value(row1 + column)", "load_value(row1 + column % (n_dim > 1 ? n_dim / 2 : 1))"}}},
      {.name = "first_sweep_stored_again",
       .family = FaultFamily::stale_result,
       .summary = "later sweeps stored the first one's elements",
       .edits = {{"store(tile, sweep + lane);", "store(first, sweep + lane);"}},
       .block = 64},
      {.name = "gradient_of_the_first_sweep_alone",
       .family = FaultFamily::tail_lost,
       .summary = "only the first sweep's gradient were written",
       .edits = {{"store(tile, sweep + lane);", ""}},
       .check = "guards",
       .reason = "is not written",
       .block = 64},
      {.name = "last_row_lost",
       .family = FaultFamily::element_lost,
       .summary = "the last row were left out",
       .edits = {{kInside, "const bool inside = row < n_rows - 1;", 2}},
       .check = "guards",
       .reason = "is not written"},
      {.name = "ragged_block_lost",
       .family = FaultFamily::tail_lost,
       .summary = "the rows after the last whole block were left out",
       .pass = kForward,
       .edits = {{kInside, "const bool inside = (blockIdx.x + 1ll) * ROWS <= n_rows;", 2}},
       .check = "guards",
       .reason = "is not written"},
      {.name = "row_past_the_end_written",
       .family = FaultFamily::out_of_bounds,
       .summary = "threads past the last row wrote as well",
       .pass = kForward,
       .edits = {{"if (!inside || lane != 0) return;", "if (lane != 0) return;"}},
       .check = "guards",
       .reason = "written at element"},
      {.name = "element_past_the_row_written",
       .family = FaultFamily::out_of_bounds,
       .summary = "an element past the row's end were written",
       .edits = {{"if (column >= columns) break;", "if (column > columns) break;"}},
       .check = "guards",
       .reason = "written at element"},
      {.name = "element_before_the_row_written",
       .family = FaultFamily::out_of_bounds,
       .summary = "dx1 were written one element before its place",
       .edits = {{kGradientRow1, "D* const d_row1 = dx1 + row * n_dim - 1;"}},
       .check = "guards",
       .reason = "before the start of dx1"},
      {.name = "one_row_of_a_block",
       .family = FaultFamily::element_lost,
       .summary = "only the first row of a block were worked on",
       .edits = {{"static_cast<long long>(blockIdx.x) * ROWS + row_in_block;",
                  "static_cast<long long>(blockIdx.x) * ROWS;", 2}},
       .check = "guards",
       .reason = "is not written"},
  };
}

Fault offset_of_32_bits() {
  Fault fault;
  fault.name = "offset_of_32_bits";
  fault.family = FaultFamily::narrow_offset;
  fault.summary = "the offset of a row had 32 bits";
  fault.edits = {{kRow1,
                  "const D* const row1 = x1 + static_cast<int>(static_cast<unsigned>(row) * "
                  "static_cast<unsigned>(n_dim));",
                  2}};
  fault.dtypes = {};
  fault.elsewhere = "no offset reaches 2^31 below 2^31 elements; offset_of_16_bits stands for it";
  return fault;
}

std::vector<Fault> leftovers() {
  return {
      {.name = "input_changed",
       .family = FaultFamily::input_damaged,
       .summary = "x1 were overwritten by its gradient",
       .edits = {{kStoreFirst, kStoreFirst + "\n      store_value(const_cast<D*>(row1) + column, d1);"}},
       .check = "guards",
       .reason = "input was changed"},
      {.name = "input_normalised_in_place",
       .family = FaultFamily::input_damaged,
       .summary = "x1 were normalised in place",
       .pass = kForward,
       .edits = {{kLoss, kLoss + "\n  store_value(const_cast<D*>(row1), load_value(row1) * factors.r1);"}},
       .check = "guards",
       .reason = "input was changed"},
      {.name = "added_to_the_output",
       .family = FaultFamily::accumulation,
       .summary = "dx2 were added to what the output held",
       .edits = {{kStoreSecond,
                  "store_value(d_row2 + column, load_value(d_row2 + column) + (active ? d2 : C(0)));"}},
       .check = "guards",
       .reason = "the result depends on what the output held before",
       .outputs = {"dx2"}},
      {.name = "old_gradient_times_zero",
       .family = FaultFamily::accumulation,
       .summary = "what the output held were added to dx2 with a factor of zero",
       .edits =
           {{kStoreSecond,
             "store_value(d_row2 + column, C(0) * load_value(d_row2 + column) + (active ? d2 : C(0)));"}},
       .check = "guards",
       .reason = "depends on what the output held before",
       .outputs = {"dx2"}},
      {.name = "added_to_the_loss",
       .family = FaultFamily::accumulation,
       .summary = "the loss were added to what the output held",
       .pass = kForward,
       .edits = {{kLoss,
                  "store_value(loss + row, load_value(loss + row) + (load_value(y + row) > C(0) ? "
                  "C(1) - cosine : hinge));"}},
       .check = "guards",
       .reason = "the result depends on what the output held before"},
      {.name = "answer_from_a_cache",
       .family = FaultFamily::stale_result,
       .summary = "the loss of the first launch were kept",
       .pass = kForward,
       .edits =
           {{"template <typename D, int BLOCK_SIZE, int THREADS, int ROWS, int ELEMENTS, CosineConvention "
             "CONVENTION>\n__device__ __forceinline__ void cosine_embedding_loss_forward",
             "__device__ float kept_loss[1 << 16];\n"
             "template <typename D, int BLOCK_SIZE, int THREADS, int ROWS, int ELEMENTS, CosineConvention "
             "CONVENTION>\n__device__ __forceinline__ void cosine_embedding_loss_forward"},
            {kLoss,
             "if (kept_loss[row] == 0) kept_loss[row] = load_value(y + row) > C(0) ? C(1) - cosine : "
             "hinge;\n"
             "  store_value(loss + row, kept_loss[row]);"}},
       .check = "guards"},
      {.name = "upstream_from_a_cache",
       .family = FaultFamily::stale_result,
       .summary = "the first launch's dy were kept",
       .edits =
           {{"template <typename D, int BLOCK_SIZE, int THREADS, int ROWS, int ELEMENTS, CosineConvention "
             "CONVENTION>\n__device__ __forceinline__ void cosine_embedding_loss_backward",
             "__device__ float kept_dy[1 << 16];\n"
             "template <typename D, int BLOCK_SIZE, int THREADS, int ROWS, int ELEMENTS, CosineConvention "
             "CONVENTION>\n__device__ __forceinline__ void cosine_embedding_loss_backward"},
            {kUpstream,
             "if (kept_dy[row] == 0) kept_dy[row] = load_value(dy + row);\n"
             "  const C upstream = kept_dy[row];"}},
       .check = "guards"},
  };
}

}  // namespace

std::vector<Fault> cosine_row_faults() {
  std::vector<Fault> all;
  for (const auto& part : {places(), leftovers()}) all.insert(all.end(), part.begin(), part.end());
  all.push_back(offset_of_32_bits());
  return all;
}

}  // namespace lossgrad
// NOLINTEND(readability-function-size)
