// A whole training run, forecast: how long it takes and how likely, what is lost to what, what it
// costs, and which change would help most.
//
//   steps = ceil(tokens / tokens of a step),   wall-clock time = simulation of the steps, each as
//   long as the one `estimate` predicts (or, where asked, as the mean or the p95 of its
//   distribution), with failures, checkpoints and restarts (run_simulation.h)
//   GPU-hours, cost, energy and carbon follow from the wall-clock time (run_costs.h)
//
// The quantiles are those of the run's luck with failures. How far the step time itself may be off
// is another matter: the interval of `estimate`, which scales all times, is stated beside them.
// A run with phases walks each with its own step (run_phases.h); checkpoints and evaluations come
// every so many steps in all of them.
// Left out: power that falls while a run waits, restarts of the learning curve, prices that change.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "forecast/checkpoint.h"
#include "forecast/run_costs.h"
#include "forecast/run_phases.h"
#include "forecast/run_question.h"
#include "forecast/run_simulation.h"
#include "forecast/run_spread.h"
#include "forecast/scaling_law.h"

namespace orrery {

// One cause made better by a half, on the same random numbers.
struct Knob {
  std::string name;  // "half the failures"
  double ettr = 0;   // mean
  Seconds saved;     // of the mean wall-clock time; below 0: it costs
  // What the cause doubled would add to it; empty if the run would not end, or nothing is doubled.
  std::optional<Seconds> doubled = {};
};

// What a scaling law says of the run.
struct LossForecast {
  std::string law;
  Allocation run;          // the active parameters that count, the law's tokens, the loss
  double worth = 0;        // dense parameters; those that are active but for a law of experts
  Allocation cheapest;     // of that loss
  double batch = 0;        // tokens of a step of the last phase
  double critical = 0;     // batch
  double extra_share = 0;  // of tokens beyond those of the law, for the batch
};

struct RunForecast : RunCosts {
  std::optional<double> tokens;
  std::int64_t steps = 0;
  StepOfRun step_at = StepOfRun::predicted;
  Seconds step_time;  // that of the run, the mean of phases
  std::vector<ForecastPhase> phases;
  StepTimeInterval step_interval;
  Seconds healthy;  // steps x step time
  std::int64_t nodes = 0;

  FailureRates failures;
  Seconds mean_time_to_failure;  // infinite: nothing fails
  RestartTimes restart;
  Seconds mean_restart;  // with the loading of the checkpoint
  CheckpointCost checkpoint;
  std::vector<CheckpointLevel> levels;  // in memory first
  RunModel model;                       // that was simulated

  std::int64_t runs = 0;
  std::uint64_t seed = 0;
  std::vector<Seconds> walls;  // of the runs, ascending
  RunSpread<Seconds> wall;
  RunSpread<double> ettr;
  RunSpread<double> interruptions;
  double planned = 0;                      // mean of the stops that are planned
  std::array<Seconds, kBadputs> badput{};  // means
  std::uint64_t median_run = 0;            // the one whose wall-clock time is the median
  std::int64_t median_interruptions = 0;   // of that run
  // Closed form of exponential failures and blocking saves, where the run has these, no spares and
  // no evaluations.
  std::optional<double> exact_ettr;
  std::optional<LossForecast> loss;
  std::optional<Seconds> within;
  RunQuantile<double> ends_within;  // probability
  std::optional<std::chrono::sys_days> start;
  std::optional<std::chrono::sys_days> by;  // what `within` stands for
  std::optional<Dollars> budget;
  RunQuantile<double> costs_at_most;  // probability

  std::vector<Knob> knobs;           // by what they save, most first
  std::vector<std::string> assumed;  // sentences

  [[nodiscard]] bool fails() const { return failures.per_1000_node_days > 0; }
  // After a failure or a planned stop.
  [[nodiscard]] bool restarts() const { return fails() || model.planned.has_value(); }
};

// What is refused before the step is known: what check() refuses, unknown names, spares without a
// time of repair. The price of an accelerator, if there is one.
Result<std::optional<DollarsPerSecond>> check_run(const RunQuestion& question,
                                                  const Cluster& cluster, const Catalog& catalog);

// How it is worked out.
struct ForecastWork {
  int threads = 0;
  Progressed progressed = {};
  bool knobs = true;                           // also what would help
  std::optional<StepTimes> sampled_step = {};  // the distribution of the step, where it is known
};

// `failures` in place of those that the question names. Errors: what check() refuses; unknown
// names; spares without a time of repair; a run that would never end.
Result<RunForecast> forecast(const PredictedStep& step, const Estimate& estimate,
                             const RunQuestion& question,
                             const std::optional<FailureRates>& failures, const Catalog& catalog,
                             const ForecastWork& work);

}  // namespace orrery
