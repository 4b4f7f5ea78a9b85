// V-ZB (arXiv 2405.15362).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kVZb;
}  // namespace orrery
