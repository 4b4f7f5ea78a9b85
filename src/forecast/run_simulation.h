// Whole training runs, simulated from failure to failure.
//
// Steps follow each other; every so many steps the run pauses for an evaluation and then saves
// checkpoints. Failures come as a renewal process of the whole job in wall-clock time, whose gaps
// have the form of `gaps` and the mean 1 / (sum of the nodes' rates). A failure stops the job
// wherever it is, also within a save, an evaluation or a restart (which then begins again). The run
// continues from the newest checkpoint that was durable and survives, after the stages of a
// restart. The time between two failures is worked out in closed form: a run costs O(failures).
//
//   wall = steps x step + sum of badput          exactly: times are whole nanoseconds
//
// Without failures and with saves that take no time, a run takes exactly steps x step. With
// exponential failures and blocking saves the mean approaches the exact form of ettr.h.
//
// Nodes: a failure takes its node out with the probability `node_share`. With `spares` the job
// waits for a repair when none is left; without it there is always another node (the queue of a
// cluster is a stage of the restart). Lemon nodes fail more often and leave with their failures:
// each is replaced by a node that is a lemon with the probability `lemons.share`. A failure takes a
// whole rack with the probability `racks.share`; its nodes come back together after one repair.
//
// An elastic run that lacks k of its N nodes goes on, after the restart, with the
// floor((N - k) R / N) of its R data-parallel replicas that are left; the batch stays what it is, so
// that a step takes R / left times as long, to the nanosecond. When a repair ends, the step under way
// is finished and the run takes the node back without a pause. Below `least` replicas it waits.
//
// A planned stop comes `every` so long after the run began to train again: the step under way is
// finished, the state saved until it is durable, and after the time that the stop takes come the
// stages that a first start has.
//
// Left out: a step time that varies within a phase (the mean of a distribution is right for runs of
// thousands of steps), the order of recorded gaps, a rate of failures that falls with the nodes that
// are missing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "forecast/badput.h"
#include "forecast/failure_rates.h"
#include "forecast/restart_times.h"
#include "parallel/parallel_for.h"
#include "units/quantity.h"

namespace orrery {

// A kind of checkpoint that is saved every so many steps.
struct CheckpointLevel {
  std::int64_t every = 0;  // steps
  Seconds blocked = {};    // training stands still
  Seconds durable = {};    // from the start of the save until it is of use
  Seconds restore = {};    // to load it
  double survives = 1;     // probability that a failure leaves it intact
  bool operator==(const CheckpointLevel&) const = default;
};

// Another time of a step from there on.
struct LaterSteps {
  std::int64_t after = 0;  // steps of the run
  Seconds step;
  bool operator==(const LaterSteps&) const = default;
};

// Stops for maintenance.
struct PlannedStops {
  Seconds every;  // from the time the run trains again
  TimeLaw time;   // that the run is down, apart from its start
};

struct ElasticReplicas {
  std::int64_t replicas = 1;  // of the whole job
  std::int64_t least = 1;     // with which it goes on
};

struct RunModel {
  std::int64_t steps = 0;
  Seconds step;
  std::vector<LaterSteps> later;    // by ascending `after`
  std::int64_t evaluate_every = 0;  // steps; 0: never
  Seconds evaluation;
  std::vector<CheckpointLevel> checkpoints;  // none: a failure loses everything
  std::int64_t nodes = 1;
  Hertz failure_rate;                          // of a node, on average
  TimeLaw gaps{.law = TimeForm::exponential};  // the form alone
  LemonNodes lemons;
  double node_share = 1;
  FailingRacks racks;
  std::vector<RestartStage> restart;
  std::optional<std::int64_t> spares;
  TimeLaw repair;  // where there are spares
  std::optional<ElasticReplicas> elastic;
  std::optional<PlannedStops> planned;

  // Where so many nodes are missing.
  [[nodiscard]] std::int64_t replicas_lost(std::int64_t missing) const {
    return elastic ? (missing * elastic->replicas + nodes - 1) / nodes : missing;
  }
};

// All steps, without a pause.
Seconds training_time(const RunModel& model);
Seconds shortest_step(const RunModel& model);

// Time that a run lost: from that moment on, or spread over the training that begins there. The
// first entry of an interruption is the training before it that has to be done again.
struct LostStretch {
  std::int64_t at_ns = 0;
  std::int64_t ns = 0;
  Badput category = Badput::custom_badput_events;
  std::int64_t interruptions = 0;  // so far
};

// The run to simulate alone, and all that it loses (run_timeline.h puts it in order).
struct RunRecord {
  std::uint64_t run = 0;
  std::vector<LostStretch> lost = {};
};

struct RunOutcome {
  std::int64_t wall_ns = 0;
  std::int64_t productive_ns = 0;
  std::array<std::int64_t, kBadputs> badput_ns{};
  std::int64_t interruptions = 0;  // by failures
  std::int64_t planned = 0;

  [[nodiscard]] double ettr() const {
    return static_cast<double>(productive_ns) / static_cast<double>(wall_ns);
  }
  bool operator==(const RunOutcome&) const = default;
};

// The failures from which a run goes on at each level, as a share of all failures: those that leave
// it intact and none of the levels before it. Of the last level: all others.
std::vector<double> shares_of_failures(const std::vector<CheckpointLevel>& levels);

// A run whose expected ETTR is below is taken never to end.
inline constexpr double kLeastEttr = 0.05;
// Of all runs together: some two minutes of a core.
inline constexpr double kMostFailures = 1e9;
inline constexpr double kLeastReplicas = 0.1;  // share with which an elastic run goes on
inline constexpr std::int64_t kMostSpares = 1'000'000'000;

// Errors: what is impossible in the model; a run that would never end, with the largest interval of
// checkpoints with which it would.
Result<void> check(const RunModel& model);

// Run i depends on the seed and i alone. Errors: as check(); more than kMostFailures expected; a run
// that does not end. With a record `runs` is 1.
Result<std::vector<RunOutcome>> simulate_runs(const RunModel& model, std::int64_t runs,
                                              std::uint64_t seed, int threads,
                                              const Progressed& progressed = {},
                                              RunRecord* record = nullptr);

}  // namespace orrery
