// The step of a specification that may leave the plan open.
#pragma once

#include "estimate/kept_prices.h"
#include "estimate/spec.h"

namespace orrery {

// The step that is specified. Where no part of a plan is stated and the default is too large for
// memory or cannot run: the step of the fastest plan with other tp, pp, ep and recomputation, if
// there is one, for the batch that the search takes for all of them. Errors: as predict().
Result<PredictedStep> default_step(const Spec& spec, const Catalog& catalog, int threads);
Result<PredictedStep> default_step(const Spec& spec, const Catalog& catalog, KeptPrices& prices,
                                   int threads);

}  // namespace orrery
