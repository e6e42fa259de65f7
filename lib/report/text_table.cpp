// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.hpp"

#include <algorithm>
#include <ostream>

#include "report/console_style.hpp"

namespace lossgrad {

void TextTable::add_row(std::vector<std::string> cells, std::string paint, std::size_t painted) {
  cells.resize(columns_.size());
  rows_.push_back({std::move(cells), std::move(paint), painted, {}});
}

void TextTable::add_line(std::string line) {
  if (!rows_.empty()) rows_.back().lines.push_back(std::move(line));
}

void TextTable::print_row(std::ostream& out, const Row& row, const std::vector<std::size_t>& widths) const {
  std::string line;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const std::string space(widths[i] - row.cells[i].size(), ' ');
    const bool painted = !row.paint.empty() && i == row.painted;
    const std::string text =
        painted ? row.paint + row.cells[i] + std::string(terminal::kReset) : row.cells[i];
    line += (i == 0 ? "" : "  ") + (columns_[i].right ? space + text : text + space);
  }
  line.erase(line.find_last_not_of(' ') + 1);
  out << line << '\n';
}

void TextTable::print(std::ostream& out, const std::string& indent) const {
  std::vector<std::size_t> widths;
  Row titles;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    titles.cells.push_back(columns_[i].title);
    std::size_t width = std::max(columns_[i].title.size(), columns_[i].least_width);
    for (const Row& row : rows_) width = std::max(width, row.cells[i].size());
    widths.push_back(width);
  }
  out << indent;
  print_row(out, titles, widths);
  for (const Row& row : rows_) {
    out << indent;
    print_row(out, row, widths);
    for (const std::string& line : row.lines) out << indent << indent << line << '\n';
  }
}

}  // namespace lossgrad
