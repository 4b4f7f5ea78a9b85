// --emit of estimate and search.
#pragma once

#include <string>

#include "command.h"
#include "estimate/predicted_step.h"

namespace orrery::cli {

// Prints the plan of a step as the file of a framework (megatron, torchtitan, deepspeed, nemo, ...), as a
// specification (yaml) or as the text of --plan (plan), and says what the file cannot express.
// Errors: an unknown format; --json beside it.
Result<int> emit(const std::string& format, const PredictedStep& step, const Catalog& catalog,
                 const Common& common);

}  // namespace orrery::cli
