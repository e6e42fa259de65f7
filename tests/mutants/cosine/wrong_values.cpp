// SPDX-License-Identifier: Apache-2.0
// Wrong values, and forward kernels that do not fit their backward.
#include "mutants/cosine/cosine_wrong_kernels.hpp"

namespace lossgrad::mutants {
namespace {

constexpr Pass kForward = Pass::forward;
const std::string kReciprocals = "const C r1 = one / norm1, r2 = one / norm2;\n  return {r1, r2, r1, r2};";
const std::string kExcess = "const C excess = cosine - C(margin);";
const std::string kHinge = "excess <= C(0) ? C(0) : excess";
const std::string kSame = "load_value(y + row) > C(0) ? C(1) - cosine : hinge";

// Reciprocals of the norms as these two expressions have them.
std::vector<Edit> reciprocals(const std::string& r1, const std::string& r2) {
  return {{kReciprocals, "const C r1 = " + r1 + ", r2 = " + r2 + ";\n  return {r1, r2, r1, r2};"}};
}

std::vector<WrongKernel> cosines() {
  return {
      {.name = "norm_squared_for_norm",
       .pass = kForward,
       .text = {{}, reciprocals("one / norm1", "one / sums.x22")}},
      {.name = "norm_not_inverted", .pass = kForward, .text = {{}, reciprocals("norm1", "one / norm2")}},
      {.name = "one_norm_left_out", .pass = kForward, .text = {{}, reciprocals("one / norm1", "one")}},
      {.name = "norm_of_the_other_row",
       .pass = kForward,
       .text = {{}, reciprocals("one / norm2", "one / norm2")},
       .dtypes = kEveryDtype},
      {.name = "norm_by_magnitudes",  // the sum of |x|
       .pass = kForward,
       .text = {{}, {{"sums.x11 += x1[e] * x1[e];", "sums.x11 += absolute(x1[e]);"}}}},
      {.name = "root_in_f32",
       .pass = kForward,
       .text = {{}, reciprocals("one / sqrtf(float(sums.x11))", "one / norm2")},
       .dtypes = {Dtype::f64}},
      {.name = "root_by_newton_once",  // errs by 0.2 %
       .pass = kForward,
       .text = {{},
                {{kReciprocals,
                  "const auto inverse_root = [](float x) {\n"
                  "    float r = __int_as_float(0x5f3759df - (__float_as_int(x) >> 1));\n"
                  "    return r * (1.5f - 0.5f * x * r * r);\n"
                  "  };\n"
                  "  const C r1 = inverse_root(sums.x11), r2 = inverse_root(sums.x22);\n"
                  "  return {r1, r2, r1, r2};"}}},
       .dtypes = {Dtype::f32, Dtype::f16, Dtype::bf16}},
  };
}

std::vector<WrongKernel> hinges() {
  return {
      {.name = "sign_of_cos",
       .pass = kForward,
       .text = {{}, {{"C(1) - cosine : hinge", "C(1) + cosine : hinge"}}}},
      {.name = "margin_ignored",
       .pass = kForward,
       .text = {{}, {{kExcess, "const C excess = cosine;"}}},
       .dtypes = kEveryDtype,
       .parameters = {{"margin", 0.5}}},
      {.name = "margin_added",
       .pass = kForward,
       .text = {{}, {{kExcess, "const C excess = cosine + C(margin);"}}},
       .parameters = {{"margin", -0.3}}},
      {.name = "margin_of_both_labels",
       .pass = kForward,
       .text = {{}, {{"C(1) - cosine : hinge", "C(1) - C(margin) - cosine : hinge"}}},
       .parameters = {{"margin", 0.5}}},
      {.name = "margin_as_an_integer",
       .pass = kForward,
       .text = {{}, {{kExcess, "const C excess = cosine - C(int(margin));"}}},
       .parameters = {{"margin", 0.5}}},
      {.name = "margin_in_f16",
       .pass = kForward,
       .text = {{},
                {{"enum class CosineConvention", "#include <cuda_fp16.h>\nenum class CosineConvention"},
                 {kExcess, "const C excess = cosine - C(__half2float(__float2half_rn(margin)));"}}},
       .dtypes = kWideDtypes,
       .parameters = {{"margin", -0.3}}},
      {.name = "hinge_on_the_wrong_side",
       .pass = kForward,
       .text = {{}, {{kHinge, "excess >= C(0) ? C(0) : excess"}}},
       .dtypes = kEveryDtype},
      {.name = "hinge_left_out", .pass = kForward, .text = {{}, {{kHinge, "excess"}}}},
      {.name = "hinge_left_out_near_margin",
       .pass = kForward,
       .text = {{}, {{kHinge, "absolute(excess) + C(1e-4)"}}},
       .scenario = "near_margin",
       .parameters = {{"margin", 0.5}}},
      {.name = "labels_tested_as_nonzero",
       .pass = kForward,
       .text = {{}, {{kSame, "load_value(y + row) != C(0) ? C(1) - cosine : hinge"}}},
       .dtypes = kEveryDtype},
      {.name = "labels_ignored", .pass = kForward, .text = {{}, {{kSame, "hinge"}}}},
      {.name = "labels_swapped",
       .pass = kForward,
       .text = {{}, {{kSame, "load_value(y + row) < C(0) ? C(1) - cosine : hinge"}}}},
      {.name = "label_of_the_first_row",
       .pass = kForward,
       .text = {{}, {{kSame, "load_value(y) > C(0) ? C(1) - cosine : hinge"}}}},
      {.name = "nan_dropped_by_fmax",
       .pass = kForward,
       .text = {{}, {{kHinge, "fmax(excess, C(0))"}}},
       .reason = "a NaN input was swallowed",
       .dtypes = kEveryDtype,
       .scenario = "gaussian",
       .nan_inputs = true},
      {.name = "nan_dropped_by_comparison",
       .pass = kForward,
       .text = {{}, {{kHinge, "excess > C(0) ? excess : C(0)"}}},
       .reason = "the formula gives NaN here",
       .scenario = "zero_row"},
  };
}

// Each kernel alone would do; together they do not.
std::vector<WrongKernel> pairs() {
  const std::string differ = "differ from differences of its own forward";
  return {
      {.name = "forward_with_half_of_cos",
       .pass = kForward,
       .text = {{}, {{"C(1) - cosine : hinge", "C(1) - C(0.5) * cosine : hinge"}}},
       .check = "self_consistency",
       .reason = differ,
       .scenario = "gaussian",
       .f64_build = true,
       .checked = Pass::backward,
       .blind = {"reference", "guards", "repeatability"}},
      {.name = "forward_with_squared_hinge",
       .pass = kForward,
       .text = {{}, {{kHinge, "excess <= C(0) ? C(0) : excess * excess"}}},
       .check = "self_consistency",
       .reason = differ,
       .scenario = "gaussian",
       .f64_build = true,
       .checked = Pass::backward,
       .blind = {"reference", "guards", "repeatability"}},
      {.name = "backward_unlike_its_forward",
       .text = {{},
                {{"const C along1 = cosine * factors.k1",
                  "const C along1 = C(0.999) * cosine * factors.k1"}}},
       .check = "self_consistency",
       .reason = differ,
       .scenario = "gaussian",
       .f64_build = true},
  };
}

}  // namespace

std::vector<WrongKernel> wrong_value_kernels() {
  std::vector<WrongKernel> all;
  for (const auto& part : {cosines(), hinges(), pairs()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lossgrad::mutants
