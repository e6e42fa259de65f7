// SPDX-License-Identifier: Apache-2.0
// Right arithmetic on wrong rows, in a wrong place, or with something left over from before.
#include "mutants/cosine/cosine_wrong_kernels.hpp"

namespace lossgrad::mutants {
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

std::vector<WrongKernel> places() {
  return {
      {.name = "offset_of_16_bits",
       .pass = kForward,
       .text = {{}, {{kRow1, "const D* const row1 = x1 + ((row * n_dim) & 0xffff);", 2}}},
       .sizes = kManyRows},
      {.name = "offset_of_16_bits_in_backward",
       .text = {{}, {{kRow2, "const D* const row2 = x2 + ((row * n_dim) & 0xffff);", 2}}},
       .dtypes = kEveryDtype,
       .sizes = kManyRows},
      {.name = "offset_of_16_bits_in_what_is_written",
       .text = {{}, {{kGradientRow1, "D* const d_row1 = dx1 + ((row * n_dim) & 0xffff);"}}},
       .sizes = kManyRows},
      {.name = "row_offset_one_less",
       .pass = kForward,
       .text = {{}, {{kRow1, "const D* const row1 = x1 + row * (n_dim - 1);", 2}}}},
      {.name = "row_offset_one_less_in_backward",
       .text = {{}, {{kRow2, "const D* const row2 = x2 + row * (n_dim - 1);", 2}}}},
      {.name = "written_with_row_offset_one_less",
       .text = {{}, {{kGradientRow1, "D* const d_row1 = dx1 + row * (n_dim - 1);"}}},
       .check = "guards",
       .reason = "is not written"},
      {.name = "columns_read_as_rows",
       .pass = kForward,
       .text = {{},
                {{kRow1, "const D* const row1 = x1 + row;", 2},
                 {"load_value(row1 + column)", "load_value(row1 + column % (n_dim / 2))"}}}},
      {.name = "first_sweep_stored_again",
       .text = {{}, {{"store(tile, sweep + lane);", "store(first, sweep + lane);"}}},
       .block = 64},
      {.name = "gradient_of_the_first_sweep_alone",
       .text = {{}, {{"store(tile, sweep + lane);", ""}}},
       .check = "guards",
       .reason = "is not written",
       .block = 64},
      {.name = "last_row_lost",
       .text = {{}, {{kInside, "const bool inside = row < n_rows - 1;", 2}}},
       .check = "guards",
       .reason = "is not written"},
      {.name = "ragged_block_lost",
       .pass = kForward,
       .text = {{}, {{kInside, "const bool inside = (blockIdx.x + 1ll) * ROWS <= n_rows;", 2}}},
       .check = "guards",
       .reason = "is not written"},
      {.name = "row_past_the_end_written",
       .pass = kForward,
       .text = {{}, {{"if (!inside || lane != 0) return;", "if (lane != 0) return;"}}},
       .check = "guards",
       .reason = "written at element"},
      {.name = "element_past_the_row_written",
       .text = {{}, {{"if (column >= columns) break;", "if (column > columns) break;"}}},
       .check = "guards",
       .reason = "written at element",
       .dtypes = kEveryDtype},
      {.name = "element_before_the_row_written",
       .text = {{}, {{kGradientRow1, "D* const d_row1 = dx1 + row * n_dim - 1;"}}},
       .check = "guards",
       .reason = "before the start of dx1"},
      {.name = "one_row_of_a_block",
       .text = {{},
                {{"static_cast<long long>(blockIdx.x) * ROWS + row_in_block;",
                  "static_cast<long long>(blockIdx.x) * ROWS;", 2}}},
       .check = "guards",
       .reason = "is not written"},
  };
}

std::vector<WrongKernel> leftovers() {
  return {
      {.name = "input_changed",
       .text = {{}, {{kStoreFirst, kStoreFirst + "\n      store_value(const_cast<D*>(row1) + column, d1);"}}},
       .check = "guards",
       .reason = "input was changed"},
      {.name = "input_normalised_in_place",
       .pass = kForward,
       .text = {{},
                {{kLoss, kLoss + "\n  store_value(const_cast<D*>(row1), load_value(row1) * factors.r1);"}}},
       .check = "guards",
       .reason = "input was changed"},
      {.name = "added_to_the_output",
       .text = {{},
                {{kStoreSecond,
                  "store_value(d_row2 + column, load_value(d_row2 + column) + (active ? d2 : C(0)));"}}},
       .check = "guards",
       .reason = "the result depends on what the output held before",
       .outputs = {"dx2"},
       .dtypes = kEveryDtype},
      {.name = "added_to_the_loss",
       .pass = kForward,
       .text = {{},
                {{kLoss,
                  "store_value(loss + row, load_value(loss + row) + (load_value(y + row) > C(0) ? "
                  "C(1) - cosine : hinge));"}}},
       .check = "guards",
       .reason = "the result depends on what the output held before"},
      {.name = "answer_from_a_cache",
       .pass = kForward,
       .text =
           {{},
            {{"template <typename D, int BLOCK_SIZE, int THREADS, int ROWS, int ELEMENTS, CosineConvention "
              "CONVENTION>\n__device__ __forceinline__ void cosine_embedding_loss_forward",
              "__device__ float kept_loss[1 << 16];\n"
              "template <typename D, int BLOCK_SIZE, int THREADS, int ROWS, int ELEMENTS, CosineConvention "
              "CONVENTION>\n__device__ __forceinline__ void cosine_embedding_loss_forward"},
             {kLoss,
              "if (kept_loss[row] == 0) kept_loss[row] = load_value(y + row) > C(0) ? C(1) - cosine : "
              "hinge;\n"
              "  store_value(loss + row, kept_loss[row]);"}}},
       .check = "guards",
       .reason = "second launch on other inputs"},
      {.name = "upstream_from_a_cache",
       .text =
           {{},
            {{"template <typename D, int BLOCK_SIZE, int THREADS, int ROWS, int ELEMENTS, CosineConvention "
              "CONVENTION>\n__device__ __forceinline__ void cosine_embedding_loss_backward",
              "__device__ float kept_dy[1 << 16];\n"
              "template <typename D, int BLOCK_SIZE, int THREADS, int ROWS, int ELEMENTS, CosineConvention "
              "CONVENTION>\n__device__ __forceinline__ void cosine_embedding_loss_backward"},
             {kUpstream,
              "if (kept_dy[row] == 0) kept_dy[row] = load_value(dy + row);\n"
              "  const C upstream = kept_dy[row];"}}},
       .check = "guards",
       .reason = "second launch on other inputs"},
  };
}

}  // namespace

std::vector<WrongKernel> wrong_row_kernels() {
  std::vector<WrongKernel> all;
  for (const auto& part : {places(), leftovers()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lossgrad::mutants
