// A forecast of a run, and a fit of a log of faults, for a terminal, as documents of `orrery forecast
// --json` and as pages.
#pragma once

#include <string>
#include <vector>

#include "document/description.h"
#include "document/value.h"
#include "forecast/fault_fit.h"
#include "forecast/run_forecast.h"
#include "forecast/step_distribution.h"
#include "report/drawing/table.h"
#include "report/drawing/text_style.h"
#include "report/plans/plan_text.h"

namespace orrery {

// The answer (days, ETTR, interruptions, cost, with quantiles), where the time goes (adds up to
// 100.0 %), which change helps most, assumptions.
std::string forecast_text(const RunForecast& forecast, const Subject& subject,
                          const TextStyle& style);

std::string fault_fit_text(const FaultFit& fit, const TextStyle& style);

// What the page has in common with the text.
Table answer_table(const RunForecast& forecast);
Table phase_table(const RunForecast& forecast);
Table loss_table(const RunForecast& forecast);
Table knob_table(const RunForecast& forecast);
std::string fault_sentence(const FaultFit& fit);
Table fit_table(const FaultFit& fit);
std::string run_sentence(const RunForecast& forecast);
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

}  // namespace orrery
