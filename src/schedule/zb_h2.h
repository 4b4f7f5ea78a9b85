// ZB-H2 (arXiv 2401.10241).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kZbH2;
}  // namespace orrery
