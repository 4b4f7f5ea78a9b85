// A forecast of a run, and a fit of a log of faults, for a terminal.
#pragma once

#include <string>

#include "forecast/fault_fit.h"
#include "forecast/run_forecast.h"
#include "report/drawing/text_style.h"
#include "report/plans/subject.h"

namespace orrery {

// The answer (days, ETTR, interruptions, cost, with quantiles), where the time goes (adds up to
// 100.0 %), which change helps most, assumptions.
std::string forecast_text(const RunForecast& forecast, const Subject& subject,
                          const TextStyle& style);

std::string fault_fit_text(const FaultFit& fit, const TextStyle& style);

}  // namespace orrery
