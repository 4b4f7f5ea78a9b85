// 2BP, two-stage backpropagation, over GPipe and 1F1B (arXiv 2405.18047).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule k2BpGPipe;
extern const Schedule k2Bp1F1B;
}  // namespace orrery
