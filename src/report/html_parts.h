// Pieces of markup that the sections of the HTML report share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// A card with a title; `remark` below it may be empty. `body` is markup.
std::string html_section(std::string_view title, std::string_view remark, std::string_view body);

struct HtmlColumn {
  std::string title;
  bool number = false;
};
struct HtmlRow {
  std::vector<std::string> cells;  // text, escaped here
  std::string css_class;
};
std::string html_table(const std::vector<HtmlColumn>& columns, const std::vector<HtmlRow>& rows);

}  // namespace orrery
