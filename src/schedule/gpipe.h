// GPipe (arXiv 1811.06965).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kGPipe;
}  // namespace orrery
