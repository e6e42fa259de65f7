// SPDX-License-Identifier: Apache-2.0
// Right for rows that are finite, as all of the case are: wrong in what becomes of a NaN or an infinity.
// NOLINTBEGIN(readability-function-size): tables
#include "losses/cosine/cosine_faults.hpp"

namespace lossgrad {
namespace {

constexpr Pass kForward = Pass::forward;
const std::string kCheck = "propagation";
const std::string kUpstream = "const C upstream = load_value(dy + row);";
const std::string kSums = "sums = cosine_sum_of_row<THREADS, ROWS>(sums, row_in_block, lane);";
const std::vector<std::string> kBlind = {"reference", "guards", "repeatability"};

// One number for all rows of a block, added as its product with zero.
std::vector<SourceEdit> shared_by_the_block() {
  return {{kSums,
           kSums + "\n  __shared__ C of_block;\n"
                   "  if (threadIdx.x == 0) of_block = C(0);\n"
                   "  __syncthreads();\n"
                   "  if (lane == 0) atomicAdd(&of_block, sums.x11);\n"
                   "  __syncthreads();\n"
                   "  sums.x12 += C(0) * of_block;",
           2}};
}

// Passes a NaN.
std::vector<SourceEdit> infinite_elements_as_zero() {
  return {{"x1[e] = inside ? load_value(row1 + column) : C(0);",
           "x1[e] = inside ? load_value(row1 + column) : C(0);\n"
           "      if (x1[e] == x1[e] && x1[e] - x1[e] != C(0)) x1[e] = C(0);"}};
}

std::vector<Fault> swallowed() {
  return {
      {.name = "hinge_by_fmax",
       .family = FaultFamily::swallowed_nan,
       .summary = "fmax dropped a NaN in the hinge",
       .pass = kForward,
       .edits = {{"excess <= C(0) ? C(0) : excess", "fmax(excess, C(0))"}},
       .check = kCheck,
       .reason = " was swallowed: loss[0] is 0",
       .scenario = "gaussian",
       .blind = kBlind},
      {.name = "hinge_by_comparison",
       .family = FaultFamily::swallowed_nan,
       .summary = "a comparison dropped a NaN in the hinge",
       .pass = kForward,
       .edits = {{"excess <= C(0) ? C(0) : excess", "excess > C(0) ? excess : C(0)"}},
       .check = kCheck,
       .reason = " was swallowed: loss[0] is 0",
       .scenario = "gaussian",
       .blind = kBlind},
      {.name = "cos_clamped_by_fmin_and_fmax",
       .family = FaultFamily::swallowed_nan,
       .summary = "fmin and fmax dropped a NaN in cos",
       .pass = kForward,
       .edits = {{"const C excess = cosine - C(margin);",
                  "const C excess = fmax(C(-1), fmin(C(1), cosine)) - C(margin);"},
                 {"C(1) - cosine : hinge", "C(1) - fmax(C(-1), fmin(C(1), cosine)) : hinge"}},
       .check = kCheck,
       .reason = "a NaN in x1[0] of row 3 was swallowed: loss[0] is ",
       .scenario = "gaussian",
       .blind = kBlind},
      {.name = "nan_gradient_zeroed_unseen",
       .family = FaultFamily::swallowed_nan,
       .summary = "NaN gradients were replaced by 0",
       .edits = {{"store_value(d_row1 + column, active ? d1 : C(0));",
                  "store_value(d_row1 + column, active && d1 == d1 ? d1 : C(0));"}},
       .check = kCheck,
       .reason = " was swallowed: dx1[",
       .scenario = "gaussian",
       .blind = kBlind},
      {.name = "upstream_clipped_unseen",
       .family = FaultFamily::swallowed_nan,
       .summary = "dy were clipped, which drops a NaN",
       .edits = {{kUpstream, "const C upstream = fmax(C(-20000), fmin(C(20000), C(load_value(dy + row))));"}},
       .check = kCheck,
       .reason = "a NaN in dy[0] of row ",
       .scenario = "gaussian",
       .blind = kBlind},
      {.name = "infinite_upstream_clipped",
       .family = FaultFamily::swallowed_nan,
       .summary = "an infinite dy were clipped",
       .edits = {{kUpstream,
                  "const C given = load_value(dy + row);\n"
                  "  const C upstream = given > C(20000) ? C(20000) : given;"}},
       .check = kCheck,
       .reason = "an infinity in dy[0] of row ",
       .scenario = "gaussian",
       .blind = kBlind},
      {.name = "minus_infinite_upstream_clipped",
       .family = FaultFamily::swallowed_nan,
       .summary = "a dy of -infinity were clipped",
       .edits = {{kUpstream,
                  "const C given = load_value(dy + row);\n"
                  "  const C upstream = given < C(-20000) ? C(-20000) : given;"}},
       .check = kCheck,
       .reason = "-infinity in dy[0] of row ",
       .scenario = "gaussian",
       .blind = kBlind},
      {.name = "infinite_elements_as_zero",
       .family = FaultFamily::swallowed_nan,
       .summary = "infinite elements of x1 were taken as 0",
       .pass = kForward,
       .edits = infinite_elements_as_zero(),
       .check = kCheck,
       .reason = " was swallowed: loss[0] is ",
       .scenario = "gaussian",
       .blind = kBlind},
      {.name = "infinite_elements_as_zero_in_gradient",
       .family = FaultFamily::swallowed_nan,
       .summary = "infinite elements of x1 were taken as 0",
       .edits = infinite_elements_as_zero(),
       .check = kCheck,
       .reason = " was swallowed: dx",
       .scenario = "gaussian",
       .blind = kBlind},
      {.name = "nothing_written_for_nan",
       .family = FaultFamily::element_lost,
       .summary = "rows with a NaN in cos were not written",
       .edits = {{kUpstream, kUpstream + "\n  if (!(cosine == cosine)) return;"}},
       .check = kCheck,
       .reason = " is not written",
       .scenario = "gaussian",
       .blind = kBlind},
  };
}

std::vector<Fault> spilled() {
  return {
      {.name = "block_shares_a_number",
       .family = FaultFamily::spread_nan,
       .summary = "a NaN spoilt its whole block",
       .pass = kForward,
       .edits = shared_by_the_block(),
       .check = kCheck,
       .reason = "changed because of a NaN in another row (the nearest is in x1[0] of row 3)",
       .scenario = "gaussian",
       .blind = kBlind},
      {.name = "block_shares_a_number_in_gradient",
       .family = FaultFamily::spread_nan,
       .summary = "a NaN spoilt its whole block",
       .edits = shared_by_the_block(),
       .check = kCheck,
       .reason = "changed because of a NaN in another row (the nearest is in x1[",
       .scenario = "gaussian",
       .blind = kBlind},
      {.name = "upstream_of_the_next_row_times_zero",
       .family = FaultFamily::upstream,
       .summary = "the next row's dy were added with a factor of zero",
       .edits =
           {{kUpstream,
             "const C upstream = load_value(dy + row) + C(0) * C(load_value(dy + (row + 1) % n_rows));"}},
       .check = kCheck,
       .reason = "changed because of a NaN in another row (the nearest is in dy[0] of row ",
       .scenario = "gaussian",
       .blind = kBlind},
      {.name = "first_upstream_times_zero",
       .family = FaultFamily::spread_nan,
       .summary = "dy of row 0 were added with a factor of zero",
       .edits = {{kUpstream, "const C upstream = load_value(dy + row) + C(0) * C(load_value(dy));"}},
       .check = kCheck,
       .reason = " changed because of a NaN in another row",
       .scenario = "gaussian",
       .blind = kBlind},
      // Few rows, of which every second is touched.
      {.name = "long_row_with_the_next_row_times_zero",
       .family = FaultFamily::upstream,
       .summary = "the next row's dy were added with a factor of zero",
       .edits =
           {{kUpstream,
             "const C upstream = load_value(dy + row) + C(0) * C(load_value(dy + (row + 1) % n_rows));"}},
       .check = kCheck,
       .reason = "changed because of a NaN in another row (the nearest is in dy[0] of row ",
       .scenario = "gaussian",
       .sizes = {{"n_rows", 3}, {"n_dim", 40000}},
       .blind = kBlind},
  };
}

}  // namespace

std::vector<Fault> cosine_propagation_faults() {
  std::vector<Fault> all;
  for (const auto& part : {swallowed(), spilled()}) all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace lossgrad
// NOLINTEND(readability-function-size)
