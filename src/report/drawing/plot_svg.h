// A plot of curves, areas and points over two axes, linear or logarithmic, as inline SVG.
//
// As in svg_chart.h shapes are coloured by CSS classes and all text is escaped. Labels never lie on
// each other: those of vertical marks stand above the plot, in as many rows as they need; every
// other takes the first of its places that is free, and is left out where none is.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "units/quantity.h"

namespace orrery {

struct PlotTick {
  double at = 0;
  std::string label;
};

struct PlotAxis {
  std::string title;  // with the unit
  double low = 0;
  double high = 1;
  bool logarithmic = false;
  std::vector<PlotTick> ticks = {};
};
// Ticks at 1, 2 or 5 times a power of ten, at most `most` + 1 of them.
PlotAxis linear_axis(std::string title, double low, double high, int most);
// Ticks at powers of ten, and between them where there are few; `low` is above 0.
PlotAxis log_axis(std::string title, double low, double high);
// The same in seconds, with ticks at 1 s, 10 s, 1 min and so on.
PlotAxis log_time_axis(std::string title, double low, double high);

// The unit in which people would state times of that length.
struct AxisUnit {
  Seconds one;
  std::string name;  // "days"
};
AxisUnit axis_unit_of(Seconds typical);

using PlotLine = std::vector<std::pair<double, double>>;

struct PlotCurve {
  PlotLine points;
  std::string css_class;  // "body c-accent": an area down to the axis; "over o-soft": a line
  bool area = false;
  std::string label = {};  // along it
  std::string tip = {};
};

// A line from top to bottom.
struct PlotMark {
  double at = 0;
  std::string label;
  std::string css_class = "mark";
};

struct PlotPoint {
  double x = 0;
  double y = 0;
  std::string label;  // beside it; may be empty
  std::string tip;
  std::string css_class = "c-ink";
};

inline constexpr double kHalfPage = 520;  // the width of one of html_halves()

struct Plot {
  std::string name;  // for readers who cannot see it
  PlotAxis x;
  PlotAxis y;
  std::vector<PlotCurve> curves = {};  // what is outside is cut off
  std::vector<PlotMark> marks = {};
  std::vector<PlotPoint> points = {};
  double height = 300;
  double width = kHalfPage;
};
std::string plot_svg(const Plot& plot);

// Bars to both sides of zero, a row for each cause: what it would change if it were half and if it
// were twice as large.
struct TornadoRow {
  std::string label;
  double half = 0;
  std::optional<double> twice = {};
  std::string half_text = {};  // at the end of the bar
  std::string twice_text = {};
};
struct Tornado {
  std::string name;
  std::string axis;  // with the unit
  std::vector<TornadoRow> rows = {};
};
std::string tornado_svg(const Tornado& tornado);

// The roofline of an accelerator with the operators of a recording.
//
//   x  FLOPs / byte       y  achieved FLOP/s       both logarithmic
//   roof  min(peak, memory bandwidth x intensity), one for each peak
//
// The area of a point grows with the device time it stands for. Source: Williams, Waterman,
// Patterson, "Roofline" (CACM 52(4), 2009).
struct RooflinePoint {
  double intensity = 0;  // FLOP/byte, above 0
  FlopsPerSecond rate;   // above 0
  double share = 0;      // of the device time, 0 to 1
  std::string css_class;
  std::string tip;
};

struct RooflinePeak {
  std::string label;  // "bf16 989 TFLOP/s"
  FlopsPerSecond rate;
};

struct RooflineChart {
  std::string name;
  BytesPerSecond bandwidth;
  std::string bandwidth_label;
  std::vector<RooflinePeak> peaks = {};
  std::vector<RooflinePoint> points = {};
};

// Empty where there is nothing to show.
std::string roofline_svg(const RooflineChart& chart);

}  // namespace orrery
