// What estimate and search make of a plan beside their answer: its launch file, its page and its
// timeline.
#pragma once

#include <string>
#include <vector>

#include "command.h"
#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "question.h"
#include "report/plans/plan_reports.h"

namespace orrery::cli {

// Of --numerics.
inline constexpr const char* kNumericsHelp =
    "what the plan changes against bf16, and the step time and deviation of every format";
void add_emit(CLI::App* app, Question& question);
// Prints the plan of a step as the file of a framework (megatron, torchtitan, deepspeed, nemo,
// ...), as a specification (yaml) or as the text of --plan (plan), and says what the file cannot
// express. Errors: an unknown format; --json beside it.
Result<int> emit(const std::string& format, const PredictedStep& step, const Catalog& catalog,
                 const Common& common);

// Writes the HTML report and the timeline that the question asks for; gives a line about each, as
// write_all does. The timeline shows `drawn`, folded or expanded; `estimate` is that of `step`.
Result<std::string> write_report_files(const Question& question, const PredictedStep& step,
                                       const SimulatedStep& drawn, const Estimate& estimate,
                                       const FoundBy& found);

}  // namespace orrery::cli
