// SPDX-License-Identifier: Apache-2.0
// Wrong values, and forward kernels that do not fit their backward.
// NOLINTBEGIN(readability-function-size): tables
#include "losses/cosine/cosine_faults.hpp"

namespace lossgrad {
namespace {

constexpr Pass kForward = Pass::forward;
const std::string kReciprocals = "const C r1 = one / norm1, r2 = one / norm2;\n  return {r1, r2, r1, r2};";
const std::string kExcess = "const C excess = cosine - C(margin);";
const std::string kHinge = "excess <= C(0) ? C(0) : excess";
const std::string kSame = "load_value(y + row) > C(0) ? C(1) - cosine : hinge";

// Reciprocals of the norms as these two expressions have them.
std::vector<SourceEdit> reciprocals(const std::string& r1, const std::string& r2) {
  return {{kReciprocals, "const C r1 = " + r1 + ", r2 = " + r2 + ";\n  return {r1, r2, r1, r2};"}};
}

std::vector<Fault> cosines() {
  return {
      {.name = "norm_squared_for_norm",
       .family = FaultFamily::factor,
       .summary = "|x2|^2 stood for |x2|",
       .pass = kForward,
       .edits = reciprocals("one / norm1", "one / sums.x22")},
      {.name = "norm_not_inverted",
       .family = FaultFamily::factor,
       .summary = "the dot product were multiplied by |x1|",
       .pass = kForward,
       .edits = reciprocals("norm1", "one / norm2")},
      {.name = "one_norm_left_out",
       .family = FaultFamily::factor,
       .summary = "the dot product were not divided by |x2|",
       .pass = kForward,
       .edits = reciprocals("one / norm1", "one")},
      {.name = "norm_of_the_other_row",
       .family = FaultFamily::swapped_argument,
       .summary = "|x2| stood for |x1|",
       .pass = kForward,
       .edits = reciprocals("one / norm2", "one / norm2")},
      {.name = "norm_by_magnitudes",
       .family = FaultFamily::factor,
       .summary = "|x1| were the root of the sum of magnitudes",  // the sum of |x|
       .pass = kForward,
       .edits = {{"sums.x11 += x1[e] * x1[e];", "sums.x11 += absolute(x1[e]);"}}},
      {.name = "small_cosine_as_zero",
       .family = FaultFamily::branch,
       .summary = "a cosine below 1e-4 were 0",
       .pass = kForward,
       .edits = {{"const C cosine = sums.x12 * factors.r1 * factors.r2;",
                  "const C product = sums.x12 * factors.r1 * factors.r2;\n"
                  "  const C cosine = absolute(product) < C(1e-4) ? C(0) : product;",
                  2}},
       .dtypes = kWideDtypes,
       .elsewhere = kBelow16Bits,
       .scenario = "orthogonal"},
      {.name = "nearly_unit_row_not_normalised",
       .family = FaultFamily::branch,
       .summary = "an x1 whose squared length is 1 within 1e-4 were not normalised",
       .pass = kForward,
       .edits = reciprocals("absolute(sums.x11 - one) < C(1e-4) ? one : one / norm1", "one / norm2"),
       .dtypes = kWideDtypes,
       .elsewhere = kBelow16Bits,
       .scenario = "unit"},
      {.name = "root_in_f32",
       .family = FaultFamily::low_precision,
       .summary = "|x1| were a float",
       .pass = kForward,
       .edits = reciprocals("one / sqrtf(float(sums.x11))", "one / norm2"),
       .dtypes = {Dtype::f64},
       .elsewhere = "the others compute in f32"},
      {.name = "root_by_newton_once",
       .family = FaultFamily::low_precision,
       .summary = "the reciprocal root were one Newton step from a bit trick",  // errs by 0.2 %
       .pass = kForward,
       .edits = {{kReciprocals,
                  "const auto inverse_root = [](float x) {\n"
                  "    float r = __int_as_float(0x5f3759df - (__float_as_int(x) >> 1));\n"
                  "    return r * (1.5f - 0.5f * x * r * r);\n"
                  "  };\n"
                  "  const C r1 = inverse_root(sums.x11), r2 = inverse_root(sums.x22);\n"
                  "  return {r1, r2, r1, r2};"}}},
  };
}

std::vector<Fault> hinges() {
  return {
      {.name = "hinge_opens_late",
       .family = FaultFamily::branch,
       .summary = "the hinge opened 1e-4 beyond the margin",
       .pass = kForward,
       .edits = {{kHinge, "excess <= C(1e-4) ? C(0) : excess"}},
       .scenario = "about_margin"},
      {.name = "sign_of_cos",
       .family = FaultFamily::sign,
       .summary = "cos had the other sign where y = 1",
       .pass = kForward,
       .edits = {{"C(1) - cosine : hinge", "C(1) + cosine : hinge"}}},
      {.name = "margin_ignored",
       .family = FaultFamily::branch,
       .summary = "the margin were 0",
       .pass = kForward,
       .edits = {{kExcess, "const C excess = cosine;"}},
       .parameters = {{"margin", 0.5}}},
      {.name = "margin_added",
       .family = FaultFamily::sign,
       .summary = "the margin had the other sign",
       .pass = kForward,
       .edits = {{kExcess, "const C excess = cosine + C(margin);"}},
       .parameters = {{"margin", -0.3}}},
      {.name = "margin_of_both_labels",
       .family = FaultFamily::branch,
       .summary = "the margin applied to y = 1 as well",
       .pass = kForward,
       .edits = {{"C(1) - cosine : hinge", "C(1) - C(margin) - cosine : hinge"}},
       .parameters = {{"margin", 0.5}}},
      {.name = "margin_as_an_integer",
       .family = FaultFamily::low_precision,
       .summary = "the margin were an integer",
       .pass = kForward,
       .edits = {{kExcess, "const C excess = cosine - C(int(margin));"}},
       .parameters = {{"margin", 0.5}}},
      {.name = "margin_in_f16",
       .family = FaultFamily::low_precision,
       .summary = "the margin were held in f16",
       .pass = kForward,
       .edits = {{"enum class CosineConvention", "#include <cuda_fp16.h>\nenum class CosineConvention"},
                 {kExcess, "const C excess = cosine - C(__half2float(__float2half_rn(margin)));"}},
       .parameters = {{"margin", -0.3}}},
      {.name = "hinge_on_the_wrong_side",
       .family = FaultFamily::branch,
       .summary = "the hinge kept what lies below the margin",
       .pass = kForward,
       .edits = {{kHinge, "excess >= C(0) ? C(0) : excess"}}},
      {.name = "hinge_left_out",
       .family = FaultFamily::branch,
       .summary = "the hinge were left out",
       .pass = kForward,
       .edits = {{kHinge, "excess"}}},
      {.name = "hinge_by_magnitude",
       .family = FaultFamily::branch,
       .summary = "the hinge were |cos - margin| + 1e-4",
       .pass = kForward,
       .edits = {{kHinge, "absolute(excess) + C(1e-4)"}},
       .scenario = "near_margin",
       .parameters = {{"margin", 0.5}}},
      {.name = "labels_tested_as_nonzero",
       .family = FaultFamily::branch,
       .summary = "labels were tested as y != 0",
       .pass = kForward,
       .edits = {{kSame, "load_value(y + row) != C(0) ? C(1) - cosine : hinge"}}},
      {.name = "labels_ignored",
       .family = FaultFamily::branch,
       .summary = "every label were -1",
       .pass = kForward,
       .edits = {{kSame, "hinge"}}},
      {.name = "labels_swapped",
       .family = FaultFamily::branch,
       .summary = "labels were taken the other way round",
       .pass = kForward,
       .edits = {{kSame, "load_value(y + row) < C(0) ? C(1) - cosine : hinge"}}},
      {.name = "label_of_the_first_row",
       .family = FaultFamily::swapped_argument,
       .summary = "every row used the first row's label",
       .pass = kForward,
       .edits = {{kSame, "load_value(y) > C(0) ? C(1) - cosine : hinge"}}},
      {.name = "nan_dropped_by_fmax",
       .family = FaultFamily::swallowed_nan,
       .summary = "fmax dropped a NaN in the hinge",
       .pass = kForward,
       .edits = {{kHinge, "fmax(excess, C(0))"}},
       .reason = "a NaN input was swallowed",
       .scenario = "non_finite"},
      {.name = "nan_dropped_by_comparison",
       .family = FaultFamily::swallowed_nan,
       .summary = "a comparison dropped a NaN in the hinge",
       .pass = kForward,
       .edits = {{kHinge, "excess > C(0) ? excess : C(0)"}},
       .reason = "the formula gives NaN here",
       .scenario = "zero_row"},
  };
}

// Each kernel alone would do; together they do not.
std::vector<Fault> pairs() {
  const std::string differ = "differ from differences of its own forward";
  return {
      {.name = "forward_with_half_of_cos",
       .family = FaultFamily::inconsistent,
       .summary = "forward halved cos and backward did not",
       .pass = kForward,
       .edits = {{"C(1) - cosine : hinge", "C(1) - C(0.5) * cosine : hinge"}},
       .check = "self_consistency",
       .reason = differ,
       .scenario = "gaussian",
       .f64_build = true,
       .checked = Pass::backward,
       .blind = {"reference", "guards", "repeatability"}},
      {.name = "forward_with_squared_hinge",
       .family = FaultFamily::inconsistent,
       .summary = "forward squared the hinge and backward did not",
       .pass = kForward,
       .edits = {{kHinge, "excess <= C(0) ? C(0) : excess * excess"}},
       .check = "self_consistency",
       .reason = differ,
       .scenario = "gaussian",
       .f64_build = true,
       .checked = Pass::backward,
       .blind = {"reference", "guards", "repeatability"}},
      {.name = "backward_unlike_its_forward",
       .family = FaultFamily::inconsistent,
       .summary = "backward scaled the projection by 0.999 and forward did not",
       .edits = {{"const C along1 = cosine * factors.k1", "const C along1 = C(0.999) * cosine * factors.k1"}},
       .check = "self_consistency",
       .reason = differ,
       .scenario = "gaussian",
       .f64_build = true},
  };
}

}  // namespace

std::vector<Fault> cosine_value_faults() {
  std::vector<Fault> all;
  for (const auto& part : {cosines(), hinges(), pairs()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lossgrad
// NOLINTEND(readability-function-size)
