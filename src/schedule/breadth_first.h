// Breadth-first pipeline parallelism (arXiv 2211.05953).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kBreadthFirst;
}  // namespace orrery
