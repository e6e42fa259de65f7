// SPDX-License-Identifier: Apache-2.0
// Wrong gradients.
// NOLINTBEGIN(readability-function-size): tables
#include "losses/cosine/cosine_faults.hpp"

namespace lossgrad {
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

std::vector<Fault> projections() {
  return {
      {.name = "cos_missing_in_projection",
       .family = FaultFamily::dropped_term,
       .summary = "the projection were not scaled by cos",
       .edits = {{kAlong, "const C along1 = factors.k1, along2 = factors.k2;"}}},
      {.name = "cos_of_the_other_sign",
       .family = FaultFamily::sign,
       .summary = "the projection had the other sign",
       .edits = {{kAlong, "const C along1 = -cosine * factors.k1, along2 = -cosine * factors.k2;"}}},
      {.name = "projection_dropped",
       .family = FaultFamily::dropped_term,
       .summary = "the norms' slope (the projection on the own row) were missing",
       .edits = {{kAlong, "const C along1 = C(0), along2 = C(0);"}}},
      {.name = "projection_dropped_in_one",
       .family = FaultFamily::dropped_term,
       .summary = "the norm's slope were missing in dx2",
       .edits = {{kAlong, "const C along1 = cosine * factors.k1, along2 = C(0);"}},
       .outputs = kOnlySecond},
      {.name = "projection_off_by_a_ten_thousandth",
       .family = FaultFamily::constant,
       .summary = "the projection in dx1 were 1.0001 times as large",
       .edits = {{kAlong, "const C along1 = C(1.0001) * cosine * factors.k1, along2 = cosine * factors.k2;"}},
       .outputs = kOnlyFirst},
      {.name = "projection_by_the_other_norm",
       .family = FaultFamily::swapped_argument,
       .summary = "the projection in dx1 were divided by the other row's norm",
       .edits = {{kAlong, "const C along1 = cosine * factors.k2, along2 = cosine * factors.k2;"}},
       .outputs = kOnlyFirst},
      {.name = "cos_clamped_with_its_gradient",
       .family = FaultFamily::branch,
       .summary = "cos were clamped to [-1, 1] together with its gradient",
       .edits = {{kActive, "const bool active = (same || cosine > C(margin)) && absolute(cosine) < C(1);"}},
       .scenario = "near_parallel"},
  };
}

std::vector<Fault> norms() {
  return {
      {.name = "gradient_norm_squared_for_norm",
       .family = FaultFamily::factor,
       .summary = "|x1|^2 stood for |x1|",
       .edits = {{kReciprocals,
                  "const C r1 = one / sums.x11, r2 = one / norm2;\n  return {r1, r2, r1, r2};"}}},
      {.name = "gradient_norm_not_inverted_in_one_factor",
       .family = FaultFamily::factor,
       .summary = "x2 were multiplied by its norm instead of divided, in dx1",
       .edits = {{kFirst, "scale1 * (tile.x2[e] / factors.r2 - tile.x1[e] * along1)"}},
       .outputs = kOnlyFirst},
      {.name = "gradient_r1_of_the_other_row",
       .family = FaultFamily::swapped_argument,
       .summary = "|x2| stood for |x1|",
       .edits = {{kReciprocals, "const C r1 = one / norm2, r2 = one / norm2;\n  return {r1, r2, r1, r2};"}}},
      {.name = "outer_norm_left_out",
       .family = FaultFamily::factor,
       .summary = "dx1 were not divided by |x1|",
       .edits = {{kScales, "const C scale1 = coefficient, scale2 = coefficient * factors.r2;"}},
       .outputs = kOnlyFirst},
      {.name = "outer_norms_left_out",
       .family = FaultFamily::factor,
       .summary = "neither gradient were divided by its row's norm",
       .edits = {{kScales, "const C scale1 = coefficient, scale2 = coefficient;"}}},
      {.name = "outer_norm_of_the_other_row",
       .family = FaultFamily::swapped_argument,
       .summary = "dx2 were divided by |x1| instead of |x2|",
       .edits = {{kScales, "const C scale1 = coefficient * factors.r1, scale2 = coefficient * factors.r1;"}},
       .outputs = kOnlySecond},
      {.name = "outer_norms_of_the_other_row",
       .family = FaultFamily::swapped_argument,
       .summary = "each gradient were divided by the other row's norm",
       .edits = {{kScales, "const C scale1 = coefficient * factors.r2, scale2 = coefficient * factors.r1;"}}},
      {.name = "inner_norm_of_the_own_row",
       .family = FaultFamily::swapped_argument,
       .summary = "x2 were divided by |x1| in dx1",
       .edits = {{kFirst, "scale1 * (tile.x2[e] * factors.r1 - tile.x1[e] * along1)"}},
       .outputs = kOnlyFirst},
      {.name = "small_cosine_as_zero_in_gradient",
       .family = FaultFamily::branch,
       .summary = "a cosine below 1e-4 were 0",
       .edits = {{"const C cosine = sums.x12 * factors.r1 * factors.r2;",
                  "const C product = sums.x12 * factors.r1 * factors.r2;\n"
                  "  const C cosine = absolute(product) < C(1e-4) ? C(0) : product;",
                  2}},
       .scenario = "orthogonal"},
      {.name = "nearly_unit_row_not_normalised",
       .family = FaultFamily::branch,
       .summary = "an x1 whose squared length is 1 within 1e-4 were not normalised",
       .edits = {{kReciprocals,
                  "const C r1 = absolute(sums.x11 - one) < C(1e-4) ? one : one / norm1, r2 = one / norm2;\n"
                  "  return {r1, r2, r1, r2};"}},
       .scenario = "unit"},
      {.name = "gradient_norm_in_f32",
       .family = FaultFamily::low_precision,
       .summary = "|x1| were a float",
       .edits = {{kReciprocals,
                  "const C r1 = 1.0f / sqrtf(float(sums.x11)), r2 = one / norm2;\n"
                  "  return {r1, r2, r1, r2};"}},
       .dtypes = {Dtype::f64},
       .elsewhere = "the others compute in f32"},
  };
}

std::vector<Fault> rows_and_roles() {
  return {
      {.name = "gradients_swapped",
       .family = FaultFamily::swapped_argument,
       .summary = "dx1 and dx2 were swapped",
       .edits = {{kStoreFirst, "store_value(d_row1 + column, active ? d2 : C(0));"},
                 {kStoreSecond, "store_value(d_row2 + column, active ? d1 : C(0));"}}},
      {.name = "rows_swapped_in_one_gradient",
       .family = FaultFamily::swapped_argument,
       .summary = "x1 and x2 were swapped in dx2",
       .edits = {{kSecond, "scale2 * (tile.x2[e] * factors.r1 - tile.x1[e] * along2)"}},
       .outputs = kOnlySecond},
      {.name = "one_gradient_for_both",
       .family = FaultFamily::swapped_argument,
       .summary = "dx2 held dx1 as well",
       .edits = {{kStoreSecond, "store_value(d_row2 + column, active ? d1 : C(0));"}},
       .outputs = kOnlySecond},
      {.name = "second_gradient_negated",
       .family = FaultFamily::sign,
       .summary = "dx2 had the other sign",
       .edits = {{kStoreSecond, "store_value(d_row2 + column, active ? -d2 : C(0));"}},
       .outputs = kOnlySecond},
      {.name = "second_gradient_left_zero",
       .family = FaultFamily::dropped_term,
       .summary = "dx2 were zero",
       .edits = {{kStoreSecond, "store_value(d_row2 + column, C(0));"}},
       .outputs = kOnlySecond},
      {.name = "sign_of_coefficient",
       .family = FaultFamily::sign,
       .summary = "the gradient had the other sign",
       .edits = {{kCoefficient, "same ? upstream : -upstream"}}},
      {.name = "sign_of_coefficient_where_same",
       .family = FaultFamily::sign,
       .summary = "the gradient had the other sign where y = 1",
       .edits = {{kCoefficient, "upstream"}}},
      {.name = "upstream_dropped",
       .family = FaultFamily::upstream,
       .summary = "dy were 1",
       .edits = {{kUpstream, "const C upstream = C(1);"}}},
      {.name = "first_upstream_for_all",
       .family = FaultFamily::upstream,
       .summary = "every row used the first row's dy",
       .edits = {{kUpstream, "const C upstream = load_value(dy);"}}},
      {.name = "upstream_of_the_block",
       .family = FaultFamily::upstream,
       .summary = "every row used the dy at its block's number",
       .edits = {{kUpstream, "const C upstream = load_value(dy + blockIdx.x);"}}},
      {.name = "upstream_squared",
       .family = FaultFamily::upstream,
       .summary = "dy were squared",
       .edits = {{kUpstream, "const C upstream = load_value(dy + row) * load_value(dy + row);"}}},
      {.name = "gradient_doubled",
       .family = FaultFamily::factor,
       .summary = "the gradient were taken twice",
       .edits = {{kUpstream, "const C upstream = C(2) * load_value(dy + row);"}}},
      {.name = "gradient_halved",
       .family = FaultFamily::factor,
       .summary = "the gradient were halved",
       .edits = {{kUpstream, "const C upstream = C(0.5) * load_value(dy + row);"}}},
      {.name = "mean_over_rows",
       .family = FaultFamily::factor,
       .summary = "the gradient were that of the mean over the rows",
       .edits = {{kUpstream, "const C upstream = load_value(dy + row) / C(n_rows);"}}},
  };
}

std::vector<Fault> upstreams_and_precision() {
  return {
      {.name = "small_upstream_dropped",
       .family = FaultFamily::upstream,
       .summary = "dy of magnitudes below 0.1 were zero",
       .edits =
           {{kUpstream,
             "C upstream = load_value(dy + row);\n  if (absolute(upstream) < C(0.1)) upstream = C(0);"}}},
      {.name = "tiny_upstream_dropped",
       .family = FaultFamily::upstream,
       .summary = "dy of magnitudes below 1e-6 were zero",
       .edits =
           {{kUpstream,
             "C upstream = load_value(dy + row);\n  if (absolute(upstream) < C(1e-6)) upstream = C(0);"}},
       .dtypes = {Dtype::f32, Dtype::f64, Dtype::bf16},
       .elsewhere = "its gradients are too small for f16"},
      {.name = "large_upstream_clipped",
       .family = FaultFamily::upstream,
       .summary = "finite dy above 10 were 10",
       .edits = {{kUpstream,
                  "C upstream = load_value(dy + row);\n"
                  "  if (upstream > C(10) && upstream < C(1e30)) upstream = C(10);"}}},
      {.name = "gradient_cut_to_16_bits",
       .family = FaultFamily::low_precision,
       .summary = "dx1 were cut to the upper 16 bits of a float",
       .edits = {{kStoreFirst,
                  "store_value(d_row1 + column, active ? C(__uint_as_float(__float_as_uint(float(d1)) & "
                  "0xffff0000u)) : C(0));"}},
       .outputs = kOnlyFirst},
      {.name = "active_late",
       .family = FaultFamily::branch,
       .summary = "rows had to pass the margin by 1e-4",
       .edits = {{kActive, "const bool active = same || cosine > C(margin) + C(1e-4);"}},
       .scenario = "about_margin"},
      {.name = "margin_in_storage_type",
       .family = FaultFamily::low_precision,
       .summary = "the margin were rounded to the storage type",
       .edits = {{kActive,
                  "D stored[1];\n  store_value(stored, C(margin));\n"
                  "  const bool active = same || cosine > load_value(stored);"}},
       .dtypes = {Dtype::f16, Dtype::bf16},
       .elsewhere = "the margin is an f32",
       .scenario = "about_margin"},
      {.name = "margin_compared_in_f32",
       .family = FaultFamily::low_precision,
       .summary = "cos were compared with the margin as a float",
       .edits = {{kActive, "const bool active = same || float(cosine) > margin;"}},
       .dtypes = {Dtype::f64},
       .elsewhere = "the others compute in f32",
       .scenario = "about_margin"},
  };
}

std::vector<Fault> branches() {
  return {
      {.name = "gradient_hinge_on_the_wrong_side",
       .family = FaultFamily::branch,
       .summary = "rows with cos below the margin were the active ones",
       .edits = {{kActive, "const bool active = same || cosine < C(margin);"}}},
      {.name = "gradient_margin_ignored",
       .family = FaultFamily::branch,
       .summary = "the margin were 0",
       .edits = {{kActive, "const bool active = same || cosine > C(0);"}},
       .parameters = {{"margin", 0.5}}},
      {.name = "gradient_margin_added",
       .family = FaultFamily::branch,
       .summary = "the margin had the other sign",
       .edits = {{kActive, "const bool active = same || cosine > -C(margin);"}},
       .parameters = {{"margin", -0.3}}},
      {.name = "inactive_rows_written_as_active",
       .family = FaultFamily::branch,
       .summary = "every row were active",
       .edits = {{kActive, "const bool active = true;"}}},
      {.name = "inactive_rows_of_a_large_margin",
       .family = FaultFamily::branch,
       .summary = "a margin below -1 were taken as 1",  // -1.5: no row is inactive
       .edits = {{kActive, "const bool active = same || cosine > C(margin < -1 ? 1 : margin);"}},
       .scenario = "gaussian",
       .parameters = {{"margin", -1.5}}},
      {.name = "hinge_of_both_labels",
       .family = FaultFamily::branch,
       .summary = "the margin applied to y = 1 as well",
       .edits = {{kActive, "const bool active = cosine > C(margin);"}}},
      {.name = "gradient_labels_tested_as_nonzero",
       .family = FaultFamily::branch,
       .summary = "labels were tested as y != 0",
       .edits = {{kSame, "const bool same = load_value(y + row) != C(0);"}}},
      {.name = "gradient_labels_ignored",
       .family = FaultFamily::branch,
       .summary = "every label were -1",
       .edits = {{kSame, "const bool same = false;"}}},
      {.name = "gradient_label_of_the_next_row",
       .family = FaultFamily::swapped_argument,
       .summary = "each row used the next row's label",
       .edits = {{kSame, "const bool same = load_value(y + (row + 1) % n_rows) > C(0);"}}},
      {.name = "inactive_rows_not_written",
       .family = FaultFamily::element_lost,
       .summary = "inactive rows were not written",
       .edits = {{kStoreFirst, "if (active) store_value(d_row1 + column, d1);"}},
       .check = "guards",
       .reason = "is not written"},
      {.name = "zero_gradient_not_written",
       .family = FaultFamily::element_lost,
       .summary = "zeros were not written",
       .edits = {{kStoreSecond, "if (!(d2 == C(0))) store_value(d_row2 + column, active ? d2 : C(0));"}},
       .check = "guards",
       .reason = "is not written",
       .scenario = "gaussian"},
      {.name = "nan_gradient_zeroed",
       .family = FaultFamily::swallowed_nan,
       .summary = "NaN gradients were replaced by 0",
       .edits = {{kStoreFirst, "store_value(d_row1 + column, active && d1 == d1 ? d1 : C(0));"}},
       .reason = kSwallowed,
       .outputs = kOnlyFirst,
       .scenario = "non_finite"},
      {.name = "upstream_clipped",
       .family = FaultFamily::swallowed_nan,
       .summary = "dy were clipped, which drops a NaN and infinities",
       .edits = {{kUpstream, "const C upstream = fmax(C(-20000), fmin(C(20000), C(load_value(dy + row))));"}},
       .scenario = "non_finite"},
      {.name = "zero_rows_given_no_gradient",
       .family = FaultFamily::branch,
       .summary = "zero rows had no gradient",
       .edits = {{kActive, "const bool active = (same || cosine > C(margin)) && sums.x11 > C(0);"}},
       .reason = "the formula gives NaN here",
       .scenario = "zero_row"},
  };
}

}  // namespace

std::vector<Fault> cosine_gradient_faults() {
  std::vector<Fault> all;
  for (const auto& part : {projections(), norms(), rows_and_roles(), upstreams_and_precision(), branches()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lossgrad
// NOLINTEND(readability-function-size)
