// How long each step of a run takes, counted by when ranks are done.
//
//   step   from when a rank is done with the step before (its host has left it, and all work it
//          launched has ended) until it is done with this one; before the first step that is
//          what was launched before it, also before the recording began
//
// A step that only runs ahead on the host is thus not called shorter. Nor is one in which the
// device catches up with what it had left to do when the first step began: until it falls behind
// again or has caught up, a step takes what its host takes without its waits for the device. Stages
// that an edit made of a rank count as ranks. The parts are those of replay/replay.h within this
// window. O(work log work).
#pragma once

#include <span>
#include <vector>

#include "replay/replay.h"

namespace orrery {

struct StepOutcome {
  Seconds time;
  FourParts parts;
  Seconds waiting;  // for other ranks
  Seconds earlier;  // of the first step: from its start until what was launched before it is done
};

// By step of the graph. `host`: the run of the same graph whose threads say how long hosts take, as
// recorded times (below) have none of their own.
std::vector<StepOutcome> step_outcomes(std::span<const RecordedTrace> traces, const RunGraph& graph,
                                       const ReplayedRun& replayed, const ReplayedRun& host);
inline std::vector<StepOutcome> step_outcomes(std::span<const RecordedTrace> traces,
                                              const RunGraph& graph, const ReplayedRun& replayed) {
  return step_outcomes(traces, graph, replayed, replayed);
}

// The times at which the recording has what step_outcomes counts: works, on their host's clock, and
// ends of steps. Other nodes have none; waiting is not recorded.
ReplayedRun recorded_times(std::span<const RecordedTrace> traces, const RunGraph& graph);

// Mean over the steps of |replayed - recorded| / recorded, both counted as above.
double mean_error(const std::vector<StepOutcome>& recorded,
                  const std::vector<StepOutcome>& replayed);

// The mean of the steps; of a rank that became a pipeline, a step is as long as on its longest
// stage.
Seconds mean_time(const std::vector<RunStep>& steps, const std::vector<StepOutcome>& outcomes);
// What a rank waits for others in a step, on average.
Seconds mean_waiting(const std::vector<StepOutcome>& outcomes);

}  // namespace orrery
