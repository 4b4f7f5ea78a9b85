// The eight steps of DualPipe and DualPipeV, which differ only in the placement of phases.
//
// A device holds two phases (chunks), and microbatches pass phase 0 first. H is half the ranks of a
// round trip, r in 0..H-1 the place of the device from the entry, n the microbatches of a phase:
//   1. 2(H-r-1) x F0
//   2. (r+1) x [F0, F1]
//   3. (H-r-1) x [B1, W1, F1]
//   4. (n-2H+r+1) x [FB(F0, B1), FB(F1, B0)]; at r = H-1 the very first pair is F0, then BW1
//   5. (H-r-1) x [BW1, FB(F1, B0)]
//   6. (r+1) x [BW1, BW0]; in the second half, from turn (r+1)/2 (rounded down) on, they are split
//      and W is queued; in that turn itself only the second one if r is even
//   7. (H-r-1) x [W, B0]
//   8. (r+1) x W
// FB is a forward and a full backward of another microbatch run as one, W the oldest queued weight
// gradient. Source: arXiv 2412.19437 and its DualPipe repository.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/pipeline.h"

namespace orrery {

struct DualPipePhase {
  std::uint16_t chunk = 0;
  std::uint32_t first = 0;  // its microbatches are first, first + 1 and so on
};

std::vector<PipelineOperation> dualpipe_steps(int half, int place, int microbatches_a_phase,
                                              const DualPipePhase (&phases)[2]);

}  // namespace orrery
