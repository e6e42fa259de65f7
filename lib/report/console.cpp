// SPDX-License-Identifier: Apache-2.0
#include "report/console.hpp"

#include <algorithm>
#include <ostream>
#include <set>

#include "base/printable.hpp"
#include "report/case_words.hpp"
#include "report/number_text.hpp"
#include "report/text_table.hpp"
#include "report/worst_text.hpp"

namespace lossgrad {
namespace {

bool is_problem(const CheckResult& result) {
  return result.verdict != Verdict::passed && result.verdict != Verdict::skipped;
}

bool shows_command(const CheckResult& result) {
  return result.verdict == Verdict::failed || result.verdict == Verdict::mistrusted;
}

std::string_view verdict_paint(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return terminal::kGreen;
    case Verdict::failed:
      return terminal::kRedBold;
    case Verdict::mistrusted:
      return terminal::kYellow;
    case Verdict::unsupported:
    case Verdict::skipped:
      return terminal::kDim;
  }
  return {};
}

std::string heading(const CaseId& id) {
  std::string text = id.loss + " " + std::string(name(id.dtype));
  for (const std::string& word : size_words(id)) text += "  " + word;
  for (const std::string& word : parameter_words(id)) text += "  " + word;
  if (id.files.empty()) {
    text += "  scenario " + id.scenario + "  seed " + std::to_string(id.seed);
  } else {
    for (const auto& [argument, path] : id.files)
      text.append("  ").append(argument).append(" ").append(escaped_controls(path));
  }
  text += "  convention " + id.convention + "  backend " + id.backend;
  const std::string block = block_in(id.kernel_id);
  return block.empty() ? text : text + "  block " + block;
}

// The notes of a case are the same in each of its results: each is printed once.
std::vector<std::string> notes_of(std::span<const CheckResult> results) {
  std::vector<std::string> notes;
  for (const CheckResult& result : results) {
    for (const std::string& note : result.data_notes) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
  }
  return notes;
}

std::string max_text(const std::optional<Distribution>& distribution, std::string (*text)(double)) {
  return distribution ? text(distribution->max) : "-";
}

// The usage of the sharper bound has a column only in cases that have such a bound.
bool has_sharp_bound(std::span<const CheckResult> results) {
  return std::any_of(results.begin(), results.end(),
                     [](const CheckResult& result) { return result.sharp_bound_usage.has_value(); });
}

std::vector<TextTable::Column> columns(bool sharp) {
  std::vector<TextTable::Column> columns = {
      {"pass", false, 8}, {"check", false, 13},   {"verdict", false, 7}, {"compared", true, 9},
      {"kinks", true, 6}, {"usage max", true, 9}, {"99.9 %", true, 7}};
  if (sharp) columns.push_back({"sharp max", true, 9});
  for (const char* title : {"abs max", "rel max", "ulp max"}) columns.push_back({title, true, 7});
  return columns;
}

std::vector<std::string> row_cells(const CheckResult& result, bool sharp) {
  std::vector<std::string> cells = {std::string(name(result.case_id.pass)),
                                    result.check,
                                    std::string(name(result.verdict)),
                                    grouped(result.compared),
                                    grouped(result.kinks),
                                    max_text(result.bound_usage, usage_text),
                                    result.bound_usage ? usage_text(result.bound_usage->q999) : "-"};
  if (sharp) cells.push_back(max_text(result.sharp_bound_usage, usage_text));
  cells.push_back(max_text(result.abs_error, scientific));
  cells.push_back(max_text(result.rel_error, scientific));
  cells.push_back(max_text(result.ulp_error, ulp_text));
  return cells;
}

// Counts that deserve a word only when there are any.
std::string rare_counts(const CheckResult& result) {
  std::string text;
  const auto add = [&](std::int64_t count, const std::string& what) {
    if (count != 0) text += (text.empty() ? "" : ", ") + grouped(count) + " " + what;
  };
  add(result.out_of_range, "out of range");
  add(result.unbounded, "without a finite bound");
  add(result.non_finite_items, "with a non-finite input");
  return text;
}

TextTable case_table(std::span<const CheckResult> results, const ConsoleStyle& style) {
  constexpr std::size_t kVerdictColumn = 2;
  const bool sharp = has_sharp_bound(results);
  TextTable table(columns(sharp));
  for (const CheckResult& result : results) {
    table.add_row(row_cells(result, sharp), std::string(style.color ? verdict_paint(result.verdict) : ""),
                  kVerdictColumn);
    if (!result.reason.empty()) table.add_line(painted(result.reason, terminal::kDim, style));
    if (result.part) table.add_line(painted(result.part->text, terminal::kBold, style));
    if (const std::string counts = rare_counts(result); !counts.empty()) {
      table.add_line(painted(counts, terminal::kDim, style));
    }
  }
  return table;
}

void print_elements(std::ostream& out, const CheckResult& result, const ConsoleStyle& style) {
  if (result.worst.empty()) return;
  const std::string title = std::string(name(result.case_id.pass)) + " " + result.check + ", worst elements:";
  out << "\n  " << painted(title, terminal::kBold, style) << '\n';
  const std::size_t shown = std::min(style.worst_shown, result.worst.size());
  for (std::size_t i = 0; i < shown; ++i) {
    for (const std::string& line : worst_lines(result.worst[i])) out << "    " << line << '\n';
  }
}

// "behaves as if alpha carried no gradient (alpha_detached)"; deviations of one rank are the same here.
void print_diagnosis(std::ostream& out, const CheckResult& result, const ConsoleStyle& style) {
  int rank = 0;
  for (const Diagnosis& diagnosis : result.diagnosis) {
    const bool first = rank == 0;
    const char* const lead =
        first ? "behaves as if" : (diagnosis.rank == rank ? "  or, the same here:" : "  less exactly:");
    if (first) out << '\n';
    rank = diagnosis.rank;
    out << "  " << painted(lead, terminal::kBold, style) << ' ' << diagnosis.summary << " (" << diagnosis.name
        << ")\n";
  }
}

void print_commands(std::ostream& out, std::span<const CheckResult> results, const ConsoleStyle& style) {
  std::set<std::string> printed;
  for (const CheckResult& result : results) {
    const std::string& command = result.reproducer.empty() ? result.command : result.reproducer;
    if (!shows_command(result) || command.empty() || !printed.insert(command).second) continue;
    out << "\n  " << painted("repeat:", terminal::kBold, style) << " " << command << '\n';
  }
}

std::string verdict_counts(const Summary& summary, const ConsoleStyle& style) {
  std::string text;
  const auto add = [&](std::int64_t count, Verdict verdict) {
    if (count == 0) return;
    const std::string part = grouped(count) + " " + std::string(name(verdict));
    text += (text.empty() ? "" : ", ") + painted(part, verdict_paint(verdict), style);
  };
  add(summary.passed, Verdict::passed);
  add(summary.failed, Verdict::failed);
  add(summary.mistrusted, Verdict::mistrusted);
  add(summary.unsupported, Verdict::unsupported);
  add(summary.skipped, Verdict::skipped);
  return text;
}

bool nothing_ran(const Run& run) {
  const Summary summary = summarise(run);
  return !run.checks.empty() && summary.passed + summary.failed + summary.mistrusted == 0;
}

}  // namespace

void print_case(std::ostream& out, std::span<const CheckResult> results, const ConsoleStyle& style) {
  if (results.empty()) return;
  if (style.only_problems && std::none_of(results.begin(), results.end(), is_problem)) return;
  out << painted(heading(results.front().case_id), terminal::kBold, style) << '\n';
  for (const std::string& note : notes_of(results)) out << "  " << note << '\n';
  case_table(results, style).print(out, "  ");
  for (const CheckResult& result : results) {
    if (result.verdict == Verdict::failed) print_elements(out, result, style);
    print_diagnosis(out, result, style);
  }
  print_commands(out, results, style);
  out << '\n';
}

void print_summary(std::ostream& out, const Run& run, double seconds, const ConsoleStyle& style) {
  if (!run.complete) out << painted("stopped early; ", terminal::kYellow, style);
  if (run.checks.empty()) {
    out << painted("no check ran", terminal::kRedBold, style);
  } else {
    out << counted(static_cast<std::int64_t>(run.checks.size()), "check") << ": "
        << verdict_counts(summarise(run), style);
  }
  out << " in " << seconds_text(seconds) << (nothing_ran(run) ? "; none ran, which is no pass" : "") << '\n';
}

}  // namespace lossgrad
