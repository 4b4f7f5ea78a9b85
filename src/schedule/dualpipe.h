// DualPipe (arXiv 2412.19437).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kDualPipe;
}  // namespace orrery
