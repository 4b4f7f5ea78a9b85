// SWARM's stochastic wiring (arXiv 2301.11913).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kSwarm;
}  // namespace orrery
