// Forecasts for a terminal, as documents and as pages: a run, a fit of a log of faults, the
// distribution of a step, the best runs of a search and the sizes of a scaling law.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "document/description.h"
#include "document/value.h"
#include "forecast/fault_fit.h"
#include "forecast/run_forecast.h"
#include "forecast/run_search.h"
#include "forecast/scaling_law.h"
#include "forecast/step_distribution.h"
#include "report/drawing/plot_svg.h"
#include "report/drawing/table.h"
#include "report/drawing/text_style.h"
#include "report/plans/plan_text.h"
#include "units/quantity.h"

namespace orrery {

// The answer (days, ETTR, interruptions, cost, with quantiles), where the time goes (adds up to
// 100.0 %), which change helps most, assumptions.
std::string forecast_text(const RunForecast& forecast, const Subject& subject,
                          const TextStyle& style);

std::string fault_fit_text(const FaultFit& fit, const TextStyle& style);

// What the page has in common with the text.
// "recovery"; "start" of a run that starts but once.
std::string_view badput_name(const RunForecast& forecast, Badput badput);
Table answer_table(const RunForecast& forecast);
Table phase_table(const RunForecast& forecast);
Table loss_table(const RunForecast& forecast);
Table knob_table(const RunForecast& forecast);
std::string fault_sentence(const FaultFit& fit);
Table fit_table(const FaultFit& fit);
std::string run_sentence(const RunForecast& forecast, const Subject& subject);
std::vector<std::string> answer_sentences(const RunForecast& forecast);  // to what was asked
std::vector<std::string> spread_sentences(const RunForecast& forecast);  // how sure the figures are
std::vector<std::string> cause_sentences(const RunForecast& forecast);   // failures, checkpoints

Value forecast_json(const RunForecast& forecast, const Subject& subject);
const Description& forecast_document();

Value fault_fit_json(const FaultFit& fit);
const Description& fault_fit_document();

// Forecasts as self-contained pages: a run, the distribution of a step, the fit of a log of faults.
//
// Contours of the ETTR over checkpoint interval and failure rate are those of the closed form
// (ettr.h: independent failures, blocking saves) with the run's mean restart and the time that a
// save blocks. They are drawn where the closed form gives the run's own ETTR within two percent
// points. The run that is drawn over time is the one of median wall-clock time, simulated again; it
// is left out where it has more than 20,000 interruptions.
std::string forecast_html(const RunForecast& forecast, const Subject& subject);
std::string step_distribution_html(const StepDistribution& distribution, const Subject& subject);
std::string fault_fit_html(const FaultFit& fit);

// The distribution of a step's time.
Value step_distribution_json(const StepDistribution& distribution, const Subject& subject);
const Description& step_distribution_document();

// The quantiles, what makes the tail, where a slow node hurts least, spare replicas, assumptions.
std::string step_distribution_text(const StepDistribution& distribution, const Subject& subject,
                                   const TextStyle& style);

// What the page has in common with the text.
Table quantile_table(const StepDistribution& distribution);
Table tail_table(const StepDistribution& distribution);
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

// The same as an outline, in percent over the unit; and the cumulative curve.
PlotLine histogram_line(std::span<const Seconds> times, TimeRange range, Seconds unit);
PlotLine cdf_line(std::span<const Seconds> times, TimeRange range, Seconds unit);

// "  88.0 days ▁▂▅▇█▇▅▂▁ 91.3 days"; nothing where all times are alike.
std::string distribution_line(std::span<const Seconds> times, std::string (*words)(Seconds),
                              const TextStyle& style);

// What it is about, in bold; what was filled in where nothing was said.
std::string subject_heading(const Subject& subject, const TextStyle& style);
std::string assumed_text(const std::vector<std::string>& sentences, const TextStyle& style);

// The best plans and sizes of a run (`orrery search --objective`).
Value run_search_json(const RunSearchResult& result, const Subject& subject, Seconds elapsed);
const Description& run_search_document();

// The best runs, what the plan of the shortest step would have given, why no plan that was left out
// is better, sizes, assumptions.
std::string run_search_text(const RunSearchResult& result, const Subject& subject, Seconds elapsed,
                            const TextStyle& style);

// Which sizes of a model a scaling law says (`orrery forecast` without a model).
Value sizes_json(const SizeAnswer& answer);
const Description& sizes_document();

std::string sizes_text(const SizeAnswer& answer, const TextStyle& style);

}  // namespace orrery
