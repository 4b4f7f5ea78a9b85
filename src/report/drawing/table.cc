#include "report/drawing/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "outcome/invariant.h"
#include "report/drawing/html_page.h"

namespace orrery {
namespace {

constexpr int kMargin = 2;  // left of the table and between columns
constexpr int kShortestBar = 8;
constexpr int kShortestText = 8;

std::string spaces(int n) { return std::string(static_cast<std::size_t>(std::max(0, n)), ' '); }

bool is_in(const Column& column, Form form) {
  return column.form == Form::any || column.form == form;
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

// A cell that holds one bar, or a whole of parts that have tips.
std::string html_bar(std::span<const BarSegment> bar, bool narrow) {
  if (bar.empty()) return "<td></td>";
  if (bar.size() == 1 && bar[0].tip.empty()) {
    return fmt::format(
        "<td class=\"{}\"><div style=\"--swatch:var(--{});width:{:.1f}%\"></div></td>",
        narrow ? "bar mini" : "bar", bar[0].css_class.empty() ? "accent" : bar[0].css_class,
        100 * std::clamp(bar[0].share, 0.0, 1.0));
  }
  std::string parts;
  for (const BarSegment& part : bar) {
    if (!(part.share > 0)) continue;
    parts += fmt::format("<i style=\"--swatch:var(--{});width:{:.2f}%\" data-tip=\"{}\"></i>",
                         part.css_class, 100 * part.share, html_text(part.tip));
  }
  return fmt::format("<td class=\"stack\"><div>{}</div></td>", parts);
}

}  // namespace

Column right(std::string title, int importance) {
  return {.title = std::move(title), .align = Align::right, .importance = importance};
}
Column left(std::string title, int importance) {
  return {.title = std::move(title), .importance = importance};
}
Column bars(int importance, int longest) {
  return {.title = {}, .importance = importance, .longest_bar = longest};
}
Column page_bars() { return bars(0, 1).only(Form::page); }

Column Column::only(Form where) && {
  form = where;
  return std::move(*this);
}
Column Column::shown_if(bool condition) && {
  if (!condition) form = Form::none;
  return std::move(*this);
}
Column Column::at_least(int width) && {
  shortest = width;
  return std::move(*this);
}
Column Column::telling_rows_apart() && {
  tells_rows_apart = true;
  return std::move(*this);
}
Column Column::on_page_as(std::string other_title) && {
  page_title = std::move(other_title);
  return std::move(*this);
}
Column Column::cut_on_page(int longest) && {
  longest_on_page = longest;
  return std::move(*this);
}

Cell Cell::with_tip(std::string_view whole) && {
  tip = whole;
  return std::move(*this);
}

void Table::add_row(std::vector<Cell> cells) {
  ORRERY_INVARIANT(cells.size() == columns_.size());
  for (Cell& cell : cells) cell.text = printable(cell.text);
  rows_.push_back(std::move(cells));
}

int Table::Layout::total() const {
  return std::accumulate(widths.begin(), widths.end(), kMargin * static_cast<int>(widths.size()));
}

Table::Layout Table::layout(const TextStyle& style) const {
  const int width = usable_width(style);
  Layout out;
  std::vector<int> least(columns_.size());  // that texts are shortened or broken to
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    if (!is_in(column, Form::text)) continue;
    int natural = display_width(column.title);
    int unbroken = natural;  // the longest piece that stays in one line
    for (const auto& row : rows_) {
      if (row.empty()) continue;
      natural = std::max(natural, display_width(row[c].text));
      for (const std::string& piece : lines_within(row[c].text, 0)) {
        unbroken = std::max(unbroken, display_width(piece));
      }
    }
    if (column.longest_bar > 0) natural = std::max(natural, kShortestBar);
    const bool fixed = column.align == Align::right || column.longest_bar > 0 ||
                       (style.cuts && column.tells_rows_apart);
    const int shortest = style.cuts ? std::max(kShortestText, column.shortest) : unbroken;
    least[c] = fixed ? natural : std::min(natural, shortest);
    out.columns.push_back(c);
    out.widths.push_back(natural);
  }
  const auto drop_least_important = [&](int up_to) {
    std::size_t victim = out.columns.size();
    for (std::size_t i = 0; i < out.columns.size(); ++i) {
      const int importance = columns_[out.columns[i]].importance;
      if (importance > up_to || columns_[out.columns[i]].tells_rows_apart) continue;
      if (victim == out.columns.size() || importance <= columns_[out.columns[victim]].importance) {
        victim = i;
      }
    }
    if (victim == out.columns.size()) return false;
    out.columns.erase(out.columns.begin() + static_cast<std::ptrdiff_t>(victim));
    out.widths.erase(out.widths.begin() + static_cast<std::ptrdiff_t>(victim));
    return true;
  };
  while (out.total() > width && drop_least_important(0)) {
  }
  const auto least_total = [&] {
    int total = 0;
    for (const std::size_t c : out.columns) total += kMargin + least[c];
    return total;
  };
  while (least_total() > width && out.columns.size() > 1 &&
         drop_least_important(std::numeric_limits<int>::max())) {
  }
  while (out.total() > width) {
    std::size_t widest = out.columns.size();
    for (std::size_t i = 0; i < out.columns.size(); ++i) {
      const bool can_shrink = out.widths[i] > least[out.columns[i]];
      if (can_shrink && (widest == out.columns.size() || out.widths[i] > out.widths[widest])) {
        widest = i;
      }
    }
    if (widest == out.columns.size()) break;
    --out.widths[widest];
  }
  if (style.cuts && out.total() > width) {
    if (columns_[out.columns[0]].tells_rows_apart) return {};
    out.widths[0] = width - kMargin;
  }
  for (std::size_t i = 0; i < out.columns.size(); ++i) {
    const int room = std::max(0, usable_width(style) - out.total());
    const int longest = columns_[out.columns[i]].longest_bar;
    if (longest > out.widths[i]) out.widths[i] += std::min(room, longest - out.widths[i]);
  }
  return out;
}

std::string Table::paragraphs(const TextStyle& style) const {
  TextStyle uncut = style;
  uncut.cuts = false;
  std::string out;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (!is_in(columns_[c], Form::text) || row[c].text.empty()) continue;
      line += (line.empty() ? "" : " · ") + columns_[c].title +
              (columns_[c].title.empty() ? "" : "\u00A0") + row[c].text;
    }
    out += wrapped(line, kMargin, uncut);
  }
  return out;
}

std::string Table::text(const TextStyle& style) const {
  const Layout shape = layout(style);
  if (shape.columns.empty()) return paragraphs(style);
  std::string out;
  const auto rule = [&] {
    std::string line;
    for (int i = 0; i < shape.total() - kMargin; ++i) line += "─";
    out += spaces(kMargin) + painted(line, {.dim = true}, style) + "\n";
  };
  const bool titled = std::ranges::any_of(
      columns_, [](const Column& c) { return is_in(c, Form::text) && !c.title.empty(); });
  if (titled) {
    std::string line;
    for (std::size_t i = 0; i < shape.columns.size(); ++i) {
      const Column& column = columns_[shape.columns[i]];
      line += spaces(kMargin) + fitted(column.title, shape.widths[i], column.align);
    }
    out += painted(without_trailing_spaces(line), {.dim = true}, style) + "\n";
    rule();
  }
  for (const auto& row : rows_) {
    if (row.empty()) {
      rule();
      continue;
    }
    std::size_t lines = 1;
    std::vector<std::vector<std::string>> texts;
    for (std::size_t i = 0; i < shape.columns.size(); ++i) {
      const std::string& text = row[shape.columns[i]].text;
      texts.push_back(style.cuts ? std::vector{text} : lines_within(text, shape.widths[i]));
      lines = std::max(lines, texts.back().size());
    }
    for (std::size_t l = 0; l < lines; ++l) {
      std::string line;
      for (std::size_t i = 0; i < shape.columns.size(); ++i) {
        const Column& column = columns_[shape.columns[i]];
        const Cell& cell = row[shape.columns[i]];
        line += spaces(kMargin);
        if (!cell.bar.empty() && l == 0) {
          line += bar(cell.bar, shape.widths[i], style);
        } else {
          const std::string_view text = l < texts[i].size() ? texts[i][l] : std::string_view();
          line += painted(fitted(text, shape.widths[i], column.align), cell.ink, style);
        }
      }
      out += without_trailing_spaces(line) + "\n";
    }
  }
  return out;
}

std::string Table::markdown() const {
  const auto escaped = [](const std::string& text) {
    std::string out;
    for (const char c : text) {
      if (c == '|' || c == '\\') out += '\\';
      out += c;
    }
    return out;
  };
  std::string head = "|";
  std::string under = "|";
  for (const Column& column : columns_) {
    if (column.longest_bar > 0 || !is_in(column, Form::text)) continue;
    head.append(" ").append(escaped(column.title)).append(" |");
    under += column.align == Align::right ? " ---: |" : " --- |";
  }
  std::string out = head + "\n" + under + "\n";
  for (const auto& row : rows_) {
    if (row.empty()) continue;
    out += "|";
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (columns_[c].longest_bar > 0 || !is_in(columns_[c], Form::text)) continue;
      out.append(" ").append(escaped(row[c].text)).append(" |");
    }
    out += "\n";
  }
  return out;
}

namespace {

// A plan may go on in another line behind each of its settings.
std::string breaks_at_commas(const std::string& markup) {
  std::string out;
  for (std::size_t i = 0; i < markup.size(); ++i) {
    out += markup[i];
    if (markup[i] == ',' && i + 1 < markup.size() && markup[i + 1] >= 'a' && markup[i + 1] <= 'z') {
      out += "<wbr>";
    }
  }
  return out;
}

}  // namespace

std::string Table::html() const {
  std::string out = "<div class=\"scroll\"><table><thead><tr>";
  const auto align = [](const Column& c) { return c.align == Align::right ? " class=\"n\"" : ""; };
  for (const Column& c : columns_) {
    if (!is_in(c, Form::page)) continue;
    out += fmt::format("<th{}>{}</th>", align(c), html_text(c.page_title));
  }
  out += "</tr></thead><tbody>\n";
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (rows_[r].empty()) continue;
    const auto look = looks_.find(r);
    out += look == looks_.end() ? "<tr>" : fmt::format("<tr class=\"{}\">", to_text(look->second));
    for (std::size_t i = 0; i < rows_[r].size(); ++i) {
      const Column& column = columns_[i];
      const Cell& cell = rows_[r][i];
      if (!is_in(column, Form::page)) continue;
      if (column.longest_bar > 0) {
        out += html_bar(cell.bar, column.longest_bar == 1);
        continue;
      }
      if (!cell.swatch.empty()) {
        out += fmt::format("<td class=\"key\" style=\"--swatch:var(--{})\">{}</td>", cell.swatch,
                           html_text(cell.text.substr(cell.text.find_first_not_of(' '))));
        continue;
      }
      const std::string tip =
          cell.tip.empty() ? "" : fmt::format(" data-tip=\"{}\"", html_text(cell.tip));
      const int longest = column.longest_on_page;
      constexpr std::size_t kName = 24;  // characters that stay on one line of a wide page
      const bool name = column.align == Align::left && cell.text.size() <= kName &&
                        cell.text.find_first_of(", ") == std::string::npos &&
                        cell.text.find('-') != std::string::npos;
      out += fmt::format(
          "<td{}{}>{}</td>", name ? " class=\"name\"" : align(column), tip,
          breaks_at_commas(html_text(longest > 0 ? shortened(cell.text, longest) : cell.text)));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>";
}

std::string section(std::string_view title, std::string_view remark, const Table& table,
                    const TextStyle& style) {
  return table.empty() ? "" : heading(title, remark, style) + table.text(style);
}

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

namespace {

std::string repeated(std::string_view glyph, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += glyph;
  return out;
}

double clamped(double share) { return std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0; }

std::string single(const BarSegment& segment, int width, const TextStyle& style) {
  static constexpr std::array<std::string_view, 8> kEighths = {"",  "▏", "▎", "▍",
                                                               "▌", "▋", "▊", "▉"};
  int eighths = static_cast<int>(std::lround(clamped(segment.share) * width * 8));
  if (segment.share > 0) eighths = std::max(eighths, 1);
  std::string text = repeated("█", eighths / 8);
  text += kEighths[static_cast<std::size_t>(eighths % 8)];
  const int used = (eighths + 7) / 8;
  return painted(text, segment.ink, style) +
         std::string(static_cast<std::size_t>(width - used), ' ');
}

}  // namespace

std::string bar(std::span<const BarSegment> segments, int width, const TextStyle& style) {
  if (width <= 0) return "";
  if (segments.size() == 1) return single(segments[0], width, style);
  static constexpr std::array<std::string_view, 4> kShades = {"█", "▓", "▒", "░"};
  std::string out;
  double sum = 0;
  int used = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    sum = std::min(1.0, sum + clamped(segments[i].share));
    const int until = static_cast<int>(std::lround(sum * width));
    const std::string_view glyph = style.colour ? kShades[0] : kShades[i % kShades.size()];
    out += painted(repeated(glyph, until - used), segments[i].ink, style);
    used = until;
  }
  return out + std::string(static_cast<std::size_t>(width - used), ' ');
}

namespace {

constexpr std::array<std::string_view, 8> kLevels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

// The largest of each group of values.
std::vector<double> grouped_to(std::span<const double> values, int width) {
  const std::size_t columns = std::min(values.size(), static_cast<std::size_t>(width));
  std::vector<double> out;
  for (std::size_t i = 0; i < columns; ++i) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / columns);
    const auto last =
        values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / columns);
    out.push_back(*std::max_element(first, last));
  }
  return out;
}

std::string_view level(double share) {
  return kLevels[static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * 7))];
}

}  // namespace

std::string sparkline(std::span<const double> values, int width) {
  if (values.empty() || width <= 0) return "";
  const std::vector<double> shown = grouped_to(values, width);
  const auto [low, high] = std::ranges::minmax_element(shown);
  std::string out;
  for (const double v : shown) out += level(*high > *low ? (v - *low) / (*high - *low) : 0.5);
  return out;
}

std::string sparkline(std::span<const double> values, int width, double low, double high) {
  if (values.empty() || width <= 0) return "";
  std::string out;
  for (const double v : grouped_to(values, width)) {
    out += v <= low || high <= low ? std::string_view(" ") : level((v - low) / (high - low));
  }
  return out;
}

}  // namespace orrery
