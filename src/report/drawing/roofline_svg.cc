#include "report/drawing/roofline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/drawing/html_page.h"
#include "report/drawing/svg_chart.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

using svg::kWidth;
constexpr double kHeight = 360;
constexpr double kLeft = 96;
constexpr double kRight = kWidth - 20;
constexpr double kTop = 20;
constexpr double kBottom = kHeight - 46;

using svg::line;
using svg::number;

struct LogAxis {
  double low = 0;  // exponents of ten
  double high = 1;
  double from = 0;  // coordinates
  double to = 1;
  [[nodiscard]] double at(double value) const {
    return from + (std::log10(value) - low) / (high - low) * (to - from);
  }
};

LogAxis axis_over(double least, double greatest, double from, double to) {
  LogAxis axis = {.from = from, .to = to};
  axis.low = std::floor(std::log10(least));
  axis.high = std::max(axis.low + 1, std::ceil(std::log10(greatest)));
  return axis;
}

std::string grid(const LogAxis& x, const LogAxis& y) {
  std::string out;
  for (double e = x.low; e <= x.high + 1e-9; ++e) {
    const double value = std::pow(10.0, e);
    out += line(x.at(value), kTop, x.at(value), kBottom, "grid");
    out += svg::text(x.at(value), kBottom + 17, "tick middle", fmt::format("{:g}", value));
  }
  for (double e = y.low; e <= y.high + 1e-9; ++e) {
    const double value = std::pow(10.0, e);
    out += line(kLeft, y.at(value), kRight, y.at(value), "grid");
    out += svg::text(kLeft - 8, y.at(value) + 4, "tick end", to_text(FlopsPerSecond(value)));
  }
  out += line(kLeft, kBottom, kRight, kBottom, "axis");
  return out + svg::text((kLeft + kRight) / 2, kHeight - 6, "axis-title middle", "FLOP per byte");
}

}  // namespace

std::string roofline_svg(const RooflineChart& chart) {
  std::vector<const RooflinePoint*> points;
  for (const RooflinePoint& p : chart.points) {
    if (p.intensity > 0 && p.rate.value() > 0) points.push_back(&p);
  }
  if (points.empty() || chart.peaks.empty() || !(chart.bandwidth.value() > 0)) return "";
  double highest_peak = 0;
  for (const RooflinePeak& p : chart.peaks) highest_peak = std::max(highest_peak, p.rate.value());
  double least_x = highest_peak / chart.bandwidth.value();
  double greatest_x = least_x * 4;
  double least_y = highest_peak;
  double greatest_y = highest_peak;
  for (const RooflinePoint* p : points) {
    least_x = std::min(least_x, p->intensity);
    greatest_x = std::max(greatest_x, p->intensity);
    least_y = std::min(least_y, p->rate.value());
    greatest_y = std::max(greatest_y, p->rate.value());
  }
  // What is far below everything else would leave no room for it.
  least_y = std::max(least_y, greatest_y * 1e-6);
  const LogAxis x = axis_over(least_x, greatest_x, kLeft, kRight);
  const LogAxis y = axis_over(least_y, greatest_y, kBottom, kTop);
  const double left = std::pow(10.0, x.low);
  const double right = std::pow(10.0, x.high);
  const double floor = std::pow(10.0, y.low);
  std::string out = svg::open(kWidth, kHeight, chart.name);
  out += grid(x, y);
  const double beta = chart.bandwidth.value();
  const double ridge = highest_peak / beta;
  const double start = std::max(left, floor / beta);
  if (start < ridge) {
    out += line(x.at(start), y.at(start * beta), x.at(ridge), y.at(highest_peak), "roof");
    out += svg::text(x.at(start) + 8, std::max(kTop + 10, y.at(start * beta) - 26), "note",
                     chart.bandwidth_label);
  }
  for (const RooflinePeak& p : chart.peaks) {
    const double from = std::max(left, p.rate.value() / beta);
    if (from >= right || p.rate.value() < floor) continue;
    out += line(x.at(from), y.at(p.rate.value()), kRight, y.at(p.rate.value()), "roof");
    out += svg::text(kRight, y.at(p.rate.value()) - 6, "note end", p.label);
  }
  for (const RooflinePoint* p : points) {
    const double radius = 3 + 26 * std::sqrt(std::clamp(p->share, 0.0, 1.0));
    out += fmt::format(
        R"(<circle class="c-{} bubble" cx="{}" cy="{}" r="{}" data-tip="{}"></circle>)",
        html_text(p->css_class), number(x.at(p->intensity)),
        number(y.at(std::max(p->rate.value(), floor))), number(radius), html_text(p->tip));
  }
  return out + "</svg>";
}

}  // namespace orrery
