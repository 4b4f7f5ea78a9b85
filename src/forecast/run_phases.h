// The phases of a run: stretches of steps with a batch, a sequence length or a plan of their own,
// each of which takes the step that `predict` gives for it.
//
//   steps of a phase = ceil((tokens until its end - tokens trained before it) / tokens of its step)
//
// so that rounding does not add up over phases. A ramp of the batch is a list of phases, as
// Megatron-LM's --rampup-batch-size START INCREMENT SAMPLES (num_microbatches_calculator.py): the
// batches from, from + by, ... below the batch of the run last over / ((batch - from) / by) each.
//
// Left out: the time to change from one phase to the next, phases on another number of accelerators.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "forecast/run_question.h"

namespace orrery {

struct ForecastPhase {
  std::string name;  // "phase 1"
  std::int64_t steps = 0;
  double tokens = 0;
  std::int64_t global_batch = 0;  // sequences
  std::int64_t sequence_length = 0;
  Seconds step_time;

  [[nodiscard]] Seconds healthy() const { return static_cast<double>(steps) * step_time; }
};

// At least one. The run has so many `tokens`, or so many steps where there are none. Errors: phases
// that leave no step for the last one; a phase whose plan cannot run or does not fit, by its name.
Result<std::vector<ForecastPhase>> phases_of(const PredictedStep& step, const Estimate& estimate,
                                             const RunQuestion& question,
                                             std::optional<double> tokens, const Catalog& catalog);

}  // namespace orrery
