// A forward and a backward of different microbatches run as one pass (DualPipe).
//
// Each hides its expert-parallel all-to-alls behind the other's computing (arXiv 2412.19437
// s.3.2.1, which pairs for this and uses no tensor parallelism):
//
//   hidden = min(x_F, c_B) + min(x_B, c_F)
//   T_FB   = T_F + T_B - hidden + contention
//
// c is what a pass computes, x its exposed all-to-alls when it runs alone; other communication
// stays where it is. Contention is what the computing loses while the hidden part runs beside it
// (lower/cost_context.h). Taken over a whole virtual stage: inside it, layers of both are assumed
// to be interleaved evenly.
#pragma once

#include "lower/cost_context.h"
#include "lower/step_category.h"
#include "units/picoseconds.h"

namespace orrery {

struct PairedPass {
  Picoseconds time;
  Breakdown breakdown;  // total() == time
};

PairedPass paired_pass(const Breakdown& forward, const Breakdown& backward, double share_lost,
                       const CostContext& costs);

}  // namespace orrery
