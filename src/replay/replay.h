// The replayed run against the recorded one, step by step and rank by rank.
//
//   recorded, replayed   from the start to the end of a step on its host thread (ProfilerStep#N)
//   error                |replayed - recorded| / recorded
//
// and the four parts of the step's window on the device, in both:
//
//   exposed compute         computing kernels run, communication does not
//   overlapped              both
//   exposed communication   communication runs, no computing kernel does
//   other                   neither: copies, fills, idle
//
// Source: Lumos, arXiv 2504.09307, sections 3.6 and 3.8. Kernels are counted where they run,
// clipped at the window. O(works log works) a step.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "replay/graph_from_run.h"

namespace orrery {

struct FourParts {
  Seconds exposed_compute;
  Seconds overlapped;
  Seconds exposed_communication;
  Seconds other;

  [[nodiscard]] Seconds total() const {
    return exposed_compute + overlapped + exposed_communication + other;
  }
};

struct ReplayedStep {
  std::uint32_t trace = 0;
  std::int64_t rank = kNotRecorded;
  std::string name;
  Seconds recorded;
  Seconds replayed;
  FourParts recorded_parts;
  FourParts replayed_parts;

  [[nodiscard]] double error() const;
};

struct Replay {
  std::vector<ReplayedStep> steps;  // by trace, then by start
  double mean_error = 0;
  double worst_error = 0;
  std::size_t dropped_edges = 0;  // ReplayedRun
};

Replay replay(std::span<const RecordedTrace> traces, const RunGraph& graph);
// The same of a run already simulated.
Replay replay(std::span<const RecordedTrace> traces, const RunGraph& graph,
              const ReplayedRun& replayed);

}  // namespace orrery
