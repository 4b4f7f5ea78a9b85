// Compares the replayed run with the recorded one, step by step and rank by rank.
//
//   recorded, replayed   from the start to the end of a step on its host thread (ProfilerStep#N)
//   error                |replayed - recorded| / recorded
//
// and the four parts of the step's window on the device (replay/four_parts.h), in both. Two figures
// say how well the device was predicted, because the duration of a step that is bound by its host
// does not show this:
//
//   misplaced      share of the step that the replay puts into another part than the recording,
//                  half the sum of the differences of the parts over the recorded step
//   displacement   median over the work that began in the step of how far its start since the
//                  step's start is from the recorded one (on the host's clock)
//
// and `bound_by` (replay/bound_by.h) says how much of the step depended on the device at all.
//
// Source: Lumos, arXiv 2504.09307, sections 3.6 and 3.8. Kernels are counted where they run,
// clipped at the window. O(work log work) over all steps.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/bound_by.h"
#include "replay/four_parts.h"
#include "replay/graph_from_run.h"

namespace orrery {

struct ReplayedStep {
  std::uint32_t trace = 0;
  std::int64_t rank = kNotRecorded;
  std::string name;
  Seconds recorded;
  Seconds replayed;
  FourParts recorded_parts;
  FourParts replayed_parts;
  Seconds displacement;
  BoundBy bound_by;

  [[nodiscard]] double error() const;
  [[nodiscard]] double misplaced() const;
};

struct Replay {
  std::vector<ReplayedStep> steps;  // by trace, then by start
  double mean_error = 0;
  double worst_error = 0;
  double mean_misplaced = 0;
  double worst_misplaced = 0;
  std::size_t dropped_edges = 0;  // ReplayedRun
};

Replay replay(std::span<const RecordedTrace> traces, const RunGraph& graph);
// The same for a run that was already simulated.
Replay replay(std::span<const RecordedTrace> traces, const RunGraph& graph,
              const ReplayedRun& replayed);

}  // namespace orrery
