// From what was typed to a Scenario; and the files a scenario's report writes.
#pragma once

#include "command.h"
#include "estimate/predicted_step.h"
#include "estimate/spec.h"
#include "forecast/run_question.h"

namespace orrery::cli {

Result<Spec> ask(const Question& question, const Catalog& catalog);

// The step of what was asked. Where no part of a plan is stated and the default is too large for
// memory, the step of the fastest plan with other tp, pp, ep and recomputation, if there is one.
Result<PredictedStep> predicted(const Spec& spec, const Catalog& catalog, int threads);

// The section `forecast` of a specification, which the options override.
Result<RunQuestion> run_question(const ForecastOptions& options, const Value& section);

}  // namespace orrery::cli
