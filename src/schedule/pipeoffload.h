// PipeOffload, full and half (arXiv 2503.01328).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kPipeOffloadFull;
extern const Schedule kPipeOffloadHalf;
}  // namespace orrery
