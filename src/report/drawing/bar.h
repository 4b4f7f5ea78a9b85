// Bars and sparklines from Unicode block characters.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "report/drawing/text_style.h"

namespace orrery {

// A part of a bar: its share of the bar's whole width, and its colour.
struct BarSegment {
  double share = 0;  // 0 to 1
  Ink ink = {};
  std::string_view css_class = {};  // on a page: its colour there,
  std::string tip = {};             // and what the pointer shows of a part of several
};

// Exactly `width` cells; what the segments leave is blank. One segment ends at an eighth of a cell;
// several are rounded by their running sum, so that the whole is never longer than its parts.
// Without colour neighbours of a stacked bar differ by shade.
std::string bar(std::span<const BarSegment> segments, int width, const TextStyle& style);

// One character a value, lowest to highest; at most `width` values are kept (the largest of each
// group, so that a peak is never lost).
std::string sparkline(std::span<const double> values, int width);
// The same from `low` to `high`, so that several can be compared; a blank for `low` itself.
std::string sparkline(std::span<const double> values, int width, double low, double high);

}  // namespace orrery
