// The distribution of times as a line of text, a histogram and points of its cumulative curve; and
// the head and the foot that the texts of forecasts share.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/drawing/plot_svg.h"
#include "report/drawing/text_style.h"
#include "report/plans/subject.h"
#include "units/quantity.h"

namespace orrery {

// Times are ascending, and at least one but for cdf_of().

// The quantiles of 0, 2.5, 5, ... 100 %.
std::vector<Seconds> cdf_of(std::span<const Seconds> times);

// Without the outermost thousandth on both sides.
struct TimeRange {
  Seconds low, high;
};
TimeRange usual_range(std::span<const Seconds> times);

// Shares of the times in equal bins of the range; Rice's rule, 2 n^(1/3), says how many where no
// number is given.
std::vector<double> histogram_of(std::span<const Seconds> times, TimeRange range,
                                 std::size_t bins = 0);
// The same as an outline, in percent over the unit; and the cumulative curve.
PlotLine histogram_line(std::span<const Seconds> times, TimeRange range, Seconds unit);
PlotLine cdf_line(std::span<const Seconds> times, TimeRange range, Seconds unit);

// "  88.0 days ▁▂▅▇█▇▅▂▁ 91.3 days"; nothing where all times are alike.
std::string distribution_line(std::span<const Seconds> times, std::string (*words)(Seconds),
                              const TextStyle& style);

// What it is about, in bold; what was filled in where nothing was said.
std::string subject_heading(const Subject& subject, const TextStyle& style);
std::string assumed_text(const std::vector<std::string>& sentences, const TextStyle& style);

}  // namespace orrery
