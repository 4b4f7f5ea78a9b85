// The whole of one simulated run in order: what it did from when to when.
//
// Training and what is spread over it (saves, evaluations) share a stretch, and so do the steps
// that a failure undoes: they are the last ones before it. Every other stretch is one loss. The
// losses add up to those of the run's outcome exactly, and so does the rest to its productive time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "forecast/run_simulation.h"

namespace orrery {

struct RunStretch {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::array<std::int64_t, kBadputs> lost_ns{};
  bool interrupted = false;  // ends with a failure

  [[nodiscard]] std::int64_t productive_ns() const;
};

// `record` and `outcome` are of one run.
std::vector<RunStretch> run_timeline(const RunRecord& record, const RunOutcome& outcome);

}  // namespace orrery
