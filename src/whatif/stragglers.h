// What slow ranks cost: the run with every rank alike, and what each rank and each kind of work has
// to do with it.
//
//   slowdown    recorded / even                               (whatif/even_edit.h)
//   alone       recorded - the step if only this rank, or only this kind of work, is even
//   remains     the step if all but this one are even - even
//
// Where ranks are late in turns, each alone gains little or nothing, as the others are still late;
// what remains tells them apart. Where one rank is late, both say the same.
//
// and, beside the counterfactuals, who waited for whom in the run as it was
// (whatif/waiting_causes.h). Ranks may cause waiting without costing anything: where the hosts of
// all are as slow as each other and pause in turns, whoever happens to be behind is waited for, and
// without it the next is.
//
// A rank waits for others in a step, on average, for `waiting`: the most that the even run can gain
// (analyze/findings.h finds the same figure in the recording). What still waits in the even run
// started apart, or ran ahead of others.
// Source: ByteDance, "Understanding Stragglers in Large Model Training Using What-if Analysis",
// section 3 (slowdown; attribution by fixing all but one worker, or one type of operation), on
// graphs of profiles instead of operation timelines. Two simulations for each rank and kind.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "outcome/result.h"
#include "replay/run_graph.h"
#include "units/quantity.h"
#include "whatif/waiting_causes.h"

namespace orrery {

struct StragglerGain {
  std::string edit;  // "even rank 2"
  std::string what;  // "rank 2", "host"
  Seconds gain;      // of a step, on average: alone
  Seconds remains;
};

struct Stragglers {
  Seconds before;
  Seconds even;
  Seconds waiting_before;
  Seconds waiting_even;
  std::vector<StragglerGain> ranks;  // in the order of the recordings
  std::vector<StragglerGain> kinds;
  std::vector<RankWaiting> waiting;  // of the whole run, by rank

  [[nodiscard]] double slowdown() const { return even > Seconds(0) ? before / even : 1; }
};

// Errors: a single rank, or recordings that do not state their ranks.
Result<Stragglers> stragglers(std::span<const RecordedTrace> traces, const RunGraph& graph);

}  // namespace orrery
