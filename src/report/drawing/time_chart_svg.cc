#include "report/drawing/time_chart_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "report/drawing/figures.h"
#include "report/drawing/html_page.h"
#include "report/drawing/svg_chart.h"
#include "report/drawing/text_style.h"
#include "units/quantity.h"

namespace orrery {
namespace {

using svg::kWidth;
using svg::line;
using svg::number;
constexpr double kLeft = 92;  // room for kLongestLabel digits of a wide font
constexpr std::size_t kLongestLabel = 10;
constexpr double kRight = kWidth - 8;

// What a tick at that many seconds says.
std::string moment(double t, double step) {
  if (!(step >= 60)) return tick_text(Seconds(t), {});
  const auto [unit, name] = step >= 86400  ? std::pair(86400.0, t > 86400 ? "days" : "day")
                            : step >= 3600 ? std::pair(3600.0, "h")
                                           : std::pair(60.0, "min");
  return fmt::format("{:.6g} {}", t / unit, name);
}

std::string time_ticks(double seconds, double top, double bottom) {
  if (!(seconds > 0)) return "";
  const double step = nice_time_step(seconds, 8);
  std::string out;
  for (double t = 0; t <= seconds * (1 + 1e-9); t += step) {
    const double x = kLeft + t / seconds * (kRight - kLeft);
    out += line(x, top, x, bottom, "grid");
    const char* const place = x > kRight - 20 ? "tick end" : "tick middle";
    out += svg::text(x, bottom + 16, place, t == 0 ? "0" : moment(t, step));
  }
  return out;
}

// The outline of steps from `floor` up, or of the steps alone.
std::string step_path(const std::vector<double>& values, double top_value, double top,
                      double bottom, bool closed) {
  const double pitch = (kRight - kLeft) / static_cast<double>(values.size());
  std::string out = closed ? fmt::format("M{} {}", number(kLeft), number(bottom)) : "";
  double at = -1;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double share = std::clamp(values[i] / top_value, 0.0, 1.0);
    const double y = bottom - share * (bottom - top);
    const double x = kLeft + static_cast<double>(i) * pitch;
    if (i == 0) {
      out += fmt::format("{}{} {}", closed ? "L" : "M", number(x), number(y));
    } else if (y != at) {
      out += fmt::format("H{}V{}", number(x), number(y));
    }
    at = y;
  }
  out += fmt::format("H{}", number(kRight));
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
  for (double tick = 0; tick <= highest * (1 + 1e-9); tick += step) {
    const double y = kBottom - tick / highest * (kBottom - kTop);
    out += line(kLeft, y, kRight, y, tick == 0 ? "axis" : "grid");
    out += svg::text(kLeft - 8, y + 4, "tick end", fmt::format("{:.6g}", tick));
  }
  out += svg::text(0, 12, "axis-title", chart.unit);
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
    out +=
        svg::text(kLeft - 8, top + row / 2 + 3, "tick end", shortened(band.label, kLongestLabel));
    std::vector<double> below;
    for (std::size_t c = 0; c < band.shares.size() && c < chart.css_classes.size(); ++c) {
      const std::vector<double>& shares = band.shares[c];
      if (shares.empty()) continue;
      below.resize(shares.size(), 0);
      const double pitch = (kRight - kLeft) / static_cast<double>(shares.size());
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
                       number(kLeft + static_cast<double>(i) * pitch),
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
        number(kLeft), number(top), number(kRight - kLeft), number(row - gap), html_text(band.tip));
    top += row;
  }
  return out + "</svg>";
}

}  // namespace orrery
