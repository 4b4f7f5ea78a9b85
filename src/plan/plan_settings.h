// A completed plan as the text that `--plan` takes.
#pragma once

#include <string>

#include "plan/plan.h"

namespace orrery {

// Short enough for a table: what has a default that completes to the same is left out.
// "tp=8,pp=16,dp=128,chunks=4,zero=1".
std::string plan_settings(Plan plan);

}  // namespace orrery
