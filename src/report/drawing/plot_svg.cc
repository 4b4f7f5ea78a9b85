#include "report/drawing/plot_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "report/drawing/html_page.h"
#include "report/drawing/svg_chart.h"
#include "report/drawing/text_style.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

using svg::number;

constexpr double kRow = 16;  // of labels above the plot
constexpr double kWideCharacter = 7.4;

double width_of(const std::string& label) { return display_width(label) * kWideCharacter; }

struct Box {
  double left, top, right, bottom;
  [[nodiscard]] bool meets(const Box& other) const {
    return left < other.right && other.left < right && top < other.bottom && other.top < bottom;
  }
};

// A place for a label: its baseline, and which part of it stands there.
struct Place {
  double x = 0;
  double y = 0;
  const char* anchor = "";  // "middle", "end" or ""
};

Box box_of(const Place& place, double width) {
  const std::string_view anchor = place.anchor;
  const double left = place.x - (anchor == "end" ? width : anchor == "middle" ? width / 2 : 0);
  return {left, place.y - 12, left + width, place.y + 4};
}

struct Frame {
  Box in;
  PlotAxis x, y;

  static double share(const PlotAxis& axis, double value) {
    if (!axis.logarithmic) return (value - axis.low) / (axis.high - axis.low);
    return std::log(value / axis.low) / std::log(axis.high / axis.low);
  }
  [[nodiscard]] double x_of(double value) const {
    return in.left + share(x, value) * (in.right - in.left);
  }
  [[nodiscard]] double y_of(double value) const {
    return in.bottom - share(y, value) * (in.bottom - in.top);
  }
};

class Labels {
 public:
  explicit Labels(Box frame) : frame_(frame) {}

  void keep_free(Box box) { taken_.push_back(box); }

  // The label at the first of the places that is free; nothing if none is.
  std::string put(const std::string& label, std::span<const Place> places,
                  std::string_view css_class) {
    for (const Place& place : places) {
      const Box box = box_of(place, width_of(label));
      const bool inside = box.left >= frame_.left && box.right <= frame_.right &&
                          box.top >= frame_.top && box.bottom <= frame_.bottom;
      if (!inside || std::ranges::any_of(taken_, [&](const Box& b) { return b.meets(box); })) {
        continue;
      }
      taken_.push_back(box);
      return svg::text(place.x, place.y, fmt::format("{} {}", css_class, place.anchor), label);
    }
    return "";
  }

 private:
  Box frame_;
  std::vector<Box> taken_;
};

// A line has gaps where it is outside; an area is cut off there.
std::string path_of(const Frame& f, const PlotCurve& curve) {
  std::string out;
  bool drawing = false;
  const auto add = [&](char command, double x, double y) {
    fmt::format_to(std::back_inserter(out), "{}{} {}", command, number(x), number(y));
  };
  if (curve.points.empty()) return out;
  if (curve.area) add('M', f.x_of(curve.points.front().first), f.in.bottom);
  for (const auto& [x, y] : curve.points) {
    const double at = f.y_of(y);
    const bool inside = curve.area || (at >= f.in.top - 0.5 && at <= f.in.bottom + 0.5);
    if (inside) {
      add(drawing || curve.area ? 'L' : 'M', std::clamp(f.x_of(x), f.in.left, f.in.right),
          std::clamp(at, f.in.top, f.in.bottom));
    }
    drawing = inside;
  }
  if (curve.area) {
    add('L', f.x_of(curve.points.back().first), f.in.bottom);
    out += 'Z';
  }
  return out;
}

// Rows from below in which marks' labels keep clear of each other.
std::vector<std::size_t> rows_of(const std::vector<Box>& boxes) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    std::size_t row = 0;
    for (std::size_t j = 0; j < i;) {
      const bool clash = rows[j] == row && boxes[j].left - 8 < boxes[i].right &&
                         boxes[i].left - 8 < boxes[j].right;
      j = clash ? 0 : j + 1;
      row += clash ? 1 : 0;
    }
    rows.push_back(row);
  }
  return rows;
}

std::string axes(const Frame& f) {
  std::string out;
  for (const PlotTick& tick : f.y.ticks) {
    const double y = f.y_of(tick.at);
    out += svg::line(f.in.left, y, f.in.right, y, "grid");
    out += svg::text(f.in.left - 8, y + 4, "tick end", tick.label);
  }
  for (const PlotTick& tick : f.x.ticks) {
    const double x = f.x_of(tick.at);
    out += svg::line(x, f.in.bottom, x, f.in.bottom + 4, "axis");
    out += svg::text(x, f.in.bottom + 17, "tick middle", tick.label);
  }
  return out + svg::line(f.in.left, f.in.bottom, f.in.right, f.in.bottom, "axis");
}

// Along a curve, its middle first: above it, or beside it where it is steep.
std::vector<Place> places_along(const Frame& f, const PlotLine& points) {
  constexpr std::size_t kPlaces = 20;
  std::vector<Place> out;
  if (points.empty()) return out;
  const auto& [x0, y0] = points.front();
  const auto& [x1, y1] = points.back();
  const bool steep = std::abs(f.y_of(y1) - f.y_of(y0)) > std::abs(f.x_of(x1) - f.x_of(x0));
  for (std::size_t i = 0; i < kPlaces; ++i) {
    const std::size_t place = kPlaces / 2 + (i % 2 == 0 ? i / 2 : kPlaces - (i + 1) / 2);
    const auto& [x, y] = points[points.size() * (place % kPlaces) / kPlaces];
    out.push_back(steep ? Place{f.x_of(x) + 9, f.y_of(y) + 4, ""}
                        : Place{f.x_of(x), f.y_of(y) - 5, "middle"});
  }
  return out;
}

std::string tick_number(double x) { return fmt::format("{:.6g}", x == 0 ? 0 : x); }

}  // namespace

PlotAxis linear_axis(std::string title, double low, double high, int most) {
  PlotAxis out{.title = std::move(title), .low = low, .high = high > low ? high : low + 1};
  const double step = nice_step(out.high - out.low, most);
  for (double i = std::ceil(out.low / step - 1e-9); i * step <= out.high + 1e-9 * step; ++i) {
    out.ticks.push_back({i * step, tick_number(i * step)});
  }
  return out;
}

PlotAxis log_axis(std::string title, double low, double high) {
  PlotAxis out{.title = std::move(title), .low = low, .high = high, .logarithmic = true};
  const bool few = std::log10(high / low) < 3;
  for (double power = std::floor(std::log10(low)); power <= std::log10(high); ++power) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double at = factor * std::pow(10.0, power);
      if ((factor > 1 && !few) || at < low || at > high) continue;
      out.ticks.push_back({at, tick_number(at)});
    }
  }
  return out;
}

PlotAxis log_time_axis(std::string title, double low, double high) {
  static const auto kTicks = std::to_array<PlotTick>({{1e-3, "1 ms"},
                                                      {1e-2, "10 ms"},
                                                      {0.1, "0.1 s"},
                                                      {1, "1 s"},
                                                      {10, "10 s"},
                                                      {60, "1 min"},
                                                      {600, "10 min"},
                                                      {3600, "1 h"},
                                                      {36000, "10 h"},
                                                      {345600, "4 days"},
                                                      {3456000, "40 days"},
                                                      {31557600, "1 year"}});
  PlotAxis out{.title = std::move(title), .low = low, .high = high, .logarithmic = true};
  std::ranges::copy_if(kTicks, std::back_inserter(out.ticks),
                       [&](const PlotTick& t) { return t.at >= low && t.at <= high; });
  return out;
}

AxisUnit axis_unit_of(Seconds typical) {
  if (typical >= Seconds(2 * 86400)) return {Seconds(86400), "days"};
  if (typical >= Seconds(2 * 3600)) return {Seconds(3600), "hours"};
  if (typical >= Seconds(120)) return {Seconds(60), "minutes"};
  return typical >= Seconds(1) ? AxisUnit{Seconds(1), "s"} : AxisUnit{Seconds(1e-3), "ms"};
}

std::string plot_svg(const Plot& plot) {
  Frame f{{56, 0, plot.width - 14, plot.height - 42}, plot.x, plot.y};
  std::vector<Box> boxes;
  for (const PlotMark& mark : plot.marks) {
    const double half = width_of(mark.label) / 2;
    const double middle = std::clamp(f.x_of(mark.at), half, plot.width - half);
    boxes.push_back({middle - half, 0, middle + half, 0});
  }
  const std::vector<std::size_t> rows = rows_of(boxes);
  const std::size_t most = rows.empty() ? 0 : std::ranges::max(rows) + 1;
  const double above = 24 + kRow * static_cast<double>(most);
  f.in.top = above;

  std::string out = svg::open(plot.width, plot.height, plot.name);
  out += svg::text(0, 12, "axis-title", plot.y.title) + axes(f);
  Labels labels(f.in);
  std::string texts;
  for (const PlotCurve& curve : plot.curves) {
    out += fmt::format(R"(<path class="{}" d="{}")", html_text(curve.css_class), path_of(f, curve));
    if (!curve.tip.empty()) out += fmt::format(R"( data-tip="{}")", html_text(curve.tip));
    out += "></path>";
  }
  for (std::size_t i = 0; i < plot.marks.size(); ++i) {
    const PlotMark& mark = plot.marks[i];
    const double x = f.x_of(mark.at);
    const double y = above - 6 - kRow * static_cast<double>(rows[i]);
    out += svg::line(x, y + 3, x, f.in.bottom, mark.css_class);
    texts += svg::text((boxes[i].left + boxes[i].right) / 2, y, "note halo middle", mark.label);
  }
  for (const PlotPoint& point : plot.points) {
    const double x = f.x_of(point.x);
    const double y = f.y_of(point.y);
    out += fmt::format(R"(<circle class="{} point" cx="{}" cy="{}" r="6" data-tip="{}"></circle>)",
                       html_text(point.css_class), number(x), number(y), html_text(point.tip));
    labels.keep_free({x - 8, y - 8, x + 8, y + 8});
  }
  for (const PlotPoint& point : plot.points) {
    const double x = f.x_of(point.x);
    const double y = f.y_of(point.y);
    if (point.label.empty()) continue;
    texts += labels.put(point.label,
                        std::to_array<Place>({{x + 12, y + 4, ""},
                                              {x - 12, y + 4, "end"},
                                              {x, y - 14, "middle"},
                                              {x, y + 24, "middle"},
                                              {x + 11, y - 10, ""},
                                              {x - 11, y + 20, "end"}}),
                        "strong halo");
  }
  for (const PlotCurve& curve : plot.curves) {
    if (!curve.label.empty()) {
      texts += labels.put(curve.label, places_along(f, curve.points), "tick halo");
    }
  }
  return out + texts +
         svg::text((f.in.left + f.in.right) / 2, plot.height - 6, "axis-title middle",
                   plot.x.title) +
         "</svg>";
}

std::string tornado_svg(const Tornado& tornado) {
  constexpr double kTop = 8;
  constexpr double kRowHeight = 46;
  constexpr double kLeft = 84;  // room for the figures at the ends of bars
  constexpr double kRight = kHalfPage - 84;
  double least = 0;
  double most = 0;
  for (const TornadoRow& row : tornado.rows) {
    for (const double v : {row.half, row.twice.value_or(0)}) {
      least = std::min(least, v);
      most = std::max(most, v);
    }
  }
  if (least == most) most = 1;
  const double bottom = kTop + kRowHeight * static_cast<double>(tornado.rows.size());
  const Frame f{{kLeft, kTop, kRight, bottom}, linear_axis(tornado.axis, least, most, 6), {}};
  std::string out = svg::open(kHalfPage, bottom + 42, tornado.name);
  for (const PlotTick& tick : f.x.ticks) {
    const double x = f.x_of(tick.at);
    out += svg::line(x, kTop, x, bottom, "grid");
    out += svg::text(x, bottom + 17, "tick middle", tick.label);
  }
  double y = kTop;
  for (const TornadoRow& row : tornado.rows) {
    out += svg::text(0, y + 13, "note halo", row.label);
    const auto bar = [&](double value, const char* css_class, const std::string& text, bool below) {
      // Where both bars lie on one side they share the height.
      const double x = f.x_of(std::min(value, 0.0));
      const double top = y + 19 + (below ? 10 : 0);
      out += svg::rectangle(x, top, f.x_of(std::max(value, 0.0)) - x, 9, css_class,
                            row.label + (below ? " doubled: " : " halved: ") + text);
      const double end = f.x_of(value) + (value < 0 ? -5 : 5);
      out += svg::text(end, top + 9, value < 0 ? "small-tick end" : "small-tick", text);
    };
    bar(row.half, "c-good", row.half_text, false);
    if (row.twice) bar(*row.twice, "c-bad", row.twice_text, true);
    y += kRowHeight;
  }
  out += svg::line(f.x_of(0), kTop, f.x_of(0), bottom, "axis");
  return out + svg::text((kLeft + kRight) / 2, bottom + 36, "axis-title middle", tornado.axis) +
         "</svg>";
}

namespace {

// A logarithmic axis of whole decades around these, with a tick at each.
PlotAxis decades(std::string title, double least, double greatest, std::string (*words)(double)) {
  const double first = std::floor(std::log10(least));
  const double last = std::max(first + 1, std::ceil(std::log10(greatest)));
  PlotAxis out{std::move(title), std::pow(10.0, first), std::pow(10.0, last), true};
  for (double e = first; e <= last + 1e-9; ++e) {
    out.ticks.push_back({std::pow(10.0, e), words(std::pow(10.0, e))});
  }
  return out;
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
  const Frame f{{96, 20, svg::kWidth - 20, 314},
                decades("FLOP per byte", least_x, greatest_x,
                        [](double value) { return fmt::format("{:g}", value); }),
                decades("", least_y, greatest_y,
                        [](double value) { return to_text(FlopsPerSecond(value)); })};
  const double left = f.x.low;
  const double right = f.x.high;
  const double floor = f.y.low;

  std::string out = svg::open(svg::kWidth, f.in.bottom + 46, chart.name);
  for (const PlotTick& tick : f.x.ticks) {
    out += svg::line(f.x_of(tick.at), f.in.top, f.x_of(tick.at), f.in.bottom, "grid");
  }
  out += axes(f) +
         svg::text((f.in.left + f.in.right) / 2, f.in.bottom + 40, "axis-title middle", f.x.title);
  const double beta = chart.bandwidth.value();
  const double ridge = highest_peak / beta;
  const double start = std::max(left, floor / beta);
  if (start < ridge) {
    out +=
        svg::line(f.x_of(start), f.y_of(start * beta), f.x_of(ridge), f.y_of(highest_peak), "roof");
    out += svg::text(f.x_of(start) + 8, std::max(f.in.top + 10, f.y_of(start * beta) - 26), "note",
                     chart.bandwidth_label);
  }
  for (const RooflinePeak& p : chart.peaks) {
    const double from = std::max(left, p.rate.value() / beta);
    if (from >= right || p.rate.value() < floor) continue;
    out +=
        svg::line(f.x_of(from), f.y_of(p.rate.value()), f.in.right, f.y_of(p.rate.value()), "roof");
    out += svg::text(f.in.right, f.y_of(p.rate.value()) - 6, "note end", p.label);
  }
  for (const RooflinePoint* p : points) {
    const double radius = 3 + 26 * std::sqrt(std::clamp(p->share, 0.0, 1.0));
    out += fmt::format(
        R"(<circle class="c-{} bubble" cx="{}" cy="{}" r="{}" data-tip="{}"></circle>)",
        html_text(p->css_class), number(f.x_of(p->intensity)),
        number(f.y_of(std::max(p->rate.value(), floor))), number(radius), html_text(p->tip));
  }
  return out + "</svg>";
}

}  // namespace orrery
