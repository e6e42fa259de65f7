// SPDX-License-Identifier: Apache-2.0
// Each convention's kernel checked as each other convention. On rows of ordinary length all conventions agree
// within rounding; short rows and zero rows tell them apart, in f32:
//   tiny_norm: every pair differs, in both passes, except that in f32 the lengths below 1e-12, at which
//     normalize differs from exact, are out of the range of many an exact kernel;
//   zero_row, backward: every pair differs (the gradient of the zero row is the other row times 1 / |x2| and
//     infinity, 1e6, 1e8, 1e8 |x2| or 1e12);
//   zero_row, forward: exact gives NaN, all others have cos = 0.
// NOLINTBEGIN(readability-function-size): tables
#include "losses/cosine/cosine_faults.hpp"
#include "losses/cosine/cosine_kernel.hpp"

namespace lossgrad {
namespace {

std::vector<std::string> conventions() {
  std::vector<std::string> names;
  for (const CosineRule& rule : cosine_rules()) names.emplace_back(rule.name);
  return names;
}

Fault taken_for(const std::string& kernel, const std::string& checked, Pass pass,
                const std::string& scenario) {
  Fault fault;
  fault.name = kernel;
  fault.name += "_taken_for_" + checked + '_' + scenario;
  fault.family = FaultFamily::convention;
  fault.summary = "the convention were " + kernel;
  fault.pass = pass;
  fault.convention = checked;
  fault.kernel_convention = kernel;
  fault.scenario = scenario;
  fault.sizes = {{"n_dim", 20}};
  return fault;
}

// Rows of 1e-8 and shorter.
bool differs_in_short_rows_alone(const std::string& convention) {
  return convention == "exact" || convention == "similarity" || convention == "normalize";
}

void not_in_f16(Fault& fault, const std::string& reason) {
  fault.dtypes = {Dtype::f32, Dtype::f64, Dtype::bf16};
  fault.elsewhere = reason;
}

}  // namespace

std::vector<Fault> cosine_convention_faults() {
  std::vector<Fault> all;
  for (const std::string& kernel : conventions()) {
    for (const std::string& checked : conventions()) {
      if (kernel == checked) continue;
      for (const Pass pass : {Pass::forward, Pass::backward}) {
        all.push_back(taken_for(kernel, checked, pass, "tiny_norm"));
        if (kernel == "normalize" && checked == "exact" && pass == Pass::forward) {
          not_in_f16(all.back(), "f16 holds no row as short as 1e-12");
        } else if (kernel == "normalize" && checked == "exact") {
          all.back().dtypes = {Dtype::f64};
          all.back().elsewhere = "lengths below 1e-12 are out of the range of f32";
        } else if (differs_in_short_rows_alone(kernel) && differs_in_short_rows_alone(checked)) {
          not_in_f16(all.back(), "f16 holds no row as short as 1e-8");
        }
        const bool exact = kernel == "exact" || checked == "exact";
        if (pass == Pass::forward && !exact) continue;
        all.push_back(taken_for(kernel, checked, pass, "zero_row"));
        if (checked == "exact") all.back().reason = "the formula gives NaN here";
        if (kernel == "exact") all.back().reason = "not finite";
      }
    }
  }
  return all;
}

}  // namespace lossgrad
// NOLINTEND(readability-function-size)
