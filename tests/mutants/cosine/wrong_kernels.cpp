// SPDX-License-Identifier: Apache-2.0
// Faults of the dictionary in another kernel's text: one thread a row, whose sums are not the built-in
// kernel's, gets the same diagnosis.
#include "mutants/wrong_kernels.hpp"

namespace lossgrad::mutants {
namespace {

WrongKernel thread_a_row(Pass pass, const std::string& diagnosis, const std::vector<SourceEdit>& edits) {
  WrongKernel kernel;
  kernel.name = "thread_a_row_" + diagnosis;
  kernel.pass = pass;
  kernel.text = {{"rows.cuh", "one_accumulator.cuh", "by_reciprocal_roots.cuh", "one_thread_a_row.cuh"},
                 edits,
                 [](const Sizes&) {
                   return OtherLaunch{32, 32};
                 }};
  kernel.diagnosis = diagnosis;
  return kernel;
}

// Right where no row is zero (right_kernels.cpp): a NaN is taken for a number.
WrongKernel fast_math() {
  WrongKernel kernel;
  kernel.name = "thread_a_row_by_fast_math";
  kernel.pass = Pass::forward;
  kernel.text = {{"rows.cuh", "one_accumulator.cuh", "by_norms.cuh", "one_thread_a_row.cuh"},
                 {},
                 [](const Sizes&) {
                   return OtherLaunch{32, 32};
                 },
                 true};
  kernel.scenario = "zero_row";
  kernel.reason = "the formula gives NaN here";
  return kernel;
}

}  // namespace

std::vector<WrongKernel> wrong_kernels() {
  const std::string derivative = "(other * r2 - own * r1 * cosine) * r1";
  const std::string loop = "for (int i = 0; i < n_dim; ++i)", upstream = "load_value(dy + row))";
  const std::string first = "store_value(dx1 + i, active ? coefficient * d1",
                    second = "store_value(dx2 + i, active ? coefficient * d2";
  const Pass forward = Pass::forward, backward = Pass::backward;
  return {
      fast_math(),
      thread_a_row(forward, "sign_of_cos", {{"return C(1) - cosine;", "return C(1) + cosine;"}}),
      thread_a_row(forward, "margin_ignored",
                   {{"const C excess = cosine - margin;", "const C excess = cosine;"}}),
      thread_a_row(forward, "margin_added",
                   {{"const C excess = cosine - margin;", "const C excess = cosine + margin;"}}),
      thread_a_row(forward, "hinge_left_out", {{"return excess < C(0) ? C(0) : excess;", "return excess;"}}),
      thread_a_row(forward, "labels_ignored", {{"if (label > C(0)) return C(1) - cosine;", ""}}),
      thread_a_row(forward, "last_element_lost", {{loop, "for (int i = 0; i < n_dim - 1; ++i)"}}),
      thread_a_row(backward, "cos_missing_in_projection", {{derivative, "(other * r2 - own * r1) * r1"}}),
      thread_a_row(backward, "cos_of_the_other_sign",
                   {{derivative, "(other * r2 + own * r1 * cosine) * r1"}}),
      thread_a_row(backward, "projection_dropped", {{derivative, "other * r2 * r1"}}),
      thread_a_row(backward, "outer_norm_left_out",
                   {{first, "store_value(dx1 + i, active ? coefficient * square_root(sums.x11) * d1"}}),
      thread_a_row(backward, "outer_norms_left_out", {{derivative, "(other * r2 - own * r1 * cosine)"}}),
      thread_a_row(backward, "outer_norms_of_the_other_row",
                   {{derivative, "(other * r2 - own * r1 * cosine) * r2"}}),
      thread_a_row(backward, "gradients_swapped",
                   {{first, "store_value(dx1 + i, active ? coefficient * d2"},
                    {second, "store_value(dx2 + i, active ? coefficient * d1"}}),
      thread_a_row(backward, "upstream_dropped", {{upstream, "C(1))"}}),
      thread_a_row(backward, "upstream_squared", {{upstream, "load_value(dy + row) * " + upstream}}),
      thread_a_row(backward, "gradient_doubled", {{upstream, "2 * " + upstream}}),
      thread_a_row(backward, "sign_of_coefficient", {{upstream, "-" + upstream}}),
  };
}

}  // namespace lossgrad::mutants
