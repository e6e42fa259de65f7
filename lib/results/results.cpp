// SPDX-License-Identifier: Apache-2.0
#include "results/results.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace lossgrad {
namespace {

constexpr std::array<std::pair<Verdict, std::string_view>, 5> kVerdictNames = {{
    {Verdict::passed, "passed"},
    {Verdict::failed, "failed"},
    {Verdict::mistrusted, "mistrusted"},
    {Verdict::unsupported, "unsupported"},
    {Verdict::skipped, "skipped"},
}};

}  // namespace

std::string_view name(Verdict verdict) {
  for (const auto& [value, text] : kVerdictNames) {
    if (value == verdict) return text;
  }
  return "?";
}

std::optional<Verdict> parse_verdict(std::string_view text) {
  for (const auto& [value, known] : kVerdictNames) {
    if (text == known) return value;
  }
  return std::nullopt;
}

std::string_view name(FaultOutcome outcome) {
  switch (outcome) {
    case FaultOutcome::caught:
      return "caught";
    case FaultOutcome::slipped:
      return "slipped";
    case FaultOutcome::equivalent:
      return "equivalent";
  }
  return "";
}

std::optional<FaultOutcome> parse_fault_outcome(std::string_view text) {
  for (const FaultOutcome outcome : {FaultOutcome::caught, FaultOutcome::slipped, FaultOutcome::equivalent}) {
    if (name(outcome) == text) return outcome;
  }
  return std::nullopt;
}

double nearest_expected(const WorstElement& element) {
  const bool range = element.expected_low < element.expected_high && !std::isnan(element.got);
  return range ? std::clamp(element.got, element.expected_low, element.expected_high) : element.expected_low;
}

bool has_results(const Run& run) { return !run.checks.empty() || !run.faults.empty(); }

Summary summarise(const Run& run) {
  Summary summary;
  for (const CheckResult& result : run.checks) {
    switch (result.verdict) {
      case Verdict::passed:
        ++summary.passed;
        break;
      case Verdict::failed:
        ++summary.failed;
        break;
      case Verdict::mistrusted:
        ++summary.mistrusted;
        break;
      case Verdict::unsupported:
        ++summary.unsupported;
        break;
      case Verdict::skipped:
        ++summary.skipped;
        break;
    }
  }
  return summary;
}

}  // namespace lossgrad
