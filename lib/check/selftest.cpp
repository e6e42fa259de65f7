// SPDX-License-Identifier: Apache-2.0
#include "check/selftest.hpp"

#include <algorithm>
#include <chrono>

#include "check/check_request.hpp"

namespace lossgrad {
namespace {

Pass checked_pass(const Fault& fault) { return fault.checked.value_or(fault.pass); }

Sizes sizes_of(const Loss& loss, const Fault& fault) {
  Sizes sizes = loss.selftest_sizes();
  for (const auto& [name, size] : fault.sizes) sizes[name] = size;
  return sizes;
}

std::optional<Kernel> offered(const Fault& fault, const CheckRequest& request, const KernelOptions& options) {
  const bool main_size = options.block == main_block(request);
  const bool main = options.dtype == request.dtype && main_size;
  const bool other_block = options.dtype == request.dtype && fault.every_block_size;
  const bool wide = options.dtype == Dtype::f64 && main_size && fault.f64_build;
  if (!main && !other_block && !wide) return std::nullopt;
  if (options.pass != fault.pass) return request.loss->kernel(options);
  return faulty_kernel(*request.loss, fault, options);
}

// Looks at the worst elements, which are all that a result keeps.
bool only_in(const std::vector<std::string>& outputs, const CheckResult& result) {
  const auto expected = [&](const WorstElement& worst) {
    if (outputs.empty() || !worst.wrong) return true;
    const std::string element = worst.output + '[' + std::to_string(worst.component) + ']';
    return std::any_of(outputs.begin(), outputs.end(), [&](const std::string& output) {
      return output == element || output == worst.output;
    });
  };
  return std::all_of(result.worst.begin(), result.worst.end(), expected);
}

const CheckResult* find(const std::vector<CheckResult>& results, const std::string& check) {
  const auto found =
      std::find_if(results.begin(), results.end(), [&](const CheckResult& r) { return r.check == check; });
  return found == results.end() ? nullptr : &*found;
}

// Why the fault was not caught as its entry says; empty when it was.
std::string shortfall(const Fault& fault, const std::vector<CheckResult>& results) {
  const CheckResult* const named = find(results, fault.check);
  if (named == nullptr) return fault.check + " did not run";
  if (named->verdict != Verdict::failed) {
    return fault.check + " " + std::string(name(named->verdict)) +
           (named->reason.empty() ? "" : ": " + named->reason);
  }
  if (named->reason.find(fault.reason) == std::string::npos)
    return fault.check + " failed for another reason: " + named->reason;
  for (const char* check : {"reference", "own_saved"}) {
    const CheckResult* result = find(results, check);
    if (result != nullptr && !only_in(fault.outputs, *result))
      return "outputs are wrong that the fault leaves right: " + result->reason;
  }
  for (const std::string& check : fault.blind) {
    const CheckResult* result = find(results, check);
    if (result == nullptr || result->verdict != Verdict::passed)
      return check + " was expected to pass" + (result == nullptr ? "" : ": " + result->reason);
  }
  return "";
}

// Outcome and reason. What is declared to make no difference must not be seen by the check that sees it
// elsewhere.
void decide(const Fault& fault, Dtype dtype, const std::vector<CheckResult>& checks, bool orders_threads,
            FaultResult& result) {
  const CheckResult* const named = find(checks, fault.check);
  const bool unseen = named != nullptr && named->verdict != Verdict::failed;
  if (!fault.shows_in(dtype)) {
    result.outcome = unseen ? FaultOutcome::equivalent : FaultOutcome::slipped;
    result.reason =
        unseen ? fault.elsewhere : fault.check + " fails where none should be seen (" + fault.elsewhere + ")";
  } else if (fault.races && unseen && !orders_threads) {
    result.outcome = FaultOutcome::equivalent;
    result.reason = "a race that this device's order of threads hides; the host backend shows it";
  } else {
    result.reason = shortfall(fault, checks);
    result.outcome = result.reason.empty() ? FaultOutcome::caught : FaultOutcome::slipped;
  }
}

}  // namespace

CheckRequest fault_request(const Loss& loss, const Fault& fault, Dtype dtype) {
  CheckRequest request;
  request.loss = &loss;
  request.passes = {checked_pass(fault)};
  request.convention = fault.convention.empty() ? loss.conventions().front().name : fault.convention;
  request.dtype = dtype;
  request.sizes = sizes_of(loss, fault);
  request.parameters = default_parameters(loss);
  for (const auto& [name, value] : fault.parameters) request.parameters[name] = value;
  for (auto& [name, value] : request.parameters) value = round_to(Dtype::f32, value);
  request.scenario = fault.scenario.empty() ? loss.default_scenario() : fault.scenario;
  request.block = fault.block;
  request.fd_samples = 32;
  request.skip = {"oracles"};  // no kernel takes part in it
  request.diagnose = false;
  request.make_kernel = [fault, plain = request](const KernelOptions& options) {
    return offered(fault, plain, options);
  };
  return request;
}

std::vector<Kernel> fault_kernels(const Loss& loss, const Fault& fault, Dtype dtype) {
  const CheckRequest request = fault_request(loss, fault, dtype);
  KernelOptions options{fault.pass, dtype, request.convention, main_block(request), request.sizes};
  std::vector<Kernel> kernels = {*request.make_kernel(options)};
  options.dtype = Dtype::f64;
  if (fault.f64_build) kernels.push_back(*request.make_kernel(options));
  return kernels;
}

FaultResult check_fault(const Loss& loss, const Fault& fault, Dtype dtype, Backend& backend, bool diagnose) {
  FaultResult result;
  result.loss = loss.name();
  result.fault = fault.name;
  result.family = name(fault.family);
  result.summary = fault.summary;
  result.pass = fault.pass;
  result.dtype = dtype;
  result.backend = backend.name();
  const auto start = std::chrono::steady_clock::now();
  CheckRequest request = fault_request(loss, fault, dtype);
  request.diagnose = request.diagnosis_required = diagnose;
  const std::vector<CheckResult> checks = check_case(request, backend);
  decide(fault, dtype, checks, backend.orders_threads(), result);
  for (const CheckResult& check : checks) {
    if (check.bound_usage) result.bound_usage = std::max(result.bound_usage, check.bound_usage->max);
    if (check.verdict != Verdict::failed) continue;
    result.caught_by.push_back(check.check);
    for (const Diagnosis& diagnosis : check.diagnosis) result.diagnosis.push_back(diagnosis);
    if (result.outcome == FaultOutcome::caught && check.check == fault.check) result.reason = check.reason;
  }
  if (diagnose && fault.is_diagnosable()) {
    result.diagnosed_as = 0;
    for (const Diagnosis& diagnosis : result.diagnosis) {
      if (diagnosis.name == fault.diagnosis_name()) result.diagnosed_as = diagnosis.rank;
    }
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace lossgrad
