// What bounds a replayed step: its critical path (timeline/critical_path.h), divided by kind. The
// parts add up to the replayed step exactly.
//
// The part bound by the host repeats recorded durations, which are inputs; only the rest of the
// step is predicted. O(nodes + edges), once for all steps of a run.
#pragma once

#include <vector>

#include "replay/run_graph.h"
#include "units/quantity.h"

namespace orrery {

struct BoundBy {
  Seconds host;           // threads of the rank, with calls of the runtime
  Seconds launches;       // delays from calls and other streams to work, gaps between work
  Seconds device;         // computing kernels, copies and fills of the rank
  Seconds communication;  // transfers, after the last rank has arrived
  Seconds other_ranks;    // whatever delayed the rank that arrived last

  [[nodiscard]] Seconds total() const {
    return host + launches + device + communication + other_ranks;
  }
};

// Of every step of the graph.
std::vector<BoundBy> bound_by(const RunGraph& graph, const ReplayedRun& replayed);

}  // namespace orrery
