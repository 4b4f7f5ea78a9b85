// Charts as inline SVG: a stacked bar, columns, filled steps over time, bands of many ranks or
// streams over time.
//
// Shapes are coloured by CSS classes ("c-bubble" is filled with var(--bubble)), so that one chart
// serves a light and a dark page; what the pointer shows stands in data-tip. Values are in the unit
// the caller's axis names: charts know no dimensions. All text is escaped.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace orrery {

// 1, 2 or 5 times a power of ten, at most `most` steps from 0 to at least `highest`.
double nice_step(double highest, int most);

struct ChartSegment {
  std::string css_class;  // without its "c-"
  double value = 0;
  std::string label = {};  // written inside where it fits
  std::string tip = {};
};

// One horizontal bar over the whole width. `name` is for readers who cannot see it.
std::string stacked_bar_svg(std::span<const ChartSegment> segments,
                            std::string_view name = "shares of the step time");

struct ChartColumn {
  std::string label;
  std::vector<ChartSegment> segments;  // from the bottom
};

struct ColumnChart {
  std::string name;  // for readers who cannot see it
  std::vector<ChartColumn> columns = {};
  std::string unit;              // of the vertical axis
  double limit = 0;              // a line across; 0: none
  std::string limit_label = {};  // "80 GiB capacity"
  std::string axis;              // of the columns
};
std::string column_chart_svg(const ColumnChart& chart);

struct TimeSeries {
  std::string css_class;  // without its "c-"
  std::string label;
  std::vector<double> values;  // of equal parts of the time
};

// One panel; series after the first are drawn as lines over it.
struct TimeChart {
  std::string name;  // for readers who cannot see it
  std::string unit;
  std::vector<TimeSeries> series = {};
  double seconds = 0;  // from left to right
  double highest = 0;  // of the axis; 0: by the values
  bool axis = true;    // of time, below
};
std::string time_chart_svg(const TimeChart& chart);

// A band is drawn as one path a colour, so that thousands of moments stay small.
struct Band {
  std::string label;
  std::string tip;
  // Shares of each part of the time, 0 to 1, stacked from below; as many as there are classes.
  std::vector<std::vector<double>> shares;
};

struct BandChart {
  std::string name;
  std::vector<std::string> css_classes = {};
  std::vector<Band> bands = {};  // from above
  double seconds = 0;
};
std::string band_chart_svg(const BandChart& chart);

}  // namespace orrery

// The pieces of markup that all charts are made of. Names and texts are escaped here; CSS classes
// are the caller's own, or escaped by it.
namespace orrery::svg {

inline constexpr double kWidth = 1080;  // of a chart over the whole page

// A coordinate: it needs no more digits than a screen has pixels.
std::string number(double x);

// The start of a chart; `name` is for readers who cannot see it.
std::string open(double width, double height, std::string_view name);
std::string text(double x, double y, std::string_view css_class, std::string_view text);
std::string line(double x1, double y1, double x2, double y2, std::string_view css_class);
std::string rectangle(double x, double y, double width, double height, std::string_view css_class,
                      std::string_view tip);

}  // namespace orrery::svg
