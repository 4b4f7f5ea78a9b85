// 1F1B (DAPPLE, arXiv 2007.01045; PipeDream-Flush, arXiv 2006.09503).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kOneForwardOneBackward;
}  // namespace orrery
