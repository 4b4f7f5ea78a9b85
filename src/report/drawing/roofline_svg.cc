#include "report/drawing/roofline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/drawing/plot_svg.h"
#include "report/drawing/svg_chart.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

// Whole decades around them, at least one.
std::pair<double, double> decades(double least, double greatest) {
  const double low = std::floor(std::log10(least));
  const double high = std::max(low + 1, std::ceil(std::log10(greatest)));
  return {std::pow(10.0, low), std::pow(10.0, high)};
}

}  // namespace

std::string roofline_svg(const RooflineChart& chart) {
  std::vector<const RooflinePoint*> points;
  for (const RooflinePoint& p : chart.points) {
    if (p.intensity > 0 && p.rate.value() > 0) points.push_back(&p);
  }
  const double beta = chart.bandwidth.value();
  if (points.empty() || chart.peaks.empty() || !(beta > 0)) return "";
  double highest_peak = 0;
  for (const RooflinePeak& p : chart.peaks) highest_peak = std::max(highest_peak, p.rate.value());
  const double ridge = highest_peak / beta;
  double least_x = ridge;
  double greatest_x = ridge * 4;
  double least_y = highest_peak;
  double greatest_y = highest_peak;
  for (const RooflinePoint* p : points) {
    least_x = std::min(least_x, p->intensity);
    greatest_x = std::max(greatest_x, p->intensity);
    least_y = std::min(least_y, p->rate.value());
    greatest_y = std::max(greatest_y, p->rate.value());
  }
  const auto [left, right] = decades(least_x, greatest_x);
  // What is far below everything else would leave no room for it.
  const auto [floor, ceiling] = decades(std::max(least_y, greatest_y * 1e-6), greatest_y);
  Plot plot{.name = chart.name,
            .x = log_axis("FLOP per byte", left, right),
            .y = log_axis("", floor, ceiling),
            .curves = {},
            .height = 360,
            .width = svg::kWidth,
            .left = 96};
  for (PlotTick& tick : plot.y.ticks) tick.label = to_text(FlopsPerSecond(tick.at));
  if (const double start = std::max(left, floor / beta); start < ridge) {
    plot.curves.push_back({.points = {{start, start * beta}, {ridge, highest_peak}},
                           .css_class = "roof",
                           .label = chart.bandwidth_label});
  }
  for (const RooflinePeak& p : chart.peaks) {
    const double from = std::max(left, p.rate.value() / beta);
    if (from >= right || p.rate.value() < floor) continue;
    plot.curves.push_back({.points = {{from, p.rate.value()}, {right, p.rate.value()}},
                           .css_class = "roof",
                           .label = p.label});
  }
  for (const RooflinePoint* p : points) {
    plot.points.push_back({.x = p->intensity,
                           .y = std::max(p->rate.value(), floor),
                           .label = {},
                           .tip = p->tip,
                           .css_class = fmt::format("c-{} bubble", p->css_class),
                           .radius = 3 + 26 * std::sqrt(std::clamp(p->share, 0.0, 1.0))});
  }
  return plot_svg(plot);
}

}  // namespace orrery
