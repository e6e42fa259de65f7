// SPDX-License-Identifier: Apache-2.0
// Each convention's kernel checked as each other convention. On rows of ordinary length all conventions agree
// within rounding; short rows and zero rows tell them apart, in f32:
//   tiny_norm: every pair differs, in both passes, except that in f32 the lengths below 1e-12, at which
//     normalize differs from exact, are out of the range of many an exact kernel;
//   zero_row, backward: every pair differs (the gradient of the zero row is the other row times 1 / |x2| and
//     infinity, 1e6, 1e8, 1e8 |x2| or 1e12);
//   zero_row, forward: exact gives NaN, all others have cos = 0.
#include "mutants/cosine/cosine_wrong_kernels.hpp"

namespace lossgrad::mutants {
namespace {

const std::vector<std::string> kConventions = {"exact", "torch", "similarity", "product", "normalize"};

WrongKernel taken_for(const std::string& kernel, const std::string& checked, Pass pass,
                      const std::string& scenario) {
  WrongKernel wrong;
  wrong.name = kernel;
  wrong.name += "_taken_for_" + checked + '_' + scenario + '_';
  wrong.name += name(pass);
  wrong.pass = pass;
  wrong.convention = checked;
  wrong.kernel_convention = kernel;
  wrong.scenario = scenario;
  wrong.sizes = {{"n_dim", 20}};
  return wrong;
}

}  // namespace

std::vector<WrongKernel> wrong_convention_kernels() {
  std::vector<WrongKernel> all;
  for (const std::string& kernel : kConventions) {
    for (const std::string& checked : kConventions) {
      if (kernel == checked) continue;
      for (const Pass pass : {Pass::forward, Pass::backward}) {
        all.push_back(taken_for(kernel, checked, pass, "tiny_norm"));
        if (kernel == "normalize" && checked == "exact") all.back().dtypes = {Dtype::f64};
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

}  // namespace lossgrad::mutants
