// What describes a training run on the command line: its options, and the question that they and
// the section `forecast` of a specification ask.
#pragma once

#include <CLI/CLI.hpp>

#include "document/value.h"
#include "field_options.h"
#include "forecast/run_question.h"
#include "outcome/result.h"

namespace orrery::cli {

// The options that `forecast` and `search` share.
void add_run(CLI::App* app, FieldOptions& options);
// Options that a command lacks are taken as not given.
Result<RunQuestion> run_question(const FieldOptions& options, const Value& section);

}  // namespace orrery::cli
