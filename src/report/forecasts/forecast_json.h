// Forecasts and fits of logs as the versioned documents of `orrery forecast --json`.
#pragma once

#include "document/description.h"
#include "document/value.h"
#include "forecast/fault_fit.h"
#include "forecast/run_forecast.h"
#include "report/plans/subject.h"

namespace orrery {

Value forecast_json(const RunForecast& forecast, const Subject& subject);
const Description& forecast_document();

Value fault_fit_json(const FaultFit& fit);
const Description& fault_fit_document();

}  // namespace orrery
