// SPDX-License-Identifier: Apache-2.0
// Sums over a row that miss something: elements, sweeps, steps of the shuffle, warps, digits.
// NOLINTBEGIN(readability-function-size): tables
#include "losses/cosine/cosine_faults.hpp"

namespace lossgrad {
namespace {

constexpr Pass kForward = Pass::forward;
const std::string kInside = "const bool inside = column < n_dim;";
const std::string kColumns = "const long long columns = inside ? n_dim : 0;";
const std::string kShuffle = "int step = kWidth / 2; step > 0; step /= 2";
const std::string kWarps = "int warp = 0; warp < kWarps; ++warp";
const std::string kBarrier = "    __syncthreads();\n";
const std::string kForwardSweeps = "for (long long sweep = 0; sweep < columns; sweep += kSweep) {";
const std::string kBackwardSweeps =
    "for (long long sweep = kSweep; sweep < columns; sweep += kSweep) {\n"
    "    Tile tile;\n"
    "    tile.load(row1, row2, sweep + lane, columns);\n"
    "    tile.add_to(sums);";
const std::string kAny = {};  // the host says which order, a GPU that two launches differ

const std::string kFirst = "first.add_to(sums);";
// The gradient has all elements, the sums only those before `columns`.
std::string first_without(const std::string& columns) {
  return "Tile cut;\n  cut.load(row1, row2, lane, " + columns + ");\n  cut.add_to(sums);";
}

std::vector<Fault> elements() {
  return {
      {.name = "last_element_lost",
       .family = FaultFamily::element_lost,
       .summary = "the last element of each row were left out of the sums",
       .pass = kForward,
       .edits = {{kInside, "const bool inside = column < n_dim - 1;"}}},
      {.name = "last_element_lost_in_gradient",
       .family = FaultFamily::element_lost,
       .summary = "the last element of each row were left out of the sums",
       .edits = {{kFirst, first_without("columns - 1")}}},
      {.name = "tail_beyond_warps_lost",
       .family = FaultFamily::tail_lost,
       .summary = "elements after the last multiple of 32 were left out of the sums",
       .pass = kForward,
       .edits = {{kColumns, "const long long columns = inside ? n_dim / 32 * 32 : 0;", 2}},
       .scenario = "tail_heavy"},
      {.name = "tail_beyond_warps_lost_in_gradient",
       .family = FaultFamily::tail_lost,
       .summary = "elements after the last multiple of 32 were left out of the sums",
       .edits = {{kFirst, first_without("columns / 32 * 32")}},
       .scenario = "tail_heavy"},
      {.name = "last_sweep_lost",
       .family = FaultFamily::tail_lost,
       .summary = "the last sweep were left out of the sums",
       .pass = kForward,
       .edits = {{kForwardSweeps, "for (long long sweep = 0; sweep + kSweep <= columns; sweep += kSweep) {"}},
       .block = 64},
      {.name = "last_sweep_lost_of_a_long_row",
       .family = FaultFamily::tail_lost,
       .summary = "the last sweep of a long row were left out of the sums",
       .pass = kForward,
       .edits = {{kForwardSweeps, "for (long long sweep = 0; sweep + kSweep <= columns; sweep += kSweep) {"}},
       .dtypes = {Dtype::f32, Dtype::f64, Dtype::f16},
       .elsewhere = "less than the rounding of bf16 storage",
       .scenario = "gaussian",
       .sizes = {{"n_rows", 3}, {"n_dim", 40000}}},
      {.name = "last_sweep_lost_in_gradient",
       .family = FaultFamily::tail_lost,
       .summary = "the last sweep were left out of the sums",
       .edits = {{kBackwardSweeps,
                  edited(kBackwardSweeps, {{"sweep < columns", "sweep + kSweep <= columns"}})}},
       .block = 64},
      // One in 65,536 elements: only sums that are exact in any order show it.
      {.name = "middle_elements_lost_of_a_long_row",
       .family = FaultFamily::element_lost,
       .summary = "four elements in the middle of each row were left out of the sums",
       .edits = {{"x1[e] = inside ? load_value(row1 + column) : C(0);",
                  "x1[e] = inside && column / 4 != n_dim / 8 ? load_value(row1 + column) : C(0);"},
                 {"x2[e] = inside ? load_value(row2 + column) : C(0);",
                  "x2[e] = inside && column / 4 != n_dim / 8 ? load_value(row2 + column) : C(0);"}},
       .scenario = "whole_numbers",
       .sizes = {{"n_rows", 5}, {"n_dim", 65536}}},
      {.name = "first_sweep_counted_twice",
       .family = FaultFamily::factor,
       .summary = "the first sweep were counted twice in the sums",
       .edits = {{kBackwardSweeps, edited(kBackwardSweeps, {{"sweep = kSweep;", "sweep = 0;"}})}},
       .block = 64},
      {.name = "product_of_one_row",
       .family = FaultFamily::swapped_argument,
       .summary = "the dot product were x1.x1",
       .pass = kForward,
       .edits = {{"sums.x12 += x1[e] * x2[e];", "sums.x12 += x1[e] * x1[e];"}}},
  };
}

std::vector<Fault> threads() {
  return {
      {.name = "first_shuffle_missing",
       .family = FaultFamily::element_lost,
       .summary = "half of each warp's sums were lost",
       .pass = kForward,
       .edits = {{kShuffle, "int step = kWidth / 4; step > 0; step /= 2"}}},
      {.name = "last_shuffle_missing",
       .family = FaultFamily::element_lost,
       .summary = "every other thread's sums were lost",
       .edits = {{kShuffle, "int step = kWidth / 2; step > 1; step /= 2"}}},
      {.name = "only_lane_0_has_the_sum",
       .family = FaultFamily::element_lost,
       .summary = "only the first thread of a warp had the whole sums",
       .edits = {{"__shfl_xor_sync(", "__shfl_down_sync(", 3}}},
      {.name = "last_warp_lost",
       .family = FaultFamily::tail_lost,
       .summary = "the last warp's sums were lost",
       .pass = kForward,
       .edits = {{kWarps, "int warp = 0; warp < kWarps - 1; ++warp"}},
       .sizes = kTwoWarps},
      {.name = "own_warp_alone",
       .family = FaultFamily::element_lost,
       .summary = "each warp used its own sums alone",
       .edits = {{kWarps, "int warp = lane / 32; warp <= lane / 32; ++warp"}},
       .sizes = kTwoWarps},
      {.name = "rows_of_a_block_share_their_sums",
       .family = FaultFamily::swapped_argument,
       .summary = "the rows of a block shared the place of their sums",
       .pass = kForward,
       .edits = {{"parts + 3 * kWarps * row;", "parts;"}},
       .dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16},
       .elsewhere = "a row fills its block in f64",
       .sizes = kTwoWarps},
      {.name = "barrier_missing",
       .family = FaultFamily::barrier,
       .summary = "the barrier before the sums are read were missing",
       .pass = kForward,
       .edits = {{kBarrier, ""}},
       .check = "repeatability",
       .reason = kAny,
       .sizes = kTwoWarps,
       .races = true},
      {.name = "barrier_missing_in_backward",
       .family = FaultFamily::barrier,
       .summary = "the barrier before the sums are read were missing",
       .edits = {{kBarrier, ""}},
       .check = "repeatability",
       .reason = kAny,
       .sizes = kFourWarps,
       .races = true},
      // As right as any sum, but in another order each time.
      {.name = "atomic_sum",
       .family = FaultFamily::order_dependent,
       .summary = "the sums were added by atomics, in any order",
       .edits = {{"    if (lane % 32 == 0) {\n",
                  "    if (lane < 3) mine[lane] = C(0);\n    __syncthreads();\n    if (lane % 32 == 0) {\n"},
                 {"mine[lane / 32] = sums.x11;", "atomicAdd(mine, sums.x11);"},
                 {"mine[kWarps + lane / 32] = sums.x22;", "atomicAdd(mine + 1, sums.x22);"},
                 {"mine[2 * kWarps + lane / 32] = sums.x12;", "atomicAdd(mine + 2, sums.x12);"},
                 {kWarps, "int warp = 0; warp < 1; ++warp"},
                 {"+= mine[warp];", "+= mine[0];"},
                 {"+= mine[kWarps + warp];", "+= mine[1];"},
                 {"+= mine[2 * kWarps + warp];", "+= mine[2];"}},
       .check = "repeatability",
       .reason = kAny,
       .sizes = kFourWarps,
       .races = true,
       .blind = {"reference", "guards"}},
  };
}

// Accumulators that hold fewer digits than the compute type.
std::vector<SourceEdit> narrow(const std::string& header, const std::string& to, const std::string& from) {
  const auto sum = [&](const std::string& name, const std::string& term) {
    return SourceEdit{
        "sums." + name + " += " + term + ";",
        "sums." + name + " = C(" + from + "(" + to + "(float(sums." + name + " + " + term + "))));"};
  };
  return {{"enum class CosineConvention", "#include <" + header + ">\nenum class CosineConvention"},
          sum("x11", "x1[e] * x1[e]"),
          sum("x22", "x2[e] * x2[e]"),
          sum("x12", "x1[e] * x2[e]")};
}

std::vector<Fault> digits() {
  const std::vector<SourceEdit> half = narrow("cuda_fp16.h", "__float2half_rn", "__half2float");
  const std::vector<SourceEdit> bfloat = narrow("cuda_bf16.h", "__float2bfloat16_rn", "__bfloat162float");
  const std::vector<SourceEdit> shuffled = {
      {"enum class CosineConvention", "#include <cuda_fp16.h>\nenum class CosineConvention"},
      {"if constexpr (THREADS > 1) {",
       "sums.x12 = __half2float(__float2half_rn(float(sums.x12)));\n  if constexpr (THREADS > 1) {"}};
  return {
      {.name = "accumulated_in_f16",
       .family = FaultFamily::low_precision,
       .summary = "the sums were held in f16",
       .pass = kForward,
       .edits = half,
       .scenario = "parallel"},
      {.name = "accumulated_in_f16_in_gradient",
       .family = FaultFamily::low_precision,
       .summary = "the sums were held in f16",
       .edits = half,
       .scenario = "parallel"},
      {.name = "accumulated_in_f16_of_a_long_row",
       .family = FaultFamily::low_precision,
       .summary = "the sums of a long row were held in f16",
       .edits = half,
       .scenario = "gaussian",
       .sizes = kFourWarps},
      {.name = "accumulated_in_bf16",
       .family = FaultFamily::low_precision,
       .summary = "the sums were held in bf16",
       .pass = kForward,
       .edits = bfloat,
       .scenario = "parallel"},
      {.name = "accumulated_in_bf16_in_gradient",
       .family = FaultFamily::low_precision,
       .summary = "the sums were held in bf16",
       .edits = bfloat,
       .scenario = "parallel"},
      {.name = "partial_sums_shuffled_in_f16",
       .family = FaultFamily::low_precision,
       .summary = "partial dot products were exchanged in f16",
       .edits = shuffled,
       .scenario = "parallel"},
      {.name = "accumulated_in_f32",
       .family = FaultFamily::low_precision,
       .summary = "the sums were held in f32",
       .pass = kForward,
       .edits = {{"sums.x11 += x1[e] * x1[e];", "sums.x11 = float(sums.x11 + x1[e] * x1[e]);"},
                 {"sums.x22 += x2[e] * x2[e];", "sums.x22 = float(sums.x22 + x2[e] * x2[e]);"},
                 {"sums.x12 += x1[e] * x2[e];", "sums.x12 = float(sums.x12 + x1[e] * x2[e]);"}},
       .dtypes = {Dtype::f64},
       .elsewhere = "the others compute in f32"},
  };
}

}  // namespace

std::vector<Fault> cosine_sum_faults() {
  std::vector<Fault> all;
  for (const auto& part : {elements(), threads(), digits()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lossgrad
// NOLINTEND(readability-function-size)
