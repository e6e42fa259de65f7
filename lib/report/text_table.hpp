// SPDX-License-Identifier: Apache-2.0
// A table of text cells in aligned columns; lines may stand between its rows.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace lossgrad {

class TextTable {
 public:
  struct Column {
    std::string title;
    bool right = false;  // numbers are aligned to the right
    std::size_t least_width = 0;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // One cell per column. `paint` is a terminal sequence for the cell of column `painted`; empty for none.
  void add_row(std::vector<std::string> cells, std::string paint = {}, std::size_t painted = 0);
  void add_line(std::string line);  // after the last row
  void print(std::ostream& out, const std::string& indent) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string paint;
    std::size_t painted = 0;
    std::vector<std::string> lines;
  };
  void print_row(std::ostream& out, const Row& row, const std::vector<std::size_t>& widths) const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace lossgrad
