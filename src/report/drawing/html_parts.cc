#include "report/drawing/html_parts.h"

#include <fmt/format.h>

#include "report/drawing/html_text.h"

namespace orrery {
namespace {

// "37.5 exposed_tp".
std::string bar_cell(std::string_view cell) {
  const std::size_t space = std::min(cell.find(' '), cell.size());
  return fmt::format(
      "<td class=\"bar mini\"><div style=\"--swatch:var(--{});width:{}%\"></div></td>",
      html_text(space < cell.size() ? cell.substr(space + 1) : ""),
      html_text(cell.substr(0, space)));
}

}  // namespace

std::string html_tile(std::string_view name, std::string_view value, std::string_view more) {
  const std::size_t space = std::min(value.find(' '), value.size());
  const std::string_view unit = space < value.size() ? value.substr(space + 1) : "";
  return fmt::format(
      "<div class=\"tile\"><div class=\"name\">{}</div><div "
      "class=\"value\">{}<small>{}</small></div>"
      "<div class=\"more\">{}</div></div>\n",
      html_text(name), html_text(value.substr(0, space)), html_text(unit), html_text(more));
}

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
      if (columns[i].bar) {
        out += bar_cell(row.cells[i]);
        continue;
      }
      const std::string tip = i < row.tips.size() && !row.tips[i].empty()
                                  ? fmt::format(" data-tip=\"{}\"", html_text(row.tips[i]))
                                  : "";
      out += fmt::format("<td{}{}>{}</td>", align(columns[i]), tip, html_text(row.cells[i]));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>";
}

}  // namespace orrery
