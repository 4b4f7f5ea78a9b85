// Hanayo (arXiv 2308.15762).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kHanayo;
}  // namespace orrery
