// Interleaved 1F1B (arXiv 2104.04473).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kInterleaved1F1B;
}  // namespace orrery
