// The best V-shaped schedule under a memory limit (arXiv 2405.15362).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kVAuto;
}  // namespace orrery
