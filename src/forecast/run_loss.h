// The loss that a run reaches, by a scaling law, and the tokens that its batch takes beyond those of
// the law where it is larger than the critical batch (scaling_law.h).
#pragma once

#include "forecast/run_forecast.h"

namespace orrery {

// Of the tokens of the run's phases, or of those that reach the stated loss. `batch` is in tokens.
// Adds to what `run` assumed. Errors: unknown laws; a loss that the model does not reach; a routed
// law of a model without experts.
Result<LossForecast> loss_of(RunForecast& run, const Model& model, const RunQuestion& question,
                             double batch, const Catalog& catalog);

}  // namespace orrery
