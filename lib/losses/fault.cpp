// SPDX-License-Identifier: Apache-2.0
#include "losses/fault.hpp"

#include <algorithm>

namespace lossgrad {

std::string_view name(FaultFamily family) {
  switch (family) {
    case FaultFamily::sign:
      return "sign";
    case FaultFamily::factor:
      return "factor";
    case FaultFamily::dropped_term:
      return "dropped term";
    case FaultFamily::swapped_argument:
      return "swapped argument";
    case FaultFamily::constant:
      return "constant";
    case FaultFamily::eps:
      return "eps";
    case FaultFamily::branch:
      return "branch";
    case FaultFamily::convention:
      return "convention";
    case FaultFamily::upstream:
      return "dy";
    case FaultFamily::layout:
      return "layout";
    case FaultFamily::element_lost:
      return "element lost";
    case FaultFamily::tail_lost:
      return "tail lost";
    case FaultFamily::out_of_bounds:
      return "out of bounds";
    case FaultFamily::input_damaged:
      return "input damaged";
    case FaultFamily::accumulation:
      return "accumulation";
    case FaultFamily::stale_result:
      return "stale result";
    case FaultFamily::barrier:
      return "barrier";
    case FaultFamily::order_dependent:
      return "order";
    case FaultFamily::low_precision:
      return "low precision";
    case FaultFamily::swallowed_nan:
      return "swallowed NaN";
    case FaultFamily::spread_nan:
      return "spread NaN";
    case FaultFamily::narrow_offset:
      return "narrow offset";
    case FaultFamily::inconsistent:
      return "inconsistent";
  }
  return "";
}

bool Fault::shows_in(Dtype dtype) const {
  return std::find(dtypes.begin(), dtypes.end(), dtype) != dtypes.end();
}

bool Fault::is_diagnosable() const {
  return check == "reference" && family != FaultFamily::swallowed_nan && shows_in(Dtype::f64);
}

std::string Fault::diagnosis_name() const {
  return kernel_convention.empty() ? name : "convention_" + kernel_convention;
}

Kernel faulty_kernel(const Loss& loss, const Fault& fault, KernelOptions options) {
  if (!fault.kernel_convention.empty()) options.convention = fault.kernel_convention;
  const Kernel right = loss.kernel(options);
  return right.with_kernel_source(edited(right.kernel_source(), fault.edits));
}

}  // namespace lossgrad
