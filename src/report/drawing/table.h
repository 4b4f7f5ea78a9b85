// Tables: one description for a terminal, for Markdown and for a page.
//
// Where its natural size is wider than the style allows, columns of no importance are dropped, then
// those of the least importance until the others can be narrow enough; texts of these are shortened
// with an ellipsis. Bars take what is left over. Columns that tell rows apart are neither shortened
// nor dropped: where they alone are too wide, every row is written as a paragraph. Where nothing
// may be cut (a pipe), texts go on in further lines instead of being shortened, and columns that
// tell rows apart may exceed the width rather than become paragraphs. A page shows all columns;
// Markdown leaves bars out.
#pragma once

#include <concepts>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "outcome/enum_names.h"
#include "report/drawing/figures.h"
#include "report/drawing/text_style.h"
#include "units/quantity_text.h"

namespace orrery {

// Bars and sparklines from Unicode block characters.

// A part of a bar: its share of the bar's whole width, and its colour.
struct BarSegment {
  double share = 0;  // 0 to 1
  Ink ink = {};
  std::string_view css_class = {};  // on a page: its colour there,
  std::string tip = {};             // and what the pointer shows of a part of several
};

// Exactly `width` cells; what the segments leave is blank. One segment ends at an eighth of a cell;
// several are rounded by their running sum, so that the whole is never longer than its parts.
// Without colour neighbours of a stacked bar differ by shade.
std::string bar(std::span<const BarSegment> segments, int width, const TextStyle& style);

// One character a value, lowest to highest; at most `width` values are kept (the largest of each
// group, so that a peak is never lost).
std::string sparkline(std::span<const double> values, int width);
// The same from `low` to `high`, so that several can be compared; a blank for `low` itself.
std::string sparkline(std::span<const double> values, int width, double low, double high);

enum class Form { any, text, page, none };  // Markdown is text

struct Column {
  std::string title;
  Align align = Align::left;
  int importance = 1;   // 0: dropped before any text is shortened; the highest is dropped last
  int longest_bar = 0;  // > 0: cells of this column hold bars of at most that many cells
  int shortest = 0;     // text is not shortened below it: less important columns go instead
  bool tells_rows_apart = false;
  Form form = Form::any;
  std::string page_title = title;
  int longest_on_page = 0;  // > 0: text is cut to it

  [[nodiscard]] Column only(Form where) &&;
  [[nodiscard]] Column shown_if(bool condition) &&;
  [[nodiscard]] Column at_least(int width) &&;
  [[nodiscard]] Column telling_rows_apart() &&;
  [[nodiscard]] Column on_page_as(std::string other_title) &&;
  [[nodiscard]] Column cut_on_page(int longest) &&;
};

// A column of numbers, one of words, one of bars, and one of bars on a page alone.
Column right(std::string title, int importance = 1);
Column left(std::string title, int importance = 1);
Column bars(int importance, int longest);
Column page_bars();

struct Cell {
  std::string text;
  Ink ink = {};
  std::vector<BarSegment> bar = {};  // in a bar column, instead of the text
  std::string tip = {};              // on a page
  // On a page: name of the colour shown before the text, as in a legend.
  std::string_view swatch = {};

  [[nodiscard]] Cell with_tip(std::string_view whole) &&;
};

// Text, a whole number with its thousands apart, a quantity with its unit, the name of an
// enumerator, or a cell as it is.
template <class T>
Cell cell(const T& value, Ink ink = {}) {
  if constexpr (std::same_as<T, Cell>) {
    return value;
  } else if constexpr (std::convertible_to<T, std::string_view>) {
    return {std::string(std::string_view(value)), ink};
  } else if constexpr (std::integral<T>) {
    return {grouped(static_cast<std::int64_t>(value)), ink};
  } else {
    return {std::string(to_text(value)), ink};
  }
}
template <class T>
Cell bold(const T& value) {
  return cell(value, {.bold = true});
}
template <class T>
Cell dim(const T& value) {
  return cell(value, {.dim = true});
}
inline Cell bar_of(std::vector<BarSegment> segments) {
  return {.text = {}, .bar = std::move(segments)};
}

// How a row looks on a page: one that stands out, the head of a group and its parts, the sum.
enum class RowLook { strong, group, part, total };

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  template <std::same_as<Column>... Columns>
  explicit Table(Columns... columns) : columns_{std::move(columns)...} {}

  // As many cells as columns.
  void add_row(std::vector<Cell> cells);
  template <class... Values>
  void row(const Values&... values) {
    add_row({cell(values)...});
  }
  template <class... Values>
  void row_in(Ink ink, const Values&... values) {
    add_row({cell(values, ink)...});
  }
  // A thin line between the rows before and after.
  void add_rule() { rows_.emplace_back(); }
  // On a page the latest row looks like that.
  void mark(RowLook look) { looks_[rows_.size() - 1] = look; }

  [[nodiscard]] bool empty() const { return rows_.empty(); }
  [[nodiscard]] std::string text(const TextStyle& style) const;
  // A pipe table; bars are left out.
  [[nodiscard]] std::string markdown() const;
  [[nodiscard]] std::string html() const;

 private:
  struct Layout {
    std::vector<std::size_t> columns;  // that are shown; none: rows are paragraphs
    std::vector<int> widths;           // of those
    [[nodiscard]] int total() const;
  };
  [[nodiscard]] Layout layout(const TextStyle& style) const;
  [[nodiscard]] std::string paragraphs(const TextStyle& style) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;  // an empty row is a rule
  std::map<std::size_t, RowLook> looks_;
};

// A table below its heading; nothing of a table without rows.
std::string section(std::string_view title, std::string_view remark, const Table& table,
                    const TextStyle& style);

// A table of figures whose cells are the darker, the larger the figure is.
struct HeatCell {
  std::string text;
  double heat = 0;  // share of the darkest, 0 to 1; below 0: nothing is there
  std::string tip = {};
};

struct HeatRow {
  std::string label;
  std::vector<HeatCell> cells = {};  // one for each column
};

struct HeatTable {
  std::string corner;  // the head of the column of labels
  std::vector<std::string> columns = {};
  std::vector<HeatRow> rows = {};
};

// All texts are escaped.
std::string heat_table_html(const HeatTable& table);

}  // namespace orrery
