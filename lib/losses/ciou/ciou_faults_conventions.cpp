// SPDX-License-Identifier: Apache-2.0
// Each convention's kernel checked as each other convention.
#include "losses/ciou/ciou_faults.hpp"
#include "losses/ciou/ciou_kernel.hpp"

namespace lossgrad {
namespace {

Fault taken_for(std::string_view kernel, std::string_view checked, Pass pass) {
  Fault fault;
  fault.name = std::string(kernel) + "_taken_for_" + std::string(checked);
  fault.family = FaultFamily::convention;
  fault.summary = "the convention were " + std::string(kernel);
  fault.pass = pass;
  fault.convention = checked;
  fault.kernel_convention = kernel;
  return fault;
}

}  // namespace

std::vector<Fault> ciou_convention_faults() {
  std::vector<Fault> all;
  for (const CiouConvention& kernel : ciou_conventions()) {
    for (const CiouConvention& checked : ciou_conventions()) {
      if (kernel.name == checked.name) continue;
      for (const Pass pass : {Pass::forward, Pass::backward})
        all.push_back(taken_for(kernel.name, checked.name, pass));
    }
  }
  return all;
}

}  // namespace lossgrad
