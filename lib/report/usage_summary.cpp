// SPDX-License-Identifier: Apache-2.0
#include "report/usage_summary.hpp"

#include <algorithm>
#include <ostream>
#include <vector>

#include "report/case_words.hpp"
#include "report/number_text.hpp"
#include "report/text_table.hpp"
#include "results/size_fields.hpp"

namespace lossgrad {
namespace {

struct UsageRow {
  const CheckResult* largest;  // of the results of its loss, dtype, pass and check
  std::int64_t cases = 0, items = 0, compared = 0, kinks = 0;
};

bool of_one_row(const CheckResult& a, const CheckResult& b) {
  return a.case_id.loss == b.case_id.loss && a.case_id.dtype == b.case_id.dtype &&
         a.case_id.pass == b.case_id.pass && a.check == b.check;
}

std::int64_t item_count(const CaseId& id) {
  for (const SizeField& entry : kSizeFields) {
    const auto size = id.sizes.find(std::string(entry.size));
    if (entry.counts_items && size != id.sizes.end()) return size->second;
  }
  return 0;
}

// In the order of their first result.
std::vector<UsageRow> usage_rows(const Run& run) {
  std::vector<UsageRow> rows;
  for (const CheckResult& result : run.checks) {
    if (!result.bound_usage) continue;
    auto row = std::find_if(rows.begin(), rows.end(),
                            [&](const UsageRow& known) { return of_one_row(*known.largest, result); });
    if (row == rows.end()) row = rows.insert(rows.end(), UsageRow{&result});
    if (result.bound_usage->max > row->largest->bound_usage->max) row->largest = &result;
    ++row->cases;
    row->items += item_count(result.case_id);
    row->compared += result.compared;
    row->kinks += result.kinks;
  }
  return rows;
}

// What tells the case from the others of its row.
std::string place(const CaseId& id) {
  std::string text = id.scenario + ", " + id.convention;
  for (const std::string& word : size_words(id)) text += ", " + word;
  for (const std::string& word : parameter_words(id)) text += ", " + word;
  const std::string block = block_in(id.kernel_id);
  return block.empty() ? text : text + ", block " + block;
}

}  // namespace

void print_usage_summary(std::ostream& out, const Run& run) {
  const std::vector<UsageRow> rows = usage_rows(run);
  if (std::none_of(rows.begin(), rows.end(), [](const UsageRow& row) { return row.cases > 1; })) return;
  TextTable table({{"largest usage of", false, 16},
                   {"cases", true, 5},
                   {"items", true, 7},
                   {"compared", true, 9},
                   {"kinks", true, 6},
                   {"usage max", true, 9},
                   {"in", false, 2}});
  for (const UsageRow& row : rows) {
    const CaseId& id = row.largest->case_id;
    table.add_row({id.loss + " " + std::string(name(id.dtype)) + " " + std::string(name(id.pass)) + " " +
                       row.largest->check,
                   grouped(row.cases), grouped(row.items), grouped(row.compared), grouped(row.kinks),
                   usage_text(row.largest->bound_usage->max), place(id)});
  }
  table.print(out, "  ");
  out << '\n';
}

}  // namespace lossgrad
