// The operators of a block that each module of selective recomputation runs again
// (plan/recompute_modules.h), and what need not be kept for it.
#pragma once

#include <vector>

#include "lower/recomputed_work.h"

namespace orrery {

std::vector<RecomputedOperator> recomputed_modules(const Block& block,
                                                   const RecomputeModuleSet& modules);

}  // namespace orrery
