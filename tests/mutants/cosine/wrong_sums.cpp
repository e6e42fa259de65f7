// SPDX-License-Identifier: Apache-2.0
// Sums over a row that miss something: elements, sweeps, steps of the shuffle, warps, digits.
#include "mutants/cosine/cosine_wrong_kernels.hpp"

namespace lossgrad::mutants {
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
const std::string kOrder = "the result depends on the order of threads";

const std::string kFirst = "first.add_to(sums);";
// The gradient has all elements, the sums only those before `columns`.
std::string first_without(const std::string& columns) {
  return "Tile cut;\n  cut.load(row1, row2, lane, " + columns + ");\n  cut.add_to(sums);";
}

std::vector<WrongKernel> elements() {
  return {
      {.name = "last_element_lost",
       .pass = kForward,
       .text = {{}, {{kInside, "const bool inside = column < n_dim - 1;"}}},
       .dtypes = kEveryDtype},
      {.name = "last_element_lost_in_gradient", .text = {{}, {{kFirst, first_without("columns - 1")}}}},
      {.name = "tail_beyond_warps_lost",
       .pass = kForward,
       .text = {{}, {{kColumns, "const long long columns = inside ? n_dim / 32 * 32 : 0;", 2}}},
       .scenario = "tail_heavy"},
      {.name = "tail_beyond_warps_lost_in_gradient",
       .text = {{}, {{kFirst, first_without("columns / 32 * 32")}}},
       .dtypes = kEveryDtype,
       .scenario = "tail_heavy"},
      {.name = "last_sweep_lost",
       .pass = kForward,
       .text = {{},
                {{kForwardSweeps,
                  "for (long long sweep = 0; sweep + kSweep <= columns; sweep += kSweep) {"}}},
       .block = 64},
      {.name = "last_sweep_lost_of_a_long_row",
       .pass = kForward,
       .text = {{},
                {{kForwardSweeps,
                  "for (long long sweep = 0; sweep + kSweep <= columns; sweep += kSweep) {"}}},
       .scenario = "gaussian",
       .sizes = {{"n_rows", 3}, {"n_dim", 40000}}},
      {.name = "last_sweep_lost_in_gradient",
       .text = {{},
                {{kBackwardSweeps,
                  edited(kBackwardSweeps, {{"sweep < columns", "sweep + kSweep <= columns"}})}}},
       .dtypes = kEveryDtype,
       .block = 64},
      {.name = "first_sweep_counted_twice",
       .text = {{}, {{kBackwardSweeps, edited(kBackwardSweeps, {{"sweep = kSweep;", "sweep = 0;"}})}}},
       .block = 64},
      {.name = "product_of_one_row",
       .pass = kForward,
       .text = {{}, {{"sums.x12 += x1[e] * x2[e];", "sums.x12 += x1[e] * x1[e];"}}}},
  };
}

std::vector<WrongKernel> threads() {
  return {
      {.name = "first_shuffle_missing",
       .pass = kForward,
       .text = {{}, {{kShuffle, "int step = kWidth / 4; step > 0; step /= 2"}}}},
      {.name = "last_shuffle_missing",
       .text = {{}, {{kShuffle, "int step = kWidth / 2; step > 1; step /= 2"}}},
       .dtypes = kEveryDtype},
      {.name = "only_lane_0_has_the_sum", .text = {{}, {{"__shfl_xor_sync(", "__shfl_down_sync(", 3}}}},
      {.name = "last_warp_lost",
       .pass = kForward,
       .text = {{}, {{kWarps, "int warp = 0; warp < kWarps - 1; ++warp"}}},
       .sizes = kTwoWarps},
      {.name = "own_warp_alone",
       .text = {{}, {{kWarps, "int warp = lane / 32; warp <= lane / 32; ++warp"}}},
       .sizes = kTwoWarps},
      {.name = "rows_of_a_block_share_their_sums",
       .pass = kForward,
       .text = {{}, {{"parts + 3 * kWarps * row;", "parts;"}}},
       .sizes = kTwoWarps},
      {.name = "barrier_missing",
       .pass = kForward,
       .text = {{}, {{kBarrier, ""}}},
       .check = "repeatability",
       .reason = kOrder,
       .dtypes = kEveryDtype,
       .sizes = kTwoWarps},
      {.name = "barrier_missing_in_backward",
       .text = {{}, {{kBarrier, ""}}},
       .check = "repeatability",
       .reason = kOrder,
       .sizes = kFourWarps},
      // As right as any sum, but in another order each time.
      {.name = "atomic_sum",
       .text = {{},
                {{"    if (lane % 32 == 0) {\n",
                  "    if (lane < 3) mine[lane] = C(0);\n    __syncthreads();\n    if (lane % 32 == 0) {\n"},
                 {"mine[lane / 32] = sums.x11;", "atomicAdd(mine, sums.x11);"},
                 {"mine[kWarps + lane / 32] = sums.x22;", "atomicAdd(mine + 1, sums.x22);"},
                 {"mine[2 * kWarps + lane / 32] = sums.x12;", "atomicAdd(mine + 2, sums.x12);"},
                 {kWarps, "int warp = 0; warp < 1; ++warp"},
                 {"+= mine[warp];", "+= mine[0];"},
                 {"+= mine[kWarps + warp];", "+= mine[1];"},
                 {"+= mine[2 * kWarps + warp];", "+= mine[2];"}}},
       .check = "repeatability",
       .reason = kOrder,
       .dtypes = kWideDtypes,
       .sizes = kFourWarps,
       .blind = {"reference", "guards"}},
  };
}

// Accumulators that hold fewer digits than the compute type.
std::vector<Edit> narrow(const std::string& header, const std::string& to, const std::string& from) {
  const auto sum = [&](const std::string& name, const std::string& term) {
    return Edit{"sums." + name + " += " + term + ";",
                "sums." + name + " = C(" + from + "(" + to + "(float(sums." + name + " + " + term + "))));"};
  };
  return {{"enum class CosineConvention", "#include <" + header + ">\nenum class CosineConvention"},
          sum("x11", "x1[e] * x1[e]"),
          sum("x22", "x2[e] * x2[e]"),
          sum("x12", "x1[e] * x2[e]")};
}

std::vector<WrongKernel> digits() {
  const std::vector<Edit> half = narrow("cuda_fp16.h", "__float2half_rn", "__half2float");
  const std::vector<Edit> bfloat = narrow("cuda_bf16.h", "__float2bfloat16_rn", "__bfloat162float");
  const std::vector<Edit> shuffled = {
      {"enum class CosineConvention", "#include <cuda_fp16.h>\nenum class CosineConvention"},
      {"if constexpr (THREADS > 1) {",
       "sums.x12 = __half2float(__float2half_rn(float(sums.x12)));\n  if constexpr (THREADS > 1) {"}};
  return {
      {.name = "accumulated_in_f16",
       .pass = kForward,
       .text = {{}, half},
       .dtypes = {Dtype::f32, Dtype::f64, Dtype::f16},
       .scenario = "parallel"},
      {.name = "accumulated_in_f16_in_gradient",
       .text = {{}, half},
       .dtypes = kEveryDtype,
       .scenario = "parallel"},
      {.name = "accumulated_in_f16_of_a_long_row",
       .text = {{}, half},
       .dtypes = {Dtype::f32, Dtype::f16},
       .scenario = "gaussian",
       .sizes = kFourWarps},
      {.name = "accumulated_in_bf16",
       .pass = kForward,
       .text = {{}, bfloat},
       .dtypes = {Dtype::f32, Dtype::f64, Dtype::bf16},
       .scenario = "parallel"},
      {.name = "accumulated_in_bf16_in_gradient",
       .text = {{}, bfloat},
       .dtypes = kEveryDtype,
       .scenario = "parallel"},
      {.name = "partial_sums_shuffled_in_f16",
       .text = {{}, shuffled},
       .dtypes = {Dtype::f32, Dtype::f16},
       .scenario = "parallel"},
      {.name = "accumulated_in_f32",
       .pass = kForward,
       .text = {{},
                {{"sums.x11 += x1[e] * x1[e];", "sums.x11 = float(sums.x11 + x1[e] * x1[e]);"},
                 {"sums.x22 += x2[e] * x2[e];", "sums.x22 = float(sums.x22 + x2[e] * x2[e]);"},
                 {"sums.x12 += x1[e] * x2[e];", "sums.x12 = float(sums.x12 + x1[e] * x2[e]);"}}},
       .dtypes = {Dtype::f64}},
  };
}

}  // namespace

std::vector<WrongKernel> wrong_sum_kernels() {
  std::vector<WrongKernel> all;
  for (const auto& part : {elements(), threads(), digits()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lossgrad::mutants
