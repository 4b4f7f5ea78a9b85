// What slow ranks cost: the run with every rank alike, and with one rank, or one kind of work, made
// like the others.
//
//   slowdown        recorded / even
//   of a rank       the time a step gains if only this rank's work takes as long as the mean
//   of a kind       the time a step gains if only this kind of work is even
//
// The gains of ranks do not add up to the whole: two equally slow ranks gain nothing alone.
// Source: ByteDance, "Understanding Stragglers in Large Model Training Using What-if Analysis"
// (slowdown, attribution by worker and type), on graphs of profiles instead of operation timelines.
// One simulation each.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "outcome/result.h"
#include "whatif/whatif.h"

namespace orrery {

struct StragglerGain {
  std::string edit;  // "even rank 2"
  std::string what;  // "rank 2", "host"
  Seconds gain;      // of a step, on average
};

struct Stragglers {
  Seconds before;
  Seconds even;
  std::vector<StragglerGain> ranks;  // in the order of the recordings
  std::vector<StragglerGain> kinds;
  [[nodiscard]] double slowdown() const { return even > Seconds(0) ? before / even : 1; }
};

// Errors: a single rank, or recordings that do not state their ranks.
Result<Stragglers> stragglers(std::span<const RecordedTrace> traces, const RunGraph& graph,
                              const Catalog& catalog);

}  // namespace orrery
