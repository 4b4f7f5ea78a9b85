// What a cluster yields, for a terminal and as the versioned document of `orrery fleet --json`.
#pragma once

#include <string>

#include "document/description.h"
#include "document/value.h"
#include "fleet/fleet_forecast.h"
#include "report/drawing/text_style.h"

namespace orrery {

// The headline figures with their range over the seeds and what is published, by size of job, where
// the GPU time goes (adds up to 100.0 %), how attempts end, schedulers, assumptions.
std::string fleet_text(const FleetForecast& forecast, const TextStyle& style);

Value fleet_json(const FleetForecast& forecast);
const Description& fleet_document();

}  // namespace orrery
