// The step of a specification that may leave the plan open.
#pragma once

#include "estimate/kept_prices.h"
#include "estimate/spec.h"
#include "search/search.h"

namespace orrery {

// The step that is specified. Where no part of a plan is stated: the step of the fastest plan that
// fits of a small space (docs/estimate.md says which), all of them for one batch; where none fits,
// of data parallelism alone. `progress`: of that search. Errors: as predict().
Result<PredictedStep> default_step(const Spec& spec, const Catalog& catalog, int threads,
                                   const SearchProgress& progress = {});
Result<PredictedStep> default_step(const Spec& spec, const Catalog& catalog, KeptPrices& prices,
                                   int threads, const SearchProgress& progress = {});

}  // namespace orrery
