#include "report/drawing/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "report/drawing/figures.h"
#include "report/drawing/html_page.h"
#include "report/drawing/text_style.h"
#include "units/quantity.h"

namespace orrery {
namespace {

constexpr double kCharacter = 6.6;  // width of a character of the charts' 12 px text
using svg::kWidth;
using svg::line;
using svg::number;
using svg::rectangle;

// Lines across at every step from 0 to `highest`, each with its figure, and the unit above them.
std::string value_axis(std::string_view unit, double left, double right, double highest,
                       double step, const auto& y_of) {
  std::string out;
  for (double tick = 0; tick <= highest * (1 + 1e-9); tick += step) {
    out += line(left, y_of(tick), right, y_of(tick), tick == 0 ? "axis" : "grid");
    out += svg::text(left - 8, y_of(tick) + 4, "tick end", fmt::format("{:.6g}", tick));
  }
  return out + svg::text(0, 12, "axis-title", unit);
}

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
  out += value_axis(chart.unit, kLeft, kWidth, top, step, y_of);
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

namespace {

constexpr double kTimeLeft = 92;  // room for kLongestLabel digits of a wide font
constexpr std::size_t kLongestLabel = 10;
constexpr double kTimeRight = kWidth - 8;

// What a tick at that many seconds says.
std::string moment(double t, double step) {
  if (!(step >= 60)) return tick_text(Seconds(t), {});
  const auto [unit, name] = step >= 86400  ? std::pair(86400.0, t > 86400 ? "days" : "day")
                            : step >= 3600 ? std::pair(3600.0, "h")
                                           : std::pair(60.0, "min");
  return fmt::format("{:.6g} {}", t / unit, name);
}

// Of seconds: from two minutes on whole minutes, hours or days.
double nice_time_step(double seconds, int most) {
  if (!(seconds >= 120)) return nice_step(seconds, most);
  for (const double minutes : {1, 2, 5, 10, 30, 60, 120, 180, 360, 720, 1440}) {
    if (60 * minutes * most >= seconds) return 60 * minutes;
  }
  return 86400 * nice_step(seconds / 86400, most);
}

std::string time_ticks(double seconds, double top, double bottom) {
  if (!(seconds > 0)) return "";
  const double step = nice_time_step(seconds, 8);
  std::string out;
  for (double t = 0; t <= seconds * (1 + 1e-9); t += step) {
    const double x = kTimeLeft + t / seconds * (kTimeRight - kTimeLeft);
    out += line(x, top, x, bottom, "grid");
    const char* const place = x > kTimeRight - 20 ? "tick end" : "tick middle";
    out += svg::text(x, bottom + 16, place, t == 0 ? "0" : moment(t, step));
  }
  return out;
}

// The outline of steps from `floor` up, or of the steps alone.
std::string step_path(const std::vector<double>& values, double top_value, double top,
                      double bottom, bool closed) {
  const double pitch = (kTimeRight - kTimeLeft) / static_cast<double>(values.size());
  std::string out = closed ? fmt::format("M{} {}", number(kTimeLeft), number(bottom)) : "";
  double at = -1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double share = std::clamp(values[i] / top_value, 0.0, 1.0);
    const double y = bottom - share * (bottom - top);
    const double x = kTimeLeft + static_cast<double>(i) * pitch;
    if (i == 0) {
      out += fmt::format("{}{} {}", closed ? "L" : "M", number(x), number(y));
    } else if (y != at) {
      out += fmt::format("H{}V{}", number(x), number(y));
    }
    at = y;
  }
  out += fmt::format("H{}", number(kTimeRight));
  if (closed) out += fmt::format("V{}Z", number(bottom));
  return out;
}

}  // namespace

std::string time_chart_svg(const TimeChart& chart) {
  constexpr double kTop = 24;
  constexpr double kBottom = 134;
  const double height = chart.axis ? kBottom + 24 : kBottom + 8;
  double highest = chart.highest;
  if (!(highest > 0)) {
    for (const TimeSeries& s : chart.series) {
      for (const double v : s.values) highest = std::max(highest, v);
    }
    if (!(highest > 0)) highest = 1;
    const double step = nice_step(highest, 4);
    highest = std::ceil(highest / step - 1e-9) * step;
  }
  const double step = nice_step(highest, 4);
  std::string out = svg::open(kWidth, height, chart.name);
  out += value_axis(chart.unit, kTimeLeft, kTimeRight, highest, step,
                    [&](double tick) { return kBottom - tick / highest * (kBottom - kTop); });
  if (chart.axis) out += time_ticks(chart.seconds, kTop, kBottom);
  bool first = true;
  for (const TimeSeries& s : chart.series) {
    if (s.values.empty()) continue;
    out += fmt::format(R"(<path class="{}{}" d="{}" data-tip="{}"></path>)",
                       first ? "c-" : "over o-", html_text(s.css_class),
                       step_path(s.values, highest, kTop, kBottom, first), html_text(s.label));
    first = false;
  }
  return out + "</svg>";
}

std::string band_chart_svg(const BandChart& chart) {
  const double row = chart.bands.size() > 32 ? 12 : chart.bands.size() > 16 ? 18 : 26;
  const double gap = row > 16 ? 4 : 2;
  constexpr double kTop = 6;
  const double bottom = kTop + row * static_cast<double>(chart.bands.size());
  std::string out = svg::open(kWidth, bottom + 26, chart.name);
  out += time_ticks(chart.seconds, kTop, bottom);
  double top = kTop;
  for (const Band& band : chart.bands) {
    out += svg::text(kTimeLeft - 8, top + row / 2 + 3, "tick end",
                     shortened(band.label, kLongestLabel));
    std::vector<double> below;
    for (std::size_t c = 0; c < band.shares.size() && c < chart.css_classes.size(); ++c) {
      const std::vector<double>& shares = band.shares[c];
      if (shares.empty()) continue;
      below.resize(shares.size(), 0);
      const double pitch = (kTimeRight - kTimeLeft) / static_cast<double>(shares.size());
      std::string path;
      for (std::size_t i = 0; i < shares.size(); ++i) {
        const double from = below[i];
        below[i] = std::min(1.0, from + std::max(0.0, shares[i]));
        if (below[i] - from < 0.004) continue;
        // Moments that look alike are one shape.
        std::size_t end = i + 1;
        for (; end < shares.size() && below[end] == from && shares[end] == shares[i]; ++end) {
          below[end] = below[i];
        }
        const double width = static_cast<double>(end - i) * pitch + 0.2;
        fmt::format_to(std::back_inserter(path), "M{} {}h{}v{}h-{}z",
                       number(kTimeLeft + static_cast<double>(i) * pitch),
                       number(top + (row - gap) * (1 - below[i])), number(width),
                       number((row - gap) * (below[i] - from)), number(width));
        i = end - 1;
      }
      if (path.empty()) continue;
      out += fmt::format(R"(<path class="c-{}" d="{}"></path>)", html_text(chart.css_classes[c]),
                         path);
    }
    out += fmt::format(
        R"(<rect class="band" x="{}" y="{}" width="{}" height="{}" data-tip="{}"></rect>)",
        number(kTimeLeft), number(top), number(kTimeRight - kTimeLeft), number(row - gap),
        html_text(band.tip));
    top += row;
  }
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
