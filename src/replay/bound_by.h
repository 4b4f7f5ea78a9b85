// What a replayed step was bound by: walked back from its end, at every moment the one thing whose
// end let the next begin. The parts sum to the replayed step exactly.
//
// A step bound by the host comes out right whenever the host's own durations, which are inputs, are
// put in order; only the rest of it is predicted. O(nodes + edges), once for all steps of a run.
#pragma once

#include <vector>

#include "replay/run_graph.h"
#include "units/quantity.h"

namespace orrery {

struct BoundBy {
  Seconds host;           // threads of the rank, with calls of the runtime
  Seconds launches;       // from calls and other streams to work, and between two works
  Seconds device;         // computing kernels, copies and fills of the rank
  Seconds communication;  // transfers, from when the last rank has come
  Seconds other_ranks;    // until the last rank has come: whatever kept it

  [[nodiscard]] Seconds total() const {
    return host + launches + device + communication + other_ranks;
  }
};

// Of every step of the graph.
std::vector<BoundBy> bound_by(const RunGraph& graph, const ReplayedRun& replayed);

}  // namespace orrery
