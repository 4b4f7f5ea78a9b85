// Pieces of markup that the sections of the HTML report share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// One figure of many at the head of a page: "Step time", "8.00 s", and a line below. `more` is
// text.
std::string html_tile(std::string_view name, std::string_view value, std::string_view more);

// A card with a title; `remark` below it may be empty. `body` is markup.
std::string html_section(std::string_view title, std::string_view remark, std::string_view body);

struct HtmlColumn {
  std::string title;
  bool number = false;
  bool bar = false;  // cells are "37.5 exposed_tp": percent of the longest bar, and its colour
};
struct HtmlRow {
  std::vector<std::string> cells;  // text, escaped here
  std::string css_class;
  std::vector<std::string> tips = {};  // of the cells, where not empty
};
std::string html_table(const std::vector<HtmlColumn>& columns, const std::vector<HtmlRow>& rows);

}  // namespace orrery
