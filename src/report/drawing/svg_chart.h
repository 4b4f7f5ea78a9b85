// Charts as inline SVG: stacked bar, columns, scatter.
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
// The same of seconds: from two minutes on whole minutes, hours or days.
double nice_time_step(double seconds, int most);

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

}  // namespace orrery

// The pieces of markup that all charts are made of. Names and texts are escaped here; CSS classes
// are the caller's own, or escaped by it.
namespace orrery::svg {

inline constexpr double kWidth = 1080;     // of a chart over the whole page
inline constexpr double kCharacter = 6.6;  // width of a character of the charts' 12 px text

// A coordinate: it needs no more digits than a screen has pixels.
std::string number(double x);

// The start of a chart; `name` is for readers who cannot see it.
std::string open(double width, double height, std::string_view name);
std::string text(double x, double y, std::string_view css_class, std::string_view text);
std::string line(double x1, double y1, double x2, double y2, std::string_view css_class);
std::string rectangle(double x, double y, double width, double height, std::string_view css_class,
                      std::string_view tip);

}  // namespace orrery::svg
