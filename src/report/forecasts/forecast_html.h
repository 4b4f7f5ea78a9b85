// Forecasts as self-contained pages: a run, the distribution of a step, the fit of a log of faults.
//
// Contours of the ETTR over checkpoint interval and failure rate are those of the closed form
// (ettr.h: independent failures, blocking saves) with the run's mean restart and the time that a
// save blocks. They are drawn where the closed form gives the run's own ETTR within two percent
// points. The run that is drawn over time is the one of median wall-clock time, simulated again; it
// is left out where it has more than 20,000 interruptions.
#pragma once

#include <string>

#include "forecast/fault_fit.h"
#include "forecast/run_forecast.h"
#include "forecast/step_distribution.h"
#include "report/plans/subject.h"

namespace orrery {

std::string forecast_html(const RunForecast& forecast, const Subject& subject);
std::string step_distribution_html(const StepDistribution& distribution, const Subject& subject);
std::string fault_fit_html(const FaultFit& fit);

}  // namespace orrery
