// Layered gradient accumulation on a modular pipeline (arXiv 2106.02679).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kModularLga;
}  // namespace orrery
