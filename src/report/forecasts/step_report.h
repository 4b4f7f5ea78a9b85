// The distribution of a step's time as a document of `orrery forecast --json` and for a terminal,
// and what the reports of forecasts share: how times are distributed, their head and their foot.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "document/description.h"
#include "document/value.h"
#include "forecast/step_distribution.h"
#include "report/drawing/plot_svg.h"
#include "report/drawing/table.h"
#include "report/drawing/text_style.h"
#include "report/plans/plan_text.h"
#include "units/quantity.h"

namespace orrery {

Value step_distribution_json(const StepDistribution& distribution, const Subject& subject);
const Description& step_distribution_document();

// The quantiles, what makes the tail, where a slow node hurts least, spare replicas, assumptions.
std::string step_distribution_text(const StepDistribution& distribution, const Subject& subject,
                                   const TextStyle& style);

// What the page has in common with the text.
Table quantile_table(const StepDistribution& distribution);
Table tail_table(const StepDistribution& distribution);
Table slow_table(const StepDistribution& distribution);
Table replica_table(const StepDistribution& distribution);
std::string step_sentence(const StepDistribution& distribution);
std::string exceeds_sentence(const StepDistribution& distribution);  // empty if it was not asked
std::vector<std::string> sample_sentences(const StepDistribution& distribution);

// The distribution of times as a line of text, a histogram and points of its cumulative curve.
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
