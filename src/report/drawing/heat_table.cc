#include "report/drawing/heat_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/drawing/html_parts.h"

namespace orrery {

std::string heat_table_html(const HeatTable& table) {
  std::string out =
      fmt::format("<div class=\"scroll\"><table class=\"heat\"><thead><tr><th>{}</th>",
                  html_text(table.corner));
  for (const std::string& column : table.columns) {
    out += fmt::format("<th class=\"n\">{}</th>", html_text(column));
  }
  out += "</tr></thead><tbody>\n";
  for (const HeatRow& row : table.rows) {
    out += fmt::format("<tr><td>{}</td>", html_text(row.label));
    for (const HeatCell& cell : row.cells) {
      if (cell.heat < 0) {
        out += "<td></td>";
        continue;
      }
      constexpr double kDarkest = 85;  // percent of the colour; text stays readable on it
      out += fmt::format(
          "<td class=\"n\" style=\"background:color-mix(in srgb,var(--{}) {:.0f}%,transparent)\" "
          "data-tip=\"{}\">{}</td>",
          to_text(Category::exposed_tp), kDarkest * std::min(cell.heat, 1.0), html_text(cell.tip),
          html_text(cell.text));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>";
}

}  // namespace orrery
