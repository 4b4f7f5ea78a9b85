// BitPipe (arXiv 2410.19367).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kBitPipe;
}  // namespace orrery
