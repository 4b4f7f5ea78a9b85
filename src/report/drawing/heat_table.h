// A table of figures whose cells are the darker, the larger the figure is.
#pragma once

#include <string>
#include <vector>

namespace orrery {

struct HeatCell {
  std::string text;
  double heat = 0;  // share of the darkest, 0 to 1; below 0: nothing is there
  std::string tip = {};
};

struct HeatRow {
  std::string label;
  std::vector<HeatCell> cells;  // one for each column
};

struct HeatTable {
  std::string corner;  // the head of the column of labels
  std::vector<std::string> columns;
  std::vector<HeatRow> rows;
};

// All texts are escaped.
std::string heat_table_html(const HeatTable& table);

}  // namespace orrery
