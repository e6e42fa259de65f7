// SPDX-License-Identifier: Apache-2.0
#include "check/check.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <new>

#include "base/error.hpp"
#include "base/printable.hpp"
#include "check/case_kernels.hpp"
#include "check/diagnosis.hpp"
#include "check/gradient_checks.hpp"
#include "check/guards.hpp"
#include "check/kernel_run.hpp"
#include "check/parts.hpp"
#include "check/propagation.hpp"
#include "check/repeatability.hpp"
#include "check/reproducer.hpp"

namespace lossgrad {
namespace {

// A case proves little when more than this share of its elements is undecided, or of its gradients is zero
// within their bounds: a kernel that writes nothing but zeros is right in nearly all of it.
constexpr double kTooManyUndecided = 0.9;
constexpr double kTooManyZeros = 0.98;

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// "94 % of the elements (122 of 129)"
std::string share(std::int64_t part, std::int64_t whole, const std::string& what) {
  const double percent = std::floor(100.0 * static_cast<double>(part) / static_cast<double>(whole));
  return std::to_string(static_cast<int>(percent)) + " % of the " + what + " (" + std::to_string(part) +
         " of " + std::to_string(whole) + ")";
}

// One case: buffers of the full size, kernels, results in order.
class CaseRun {
 public:
  CaseRun(const CheckRequest& request, Backend& backend, const Progress& progress)
      : request_(request),
        backend_(backend),
        progress_(progress),
        source_(request),
        kernels_(request, backend),
        full_(request, backend, request.sizes, {}, request.seed) {
    full_.on_chunk([this] { report_progress(fraction_of_step_); });
  }

  std::vector<CheckResult> run() {
    if (wants(request_, Pass::backward)) oracles();
    if (wants(request_, Pass::forward)) small_checks(Pass::forward);
    if (wants(request_, Pass::backward)) small_checks(Pass::backward);
    forward();
    if (wants(request_, Pass::backward)) backward();
    if (wants(request_, Pass::backward)) self_consistency();
    if (request_.diagnose) diagnose_failures();
    report_progress(1);
    failures_.hand_over(source_, results_);
    std::stable_sort(results_.begin(), results_.end(), [](const CheckResult& a, const CheckResult& b) {
      return std::make_pair(a.case_id.pass, position(a.check)) <
             std::make_pair(b.case_id.pass, position(b.check));
    });
    return std::move(results_);
  }

 private:
  // Of one pass: at the full size, at small sizes, about bits, about what is not finite.
  struct PassFindings {
    Findings full, small, bits, propagation;
  };

  static std::size_t position(const std::string& check) {
    const auto& names = check_names();
    return static_cast<std::size_t>(
        std::find_if(names.begin(), names.end(), [&](const CheckName& n) { return n.name == check; }) -
        names.begin());
  }

  // The result of a check; null when the request leaves it out (a skipped result is kept instead).
  CheckResult* begin(Pass pass, const std::string& check) {
    CheckResult result;
    const ReadyKernel& kernel = kernels_.main(pass);
    result.case_id = {std::string(request_.loss->name()),
                      pass,
                      request_.convention,
                      request_.dtype,
                      request_.sizes,
                      request_.parameters,
                      request_.inputs.empty() ? request_.scenario : "file",
                      request_.files,
                      request_.seed,
                      std::string(backend_.name()),
                      kernel.kernel.id(),
                      kernel.loaded->content_hash()};
    result.check = check;
    result.command = request_.command;
    if (skips(request_, check)) {
      result.verdict = Verdict::skipped;
      result.reason = "left out by --skip " + check;
    }
    results_.push_back(std::move(result));
    report_progress(0);
    return results_.back().verdict == Verdict::skipped ? nullptr : &results_.back();
  }

  // Fraction of the whole case: each result is one equal step.
  void report_progress(double fraction_of_step) {
    if (!progress_) return;
    fraction_of_step_ = fraction_of_step;
    constexpr int kForwardSteps = 4;  // oracles, own_saved and self_consistency are of backward alone
    const auto backward_steps = static_cast<int>(check_names().size());
    const double steps = (wants(request_, Pass::forward) ? kForwardSteps : 0) +
                         (wants(request_, Pass::backward) ? backward_steps : 0);
    const double done = std::max<double>(0, static_cast<double>(results_.size()) - 1);
    progress_(std::min(1.0, (done + fraction_of_step) / steps),
              results_.empty() ? "inputs" : results_.back().check);
  }

  Comparison compare(const Kernel& kernel) {
    return full_.compare(kernel, [this](double fraction) { report_progress(fraction); });
  }

  void oracles() {
    if (CheckResult* result = begin(Pass::backward, "oracles")) {
      const Stopwatch watch;
      check_oracles(request_, source_, *result, [this](double fraction) { report_progress(fraction); });
      result->seconds = watch.seconds();
    }
  }

  void self_consistency() {
    if (CheckResult* result = begin(Pass::backward, "self_consistency")) {
      const Stopwatch watch;
      check_self_consistency(context(), *result, [this](double fraction) { report_progress(fraction); });
      result->seconds = watch.seconds();
    }
  }

  // Guards, repeatability and propagation at small sizes; the full size adds to the findings of the first two
  // later.
  void small_checks(Pass pass) {
    PassFindings& findings = findings_[pass];
    const CaseContext context = this->context();
    if (!skips(request_, "guards")) {
      const Stopwatch watch;
      findings.small = check_small_sizes(context, kernels_.main(pass));
      findings.small.seconds = watch.seconds();
    }
    if (!skips(request_, "repeatability")) {
      const Stopwatch watch;
      findings.bits = check_same_bits(context, pass);
      findings.bits.seconds = watch.seconds();
    }
    if (!skips(request_, "propagation")) {
      const Stopwatch watch;
      findings.propagation = check_propagation(context, kernels_.main(pass));
      findings.propagation.seconds = watch.seconds();
    }
  }

  [[nodiscard]] CaseContext context() { return {request_, backend_, kernels_, source_}; }

  // A launch at the full size; its time and what it damaged go to the guards of its pass, or to those of
  // backward where forward is launched only for what it saves.
  LaunchFindings launch_full(const ReadyKernel& kernel, std::uint64_t number) {
    const Pass pass = kernel.kernel.pass();
    const bool own = wants(request_, pass);
    Findings& guards = findings_[own ? pass : Pass::backward].full;
    const Stopwatch watch;
    LaunchFindings launched = full_.launch(*kernel.loaded, kernel.kernel, number);
    guards.seconds += watch.seconds();
    for (std::string line : launched.damage) {
      if (!own) line.insert(0, std::string(name(pass)) + ": ");
      if (std::find(guards.lines.begin(), guards.lines.end(), line) == guards.lines.end())
        guards.lines.push_back(std::move(line));
    }
    return launched;
  }

  void forward() {
    const ReadyKernel& kernel = kernels_.main(Pass::forward);
    full_.provide(kernel.kernel);
    if (wants(request_, Pass::backward)) full_.provide_upstream(kernels_.main(Pass::backward).kernel);
    full_.write_inputs(source_);
    if (!wants(request_, Pass::forward)) {
      launch_full(kernel, 0);
      return;
    }
    launch_twice(kernel);
    finish(Pass::forward);
  }

  void backward() {
    const ReadyKernel& kernel = kernels_.main(Pass::backward);
    // Forward's own result is not needed any more; what it saved is.
    for (const Argument& argument : kernels_.main(Pass::forward).kernel.arguments()) {
      if (argument.role == ArgumentRole::output) full_.release(argument.name);
    }
    full_.provide(kernel.kernel);
    const auto& arguments = kernel.kernel.arguments();
    const bool reads_saved = std::any_of(arguments.begin(), arguments.end(), [](const Argument& argument) {
      return argument.role == ArgumentRole::saved;
    });
    if (CheckResult* result = begin(Pass::backward, "own_saved"); result != nullptr && !reads_saved) {
      result->verdict = Verdict::skipped;
      result->reason = "forward saves nothing for backward";
    } else if (result != nullptr) {
      launch_full(kernel, 0);
      const Stopwatch watch;
      judge(compare(kernel.kernel), *result);
      result->seconds = watch.seconds();
    }
    full_.write_reference_saved(kernel.kernel);
    launch_twice(kernel);
    finish(Pass::backward);
  }

  // Full size: compare with the reference, then once more with other sentinels: what differs was not written,
  // depends on the output's old content, or does not repeat.
  void launch_twice(const ReadyKernel& kernel) {
    launch_full(kernel, 0);
    const std::uint64_t bits = full_.output_hash(kernel.kernel);
    if (CheckResult* result = begin(kernel.kernel.pass(), "reference")) {
      const Stopwatch watch;
      judge(compare(kernel.kernel), *result);
      result->seconds = watch.seconds();
    }
    const LaunchFindings second = launch_full(kernel, 1);
    findings_[kernel.kernel.pass()].full.compared += full_.written_elements(kernel.kernel);
    if (full_.output_hash(kernel.kernel) != bits) explain_difference(kernel, bits, second.sentinels);
  }

  // The second launch, with other sentinels in the outputs, gave other bits than the first. More like these
  // two tell whether that is the sentinels' doing: a kernel that tosses a coin is seldom right eight times.
  void explain_difference(const ReadyKernel& kernel, std::uint64_t first_bits,
                          const Sentinels& second_sentinels) {
    PassFindings& findings = findings_[kernel.kernel.pass()];
    const StoredOutputs second = full_.comparable_outputs(kernel.kernel);
    const auto repeats = [&] {
      launch_full(kernel, 1);
      if (full_.comparable_outputs(kernel.kernel) != second) return false;
      launch_full(kernel, 0);
      return full_.output_hash(kernel.kernel) == first_bits;
    };
    constexpr int kPairs = 4;
    int same = 0;
    while (same < kPairs && repeats()) ++same;
    if (same < kPairs) {
      findings.bits.lines.emplace_back("two launches on the same inputs gave different bits");
    } else {
      findings.full.lines.push_back(full_.trace_of_sentinels(kernel.kernel, second, second_sentinels));
    }
  }

  // Inputs of the worst elements. Of results that passed not the long rows, which would make up most of a
  // document.
  void add_inputs(CheckResult& result) {
    constexpr std::size_t kMostValuesOfPassed = 64;
    const Kernel& kernel = kernels_.main(result.case_id.pass).kernel;
    for (WorstElement& element : result.worst) {
      auto inputs = full_.inputs_of(kernel, element.item);
      std::size_t values = 0;
      for (const auto& [argument, of_argument] : inputs) values += of_argument.size();
      if (result.verdict != Verdict::passed || values <= kMostValuesOfPassed)
        element.inputs = std::move(inputs);
    }
  }

  // Zero lies in the hull of many a kink.
  [[nodiscard]] bool zeros_are_the_point() const {
    const ScenarioInfo* scenario = scenario_of(request_);
    return request_.loss->gradients_vanish(request_.sizes) ||
           (scenario != nullptr && (scenario->made_of_kinks || scenario->made_of_zeros));
  }

  void judge(const Comparison& comparison, CheckResult& result) {
    comparison.fill(result);
    const std::int64_t seen = comparison.seen();
    if (comparison.failed()) {
      result.verdict = Verdict::failed;
      result.reason = comparison.failure_reason(request_.loss->item_name());
      const Kernel& kernel = kernels_.main(result.case_id.pass).kernel;
      result.part = part_that_is_off(request_, full_, kernel, comparison);
      failures_.add_outputs(full_, kernel, result);
    } else if (comparison.compared() == 0) {
      result.verdict = Verdict::mistrusted;
      result.reason = seen == 0 ? "nothing was checked: " + request_.loss->item_size() + " = 0"
                                : "nothing was compared: no element has a finite bound";
    } else if (!made_of_kinks(request_) &&
               static_cast<double>(comparison.undecided()) > kTooManyUndecided * static_cast<double>(seen)) {
      result.verdict = Verdict::mistrusted;
      result.reason = share(comparison.undecided(), seen, "elements") +
                      " are kinks, unbounded, out of range or not finite";
    } else if (result.case_id.pass != Pass::forward && !zeros_are_the_point() &&
               static_cast<double>(comparison.zeros()) >
                   kTooManyZeros * static_cast<double>(comparison.compared())) {
      result.verdict = Verdict::mistrusted;
      result.reason =
          share(comparison.zeros(), comparison.compared(), "gradients") + " are zero within their bounds";
    }
    add_inputs(result);
  }

  // What the kernel does wrong, told by the elements that the reference finds wrong.
  void diagnose_failures() {
    for (CheckResult& result : results_) {
      if (result.check != "reference" || result.verdict != Verdict::failed) continue;
      std::vector<std::int64_t> items;
      for (const WorstElement& worst : result.worst) items.push_back(worst.item);
      try {
        result.diagnosis = diagnose(context(), result.case_id.pass, items);
      } catch (const Error& error) {  // its kernels are not the ones in question, and the results stand
        if (request_.diagnosis_required || error.kind() == ErrorKind::internal) throw;
        result.reason += "; no diagnosis: " + escaped_controls(error.what());
      } catch (const std::bad_alloc&) {
        if (request_.diagnosis_required) throw;
        result.reason += "; no diagnosis: not enough memory";
      }
    }
  }

  void finish(Pass pass) {
    PassFindings& findings = findings_[pass];
    if (CheckResult* result = begin(pass, "guards")) {
      // What happened at the full size says most; the same fault shows again at small sizes.
      Findings& all = findings.full;
      all.lines.insert(all.lines.end(), findings.small.lines.begin(), findings.small.lines.end());
      all.compared += findings.small.compared;
      all.seconds += findings.small.seconds;
      judge_findings(all, *result);
    }
    if (CheckResult* result = begin(pass, "repeatability")) judge_findings(findings.bits, *result);
    if (CheckResult* result = begin(pass, "propagation")) judge_findings(findings.propagation, *result);
  }

  static void judge_findings(const Findings& findings, CheckResult& result) {
    result.compared = findings.compared;
    result.seconds = findings.seconds;
    if (!findings.lines.empty()) {
      result.verdict = Verdict::failed;
      result.reason = findings.lines.front();
      if (const std::size_t more = findings.lines.size() - 1; more > 0)
        result.reason += " (and " + std::to_string(more) + (more == 1 ? " more finding)" : " more findings)");
    } else if (findings.compared == 0) {
      result.verdict = Verdict::mistrusted;
      result.reason = "nothing was checked";
    }
  }

  const CheckRequest& request_;
  Backend& backend_;
  const Progress& progress_;
  InputSource source_;
  CaseKernels kernels_;
  KernelRun full_;
  FailureRecords failures_{request_};
  std::map<Pass, PassFindings> findings_;
  std::vector<CheckResult> results_;
  double fraction_of_step_ = 0;  // of the last report
};

}  // namespace

const std::vector<CheckName>& check_names() {
  static const std::vector<CheckName> names = {
      {"oracles",
       "closed gradient, automatic differentiation and finite differences agree (no kernel involved)"},
      {"reference",
       "every output within --slack (2) times its certified bound (its rounding to f16 or bf16 once); "
       "backward with saved values from the reference"},
      {"own_saved", "backward once more, with the saved values of the kernel's own forward"},
      {"self_consistency", "the f64 backward agrees with finite differences of the f64 forward"},
      {"guards",
       "every element written and nothing else, ragged sizes, misaligned bases, results fresh whatever the "
       "outputs held"},
      {"repeatability",
       "same bits on a second run; of the first blocks also for other block sizes and (host) in other orders "
       "of threads"},
      {"propagation",
       "what a NaN in an input or dy reaches is NaN, an infinity gives no ordinary number, other items keep "
       "their bits"},
  };
  return names;
}

std::vector<CheckResult> check_case(const CheckRequest& request, Backend& backend, const Progress& progress) {
  return CaseRun(request, backend, progress).run();
}

}  // namespace lossgrad
