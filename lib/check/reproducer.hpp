// SPDX-License-Identifier: Apache-2.0
// Gathers the inputs and outputs of failed passes (CheckRequest::on_failed_pass).
#pragma once

#include <map>
#include <set>

#include "check/input_source.hpp"
#include "check/kernel_run.hpp"
#include "results/results.hpp"

namespace lossgrad {

class FailureRecords {
 public:
  explicit FailureRecords(const CheckRequest& request) : request_(request) {}

  // After a comparison that failed: what `run` holds of the kernel's outputs, next to what is right.
  void add_outputs(const KernelRun& run, const Kernel& kernel, const CheckResult& result);
  // At the end of the case: hands over one record for each pass that has a failed check.
  void hand_over(const InputSource& source, const std::vector<CheckResult>& results);

 private:
  [[nodiscard]] bool wanted() const { return static_cast<bool>(request_.on_failed_pass); }

  const CheckRequest& request_;
  std::map<Pass, std::vector<NamedArray>> outputs_;
  std::map<Pass, std::set<std::int64_t>> items_;
};

}  // namespace lossgrad
