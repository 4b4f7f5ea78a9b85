// Tables for a terminal and for Markdown.
//
// A table never takes more cells than the style allows. Where its natural size is too wide, in this
// order: bars shrink, columns of no importance are dropped, text columns are shortened with an
// ellipsis, further columns are dropped from the least important. Bars take what is left over.
#pragma once

#include <string>
#include <vector>

#include "report/drawing/bar.h"
#include "report/drawing/text_style.h"

namespace orrery {

struct Column {
  std::string title;
  Align align = Align::left;
  int importance = 1;   // 0: dropped before any text is shortened; the highest is dropped last
  int longest_bar = 0;  // > 0: cells of this column hold bars of at most that many cells
  int shortest = 0;     // text is not shortened below it: less important columns go instead
  bool operator==(const Column&) const = default;
};

// A column of numbers, and one of words.
Column right(std::string title, int importance);
Column left(std::string title, int importance);

struct Cell {
  std::string text;
  Ink ink = {};
  std::vector<BarSegment> bar = {};  // in a bar column, instead of the text
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as columns.
  void add_row(std::vector<Cell> cells);
  // A thin line between the rows before and after.
  void add_rule() { rows_.emplace_back(); }

  [[nodiscard]] std::string text(const TextStyle& style) const;
  // A pipe table; bars are left out.
  [[nodiscard]] std::string markdown() const;

 private:
  struct Layout {
    std::vector<std::size_t> columns;  // that are shown
    std::vector<int> widths;           // of those
    [[nodiscard]] int total() const;
  };
  [[nodiscard]] Layout layout(int width) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;  // an empty row is a rule
};

}  // namespace orrery
