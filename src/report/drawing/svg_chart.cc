#include "report/drawing/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/drawing/html_page.h"
#include "report/drawing/text_style.h"

namespace orrery {
namespace {

using svg::kCharacter;
using svg::kWidth;
using svg::line;
using svg::number;
using svg::rectangle;

std::string axis_number(double x) { return fmt::format("{:.6g}", x); }

double sum_of(std::span<const ChartSegment> segments) {
  double sum = 0;
  for (const ChartSegment& s : segments) sum += s.value;
  return sum;
}

}  // namespace

double nice_step(double highest, int most) {
  if (!(highest > 0) || !std::isfinite(highest) || most < 1) return 1;
  const double least = highest / most;
  const double power = std::pow(10.0, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-12)) return factor * power;
  }
  return 10 * power;
}

double nice_time_step(double seconds, int most) {
  if (!(seconds >= 120)) return nice_step(seconds, most);
  for (const double minutes : {1, 2, 5, 10, 30, 60, 120, 180, 360, 720, 1440}) {
    if (60 * minutes * most >= seconds) return 60 * minutes;
  }
  return 86400 * nice_step(seconds / 86400, most);
}

std::string stacked_bar_svg(std::span<const ChartSegment> segments, std::string_view name) {
  constexpr double kHeight = 46;
  std::string out = svg::open(kWidth, kHeight, name);
  const double sum = sum_of(segments);
  double x = 0;
  for (const ChartSegment& s : segments) {
    const double width = sum > 0 ? s.value / sum * kWidth : 0;
    // A hairline of background parts neighbours, unless that would hide a thin one.
    const double gap = width > 4 ? 1.5 : 0;
    out += rectangle(x, 0, width - gap, kHeight, "c-" + s.css_class, s.tip);
    if (display_width(s.label) * kCharacter + 16 < width) {
      out += svg::text(x + 9, kHeight / 2 + 4.5, "inside", s.label);
    }
    x += width;
  }
  return out + "</svg>";
}

std::string column_chart_svg(const ColumnChart& chart) {
  constexpr double kHeight = 300;
  constexpr double kLeft = 56;
  constexpr double kTop = 26;
  constexpr double kBottom = kHeight - 42;
  double highest = chart.limit;
  for (const ChartColumn& c : chart.columns) highest = std::max(highest, sum_of(c.segments));
  if (!(highest > 0)) highest = 1;
  const double step = nice_step(highest * 1.04, 5);
  const double top = std::max(highest * 1.04, step);
  const auto y_of = [&](double value) { return kBottom - value / top * (kBottom - kTop); };

  std::string out = svg::open(kWidth, kHeight, chart.name);
  for (double tick = 0; tick <= top * (1 + 1e-9); tick += step) {
    out += line(kLeft, y_of(tick), kWidth, y_of(tick), tick == 0 ? "axis" : "grid");
    out += svg::text(kLeft - 8, y_of(tick) + 4, "tick end", axis_number(tick));
  }
  out += svg::text(0, 12, "axis-title", chart.unit);
  const double pitch =
      (kWidth - kLeft - 12) / static_cast<double>(std::max<std::size_t>(chart.columns.size(), 1));
  const double width = std::clamp(pitch * 0.72, 0.5, 56.0);
  const auto every = static_cast<std::size_t>(std::max(1.0, std::ceil(30 / pitch)));
  for (std::size_t i = 0; i < chart.columns.size(); ++i) {
    const double centre = kLeft + 6 + pitch * (static_cast<double>(i) + 0.5);
    double value = 0;
    for (const ChartSegment& s : chart.columns[i].segments) {
      if (s.value <= 0) continue;
      out += rectangle(centre - width / 2, y_of(value + s.value), width,
                       y_of(value) - y_of(value + s.value), "c-" + s.css_class, s.tip);
      value += s.value;
    }
    const double half = display_width(chart.columns[i].label) * kCharacter / 2;
    if (i % every == 0 && centre + half <= kWidth) {
      out += svg::text(centre, kBottom + 17, "tick middle", chart.columns[i].label);
    }
  }
  if (chart.limit > 0) {
    out += line(kLeft, y_of(chart.limit), kWidth, y_of(chart.limit), "limit");
    out += svg::text(kWidth, y_of(chart.limit) - 6, "limit-label end", chart.limit_label);
  }
  out += svg::text(kLeft + (kWidth - kLeft) / 2, kHeight - 4, "axis-title middle", chart.axis);
  return out + "</svg>";
}

}  // namespace orrery

namespace orrery::svg {

std::string number(double x) {
  std::string text = fmt::format("{:.2f}", x);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string open(double width, double height, std::string_view name) {
  return fmt::format(R"(<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">)",
                     number(width), number(height), html_text(name));
}

std::string text(double x, double y, std::string_view css_class, std::string_view text) {
  return fmt::format(R"(<text class="{}" x="{}" y="{}">{}</text>)", css_class, number(x), number(y),
                     html_text(text));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  return fmt::format(R"(<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"></line>)", css_class,
                     number(x1), number(y1), number(x2), number(y2));
}

std::string rectangle(double x, double y, double width, double height, std::string_view css_class,
                      std::string_view tip) {
  return fmt::format(
      R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}" data-tip="{}"></rect>)",
      html_text(css_class), number(x), number(y), number(std::max(width, 0.0)),
      number(std::max(height, 0.0)), html_text(tip));
}

}  // namespace orrery::svg
