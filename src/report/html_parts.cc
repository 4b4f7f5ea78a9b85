#include "report/html_parts.h"

#include <fmt/format.h>

#include "report/html_text.h"

namespace orrery {

std::string html_section(std::string_view title, std::string_view remark, std::string_view body) {
  return fmt::format("<section>\n<h2>{}</h2>\n<div class=\"remark\">{}</div>\n{}\n</section>\n",
                     html_text(title), html_text(remark), body);
}

std::string html_table(const std::vector<HtmlColumn>& columns, const std::vector<HtmlRow>& rows) {
  const auto align = [](const HtmlColumn& c) { return c.number ? " class=\"n\"" : ""; };
  std::string out = "<div class=\"scroll\"><table><thead><tr>";
  for (const HtmlColumn& c : columns) {
    out += fmt::format("<th{}>{}</th>", align(c), html_text(c.title));
  }
  out += "</tr></thead><tbody>\n";
  for (const HtmlRow& row : rows) {
    out += row.css_class.empty() ? "<tr>" : fmt::format("<tr class=\"{}\">", row.css_class);
    for (std::size_t i = 0; i < columns.size() && i < row.cells.size(); ++i) {
      out += fmt::format("<td{}>{}</td>", align(columns[i]), html_text(row.cells[i]));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>";
}

}  // namespace orrery
