// DualPipeV, DualPipe cut in half (arXiv 2412.19437).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kDualPipeV;
}  // namespace orrery
