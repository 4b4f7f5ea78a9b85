// Charts over time as inline SVG: a filled step line, and bands of many ranks or streams.
//
// As in svg_chart.h shapes are coloured by CSS classes and all text is escaped. A band is drawn as
// one path a colour, so that thousands of moments stay small.
#pragma once

#include <string>
#include <vector>

namespace orrery {

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
