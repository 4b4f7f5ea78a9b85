// Chimera (arXiv 2107.06925).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kChimera;
}  // namespace orrery
