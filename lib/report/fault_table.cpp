// SPDX-License-Identifier: Apache-2.0
#include "report/fault_table.hpp"

#include <algorithm>
#include <ostream>

#include "report/number_text.hpp"
#include "report/text_table.hpp"

namespace lossgrad {
namespace {

std::string_view outcome_paint(FaultOutcome outcome) {
  switch (outcome) {
    case FaultOutcome::caught:
      return terminal::kGreen;
    case FaultOutcome::slipped:
      return terminal::kRedBold;
    case FaultOutcome::equivalent:
      return terminal::kDim;
  }
  return {};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string label(const FaultResult& fault) {
  return fault.loss + " " + std::string(name(fault.dtype)) + " " + std::string(name(fault.pass));
}

struct Tally {
  std::int64_t caught = 0, slipped = 0, equivalent = 0;
};
void count(Tally& tally, FaultOutcome outcome) {
  ++(outcome == FaultOutcome::caught ? tally.caught
                                     : (outcome == FaultOutcome::slipped ? tally.slipped : tally.equivalent));
}

// In the order of their first fault.
std::vector<std::pair<std::string, Tally>> tallies_of_families(std::span<const FaultResult> faults) {
  std::vector<std::pair<std::string, Tally>> tallies;
  for (const FaultResult& fault : faults) {
    auto found = std::find_if(tallies.begin(), tallies.end(),
                              [&](const auto& entry) { return entry.first == fault.family; });
    if (found == tallies.end()) found = tallies.insert(tallies.end(), {fault.family, {}});
    count(found->second, fault.outcome);
  }
  return tallies;
}

}  // namespace

void print_faults(std::ostream& out, std::span<const FaultResult> faults, const ConsoleStyle& style) {
  constexpr std::size_t kOutcomeColumn = 3;
  TextTable table({{"fault", false, 5},
                   {"family", false, 6},
                   {"kernel", false, 6},
                   {"outcome", false, 7},
                   {"usage", true, 7},
                   {"caught by", false, 9}});
  bool any = false;
  for (const FaultResult& fault : faults) {
    if (style.only_problems && fault.outcome != FaultOutcome::slipped) continue;
    any = true;
    table.add_row({fault.fault, fault.family, label(fault), std::string(name(fault.outcome)),
                   fault.bound_usage > 0 ? usage_text(fault.bound_usage) : "-", joined(fault.caught_by)},
                  std::string(style.color ? outcome_paint(fault.outcome) : ""), kOutcomeColumn);
    if (fault.outcome != FaultOutcome::caught) table.add_line(fault.reason);
  }
  if (any) table.print(out, "  ");
  if (style.only_problems || faults.empty()) return;
  TextTable families(
      {{"family", false, 6}, {"caught", true, 6}, {"slipped", true, 7}, {"equivalent", true, 10}});
  for (const auto& [family, tally] : tallies_of_families(faults))
    families.add_row({family, grouped(tally.caught), grouped(tally.slipped), grouped(tally.equivalent)});
  out << '\n';
  families.print(out, "  ");
}

void print_confusion(std::ostream& out, std::span<const FaultResult> faults, const ConsoleStyle& style) {
  TextTable table({{"fault", false, 5},
                   {"kernel", false, 6},
                   {"rank", true, 4},
                   {"first", false, 5},
                   {"second", false, 6}});
  bool any = false;
  for (const FaultResult& fault : faults) {
    if (!fault.diagnosed_as) continue;
    if (style.only_problems && *fault.diagnosed_as > 0) continue;
    any = true;
    std::vector<std::string> ranks[2];
    for (const Diagnosis& diagnosis : fault.diagnosis) {
      if (diagnosis.rank <= 2) ranks[diagnosis.rank - 1].push_back(diagnosis.name);
    }
    table.add_row({fault.fault, label(fault),
                   *fault.diagnosed_as > 0 ? std::to_string(*fault.diagnosed_as) : "-",
                   ranks[0].empty() ? "-" : joined(ranks[0]), joined(ranks[1])});
  }
  if (any) table.print(out, "  ");
}

void print_fault_summary(std::ostream& out, const Run& run, double seconds, const ConsoleStyle& style) {
  Tally tally;
  std::int64_t named = 0, diagnosed = 0;
  for (const FaultResult& fault : run.faults) {
    count(tally, fault.outcome);
    if (!fault.diagnosed_as) continue;
    ++diagnosed;
    named += *fault.diagnosed_as > 0 ? 1 : 0;
  }
  if (!run.complete) out << painted("stopped early; ", terminal::kYellow, style);
  out << counted(static_cast<std::int64_t>(run.faults.size()), "fault") << ": "
      << painted(grouped(tally.caught) + " caught", terminal::kGreen, style);
  if (tally.slipped > 0)
    out << ", " << painted(grouped(tally.slipped) + " slipped through", terminal::kRedBold, style);
  if (tally.equivalent > 0) out << ", " << grouped(tally.equivalent) << " equivalent";
  if (diagnosed > 0)
    out << "; " << grouped(named) << " of " << grouped(diagnosed) << " named by the diagnosis";
  out << " in " << seconds_text(seconds) << '\n';
}

}  // namespace lossgrad
