// SPDX-License-Identifier: Apache-2.0
// The dictionary of named deviations: what may be wrong with a kernel of a loss, as edits of the built-in
// kernel's text. `selftest` injects each of them and expects the checks to catch it; `check` runs them beside
// a kernel that failed and names those that give the same numbers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/source_edit.hpp"
#include "losses/loss.hpp"

namespace lossgrad {

enum class FaultFamily {
  sign,    // of a term or a factor
  factor,  // a factor too much or missing
  dropped_term,
  swapped_argument,  // one quantity in the place of another
  constant,          // wrong in a late digit
  eps,               // missing or misplaced
  branch,            // a test that decides wrongly
  convention,        // another project's
  upstream,          // dy dropped, squared, of another item
  layout,            // boxes or rows read in another layout or format
  element_lost,      // single elements or items left out
  tail_lost,         // what is left over after whole blocks, warps or sweeps
  out_of_bounds,     // written outside the output
  input_damaged,
  accumulation,     // added to what the output held
  stale_result,     // kept from an earlier launch
  barrier,          // missing
  order_dependent,  // other results in another order of threads
  low_precision,    // an intermediate in a narrower type
  swallowed_nan,    // by fmin, fmax or a comparison; or an infinity that is clipped
  spread_nan,       // to other boxes or rows
  narrow_offset,    // an index in too few bits
  inconsistent,     // forward and backward do not belong together
};
std::string_view name(FaultFamily family);

inline const std::vector<Dtype> kWideDtypes = {Dtype::f32, Dtype::f64};
inline const std::string kBelow16Bits = "less than the rounding of 16-bit storage";

struct Fault {
  std::string name = {};  // "alpha_detached"; no two of a loss and a pass are alike
  FaultFamily family = FaultFamily::sign;
  std::string summary = {};    // goes on from "behaves as if": "alpha carried no gradient"
  Pass pass = Pass::backward;  // whose kernel is wrong
  std::vector<SourceEdit> edits = {};

  // What has to be said about it.
  std::string check = "reference";            // the named check that fails
  std::string reason = "elements are wrong";  // part of its reason
  // The outputs among which the worst elements are: "d_pred[2]", or "dx1" for all components; empty: any.
  std::vector<std::string> outputs = {};

  // Types in which it shows, and why it does not in the others.
  std::vector<Dtype> dtypes = {Dtype::f32, Dtype::f64, Dtype::f16, Dtype::bf16};
  std::string elsewhere = {};
  // A case in which it shows; what is missing is the loss's default.
  std::string convention = {};         // that is checked
  std::string kernel_convention = {};  // of the kernel; empty: the same
  std::string scenario = {};
  Sizes sizes = {};
  Parameters parameters = {};
  int block = kOwnBlock;
  bool every_block_size = false;  // the fault is in every block size that repeatability compares
  bool f64_build = false;         // and in the f64 build that self_consistency looks at
  bool races = false;             // shows only in some orders of threads, which a GPU need not take
  // The pass whose checks run, where it is not the fault's: backward after a wrong forward.
  std::optional<Pass> checked = {};
  std::vector<std::string> blind = {};  // checks that pass, where one check alone sees the fault

  [[nodiscard]] bool shows_in(Dtype dtype) const;
  // Whether a diagnosis can name it: the reference sees it, in finite inputs and in f64 too.
  [[nodiscard]] bool is_diagnosable() const;
  // Its name there: faults that are another convention's kernel go by that.
  [[nodiscard]] std::string diagnosis_name() const;
};

// The built-in kernel with the fault.
Kernel faulty_kernel(const Loss& loss, const Fault& fault, KernelOptions options);

}  // namespace lossgrad
