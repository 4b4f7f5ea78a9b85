// What every schedule must do: each stage of each microbatch forward once and backward once, on the
// device that its route says.
#pragma once

#include <string>

#include "schedule/pipeline.h"

namespace orrery {

// The first thing that is wrong, with its stage and microbatch; empty if nothing is.
std::string wrong_operations(const Pipeline& pipeline);

}  // namespace orrery
