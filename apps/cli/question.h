// From what was typed to a Scenario; and the files a scenario's report writes.
#pragma once

#include <optional>
#include <string>

#include "command.h"
#include "estimate/predicted_step.h"
#include "estimate/spec.h"
#include "forecast/run_costs.h"
#include "forecast/run_question.h"
#include "python/user_functions.h"

namespace orrery::cli {

// Where functions of Python are called.
inline Interpreters interpreters(const Question& q) {
  return q.isolate ? Interpreters::in_processes : Interpreters::in_threads;
}

Result<Spec> ask(const Question& question, const Catalog& catalog);

// The section `forecast` of a specification, which the options override.
Result<RunQuestion> run_question(const ForecastOptions& options, const Value& section);

// The run of so many tokens made of the estimated step if nothing fails; nothing where no tokens are
// given. Prices and powers are those of the section `forecast`, or `price`.
Result<std::optional<HealthyRun>> run_of(const std::string& tokens, const std::string& price,
                                         const Spec& spec, const Estimate& estimate,
                                         const Catalog& catalog);

}  // namespace orrery::cli
