// SPDX-License-Identifier: Apache-2.0
// Wrong gradients.
#include "mutants/cosine/cosine_wrong_kernels.hpp"

namespace lossgrad::mutants {
namespace {

const std::string kReciprocals = "const C r1 = one / norm1, r2 = one / norm2;\n  return {r1, r2, r1, r2};";
const std::string kAlong = "const C along1 = cosine * factors.k1, along2 = cosine * factors.k2;";
const std::string kScales = "const C scale1 = coefficient * factors.r1, scale2 = coefficient * factors.r2;";
const std::string kSame = "const bool same = load_value(y + row) > C(0);";
const std::string kActive = "const bool active = same || cosine > C(margin);";
const std::string kUpstream = "const C upstream = load_value(dy + row);";
const std::string kCoefficient = "same ? -upstream : upstream";
const std::string kFirst = "scale1 * (tile.x2[e] * factors.r2 - tile.x1[e] * along1)";
const std::string kSecond = "scale2 * (tile.x1[e] * factors.r1 - tile.x2[e] * along2)";
const std::string kStoreFirst = "store_value(d_row1 + column, active ? d1 : C(0));";
const std::string kStoreSecond = "store_value(d_row2 + column, active ? d2 : C(0));";
const std::vector<std::string> kOnlyFirst = {"dx1"};
const std::vector<std::string> kOnlySecond = {"dx2"};
const std::string kSwallowed = "a NaN input was swallowed";

std::vector<WrongKernel> projections() {
  return {
      {.name = "cos_missing_in_projection",
       .text = {{}, {{kAlong, "const C along1 = factors.k1, along2 = factors.k2;"}}},
       .dtypes = kEveryDtype},
      {.name = "cos_of_the_other_sign",
       .text = {{}, {{kAlong, "const C along1 = -cosine * factors.k1, along2 = -cosine * factors.k2;"}}}},
      {.name = "projection_dropped", .text = {{}, {{kAlong, "const C along1 = C(0), along2 = C(0);"}}}},
      {.name = "projection_dropped_in_one",
       .text = {{}, {{kAlong, "const C along1 = cosine * factors.k1, along2 = C(0);"}}},
       .outputs = kOnlySecond},
      {.name = "projection_off_by_a_ten_thousandth",  // below the rounding of 16-bit storage
       .text = {{},
                {{kAlong,
                  "const C along1 = C(1.0001) * cosine * factors.k1, along2 = cosine * factors.k2;"}}},
       .outputs = kOnlyFirst,
       .dtypes = kWideDtypes},
      {.name = "projection_by_the_other_norm",
       .text = {{}, {{kAlong, "const C along1 = cosine * factors.k2, along2 = cosine * factors.k2;"}}},
       .outputs = kOnlyFirst},
      {.name = "cos_clamped_with_its_gradient",
       .text = {{},
                {{kActive, "const bool active = (same || cosine > C(margin)) && absolute(cosine) < C(1);"}}},
       .dtypes = kWideDtypes,
       .scenario = "near_parallel"},
  };
}

std::vector<WrongKernel> norms() {
  return {
      {.name = "gradient_norm_squared_for_norm",
       .text = {{},
                {{kReciprocals,
                  "const C r1 = one / sums.x11, r2 = one / norm2;\n  return {r1, r2, r1, r2};"}}}},
      {.name = "gradient_norm_not_inverted_in_one_factor",
       .text = {{}, {{kFirst, "scale1 * (tile.x2[e] / factors.r2 - tile.x1[e] * along1)"}}},
       .outputs = kOnlyFirst},
      {.name = "gradient_r1_of_the_other_row",
       .text = {{},
                {{kReciprocals, "const C r1 = one / norm2, r2 = one / norm2;\n  return {r1, r2, r1, r2};"}}}},
      {.name = "outer_norm_left_out",
       .text = {{}, {{kScales, "const C scale1 = coefficient, scale2 = coefficient * factors.r2;"}}},
       .outputs = kOnlyFirst},
      {.name = "outer_norm_of_the_other_row",
       .text = {{},
                {{kScales, "const C scale1 = coefficient * factors.r1, scale2 = coefficient * factors.r1;"}}},
       .outputs = kOnlySecond},
      {.name = "inner_norm_of_the_own_row",
       .text = {{}, {{kFirst, "scale1 * (tile.x2[e] * factors.r1 - tile.x1[e] * along1)"}}},
       .outputs = kOnlyFirst},
      {.name = "gradient_norm_in_f32",
       .text = {{},
                {{kReciprocals,
                  "const C r1 = 1.0f / sqrtf(float(sums.x11)), r2 = one / norm2;\n"
                  "  return {r1, r2, r1, r2};"}}},
       .dtypes = {Dtype::f64}},
  };
}

std::vector<WrongKernel> rows_and_roles() {
  return {
      {.name = "gradients_swapped",
       .text = {{},
                {{kStoreFirst, "store_value(d_row1 + column, active ? d2 : C(0));"},
                 {kStoreSecond, "store_value(d_row2 + column, active ? d1 : C(0));"}}},
       .dtypes = kEveryDtype},
      {.name = "rows_swapped_in_one_gradient",
       .text = {{}, {{kSecond, "scale2 * (tile.x2[e] * factors.r1 - tile.x1[e] * along2)"}}},
       .outputs = kOnlySecond},
      {.name = "one_gradient_for_both",
       .text = {{}, {{kStoreSecond, "store_value(d_row2 + column, active ? d1 : C(0));"}}},
       .outputs = kOnlySecond},
      {.name = "second_gradient_negated",
       .text = {{}, {{kStoreSecond, "store_value(d_row2 + column, active ? -d2 : C(0));"}}},
       .outputs = kOnlySecond},
      {.name = "second_gradient_left_zero",
       .text = {{}, {{kStoreSecond, "store_value(d_row2 + column, C(0));"}}},
       .outputs = kOnlySecond},
      {.name = "sign_of_coefficient", .text = {{}, {{kCoefficient, "same ? upstream : -upstream"}}}},
      {.name = "sign_of_coefficient_where_same", .text = {{}, {{kCoefficient, "upstream"}}}},
      {.name = "upstream_dropped", .text = {{}, {{kUpstream, "const C upstream = C(1);"}}}},
      {.name = "first_upstream_for_all", .text = {{}, {{kUpstream, "const C upstream = load_value(dy);"}}}},
      {.name = "upstream_of_the_block",
       .text = {{}, {{kUpstream, "const C upstream = load_value(dy + blockIdx.x);"}}}},
      {.name = "upstream_squared",
       .text = {{}, {{kUpstream, "const C upstream = load_value(dy + row) * load_value(dy + row);"}}}},
      {.name = "gradient_doubled",
       .text = {{}, {{kUpstream, "const C upstream = C(2) * load_value(dy + row);"}}}},
      {.name = "gradient_halved",
       .text = {{}, {{kUpstream, "const C upstream = C(0.5) * load_value(dy + row);"}}},
       .dtypes = kEveryDtype},
      {.name = "mean_over_rows",
       .text = {{}, {{kUpstream, "const C upstream = load_value(dy + row) / C(n_rows);"}}}},
  };
}

std::vector<WrongKernel> branches() {
  return {
      {.name = "gradient_hinge_on_the_wrong_side",
       .text = {{}, {{kActive, "const bool active = same || cosine < C(margin);"}}}},
      {.name = "gradient_margin_ignored",
       .text = {{}, {{kActive, "const bool active = same || cosine > C(0);"}}},
       .parameters = {{"margin", 0.5}}},
      {.name = "gradient_margin_added",
       .text = {{}, {{kActive, "const bool active = same || cosine > -C(margin);"}}},
       .parameters = {{"margin", -0.3}}},
      {.name = "inactive_rows_written_as_active",
       .text = {{}, {{kActive, "const bool active = true;"}}},
       .dtypes = kEveryDtype},
      {.name = "inactive_rows_of_a_large_margin",  // -1.5: no row is inactive
       .text = {{}, {{kActive, "const bool active = same || cosine > C(margin < -1 ? 1 : margin);"}}},
       .scenario = "gaussian",
       .parameters = {{"margin", -1.5}}},
      {.name = "hinge_of_both_labels", .text = {{}, {{kActive, "const bool active = cosine > C(margin);"}}}},
      {.name = "gradient_labels_tested_as_nonzero",
       .text = {{}, {{kSame, "const bool same = load_value(y + row) != C(0);"}}}},
      {.name = "gradient_labels_ignored", .text = {{}, {{kSame, "const bool same = false;"}}}},
      {.name = "gradient_label_of_the_next_row",
       .text = {{}, {{kSame, "const bool same = load_value(y + (row + 1) % n_rows) > C(0);"}}}},
      {.name = "inactive_rows_not_written",
       .text = {{}, {{kStoreFirst, "if (active) store_value(d_row1 + column, d1);"}}},
       .check = "guards",
       .reason = "is not written",
       .dtypes = kEveryDtype},
      {.name = "zero_gradient_not_written",
       .text = {{}, {{kStoreSecond, "if (!(d2 == C(0))) store_value(d_row2 + column, active ? d2 : C(0));"}}},
       .check = "guards",
       .reason = "is not written",
       .scenario = "gaussian"},
      {.name = "nan_gradient_zeroed",
       .text = {{}, {{kStoreFirst, "store_value(d_row1 + column, active && d1 == d1 ? d1 : C(0));"}}},
       .reason = kSwallowed,
       .outputs = kOnlyFirst,
       .dtypes = kEveryDtype,
       .scenario = "gaussian",
       .nan_inputs = true},
      {.name = "upstream_clipped",
       .text = {{},
                {{kUpstream, "const C upstream = fmax(C(-1000), fmin(C(1000), C(load_value(dy + row))));"}}},
       .reason = kSwallowed,
       .scenario = "gaussian",
       .nan_inputs = true},
      {.name = "zero_rows_given_no_gradient",
       .text = {{}, {{kActive, "const bool active = (same || cosine > C(margin)) && sums.x11 > C(0);"}}},
       .reason = "the formula gives NaN here",
       .scenario = "zero_row"},
  };
}

}  // namespace

std::vector<WrongKernel> wrong_gradient_kernels() {
  std::vector<WrongKernel> all;
  for (const auto& part : {projections(), norms(), rows_and_roles(), branches()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lossgrad::mutants
