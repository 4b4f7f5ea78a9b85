// V-Min (arXiv 2405.15362), reordered and as its building block repeats.
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kVMin;
extern const Schedule kVMinStable;
}  // namespace orrery
