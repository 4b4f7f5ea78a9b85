// The grouped interleaved schedule (arXiv 2503.01328).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kGis;
}  // namespace orrery
