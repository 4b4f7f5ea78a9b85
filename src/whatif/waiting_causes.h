// Who waited for whom: the waiting of a replayed run, booked on the rank that caused it.
//
// A communication begins when the last of its ranks has arrived. Of those that meet
//
//   waited of a rank   = begin - its arrival
//   caused by a rank   = sum of what the others waited where it arrived last
//                        (of several at once the first of the recordings)
//
// over the whole run. Both sum to the same. It is the rule by which `orrery trace analyze` books
// what is recorded (analyze/communication_table.h), here of a replay: of the recording itself the
// two agree to the error of the replay, and an edited run can be asked as well. Causing is not the
// same as costing: a rank that is late in one place may be ahead in the next, and where another is
// nearly as late, nothing is gained without it (whatif/stragglers.h).
// O(edges); thread-safe.
#pragma once

#include <vector>

#include "replay/run_graph.h"
#include "units/quantity.h"

namespace orrery {

struct RankWaiting {
  Seconds waited;
  std::int64_t arrived_last = 0;  // of the communications with two or more recorded ranks
  Seconds caused;                 // of other ranks' waiting
};

// By trace, of a run of so many.
std::vector<RankWaiting> waiting_causes(const RunGraph& graph, const ReplayedRun& times,
                                        std::size_t traces);

}  // namespace orrery
