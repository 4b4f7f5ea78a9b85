// ZeroPP (arXiv 2402.03791).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kZeroPp;
}  // namespace orrery
