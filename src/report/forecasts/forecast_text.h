// A forecast of a run, and a fit of a log of faults, for a terminal.
#pragma once

#include <string>
#include <vector>

#include "forecast/fault_fit.h"
#include "forecast/run_forecast.h"
#include "report/drawing/table.h"
#include "report/drawing/text_style.h"
#include "report/plans/subject.h"

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

}  // namespace orrery
