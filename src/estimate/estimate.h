// The figures of a predicted step: time, utilization, memory, breakdown, and what they assume.
#pragma once

#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "cost/memory/memory.h"
#include "estimate/uncertainty.h"
#include "lower/step_category.h"
#include "outcome/enum_names.h"
#include "plan/plan.h"
#include "units/number_format.h"
#include "units/quantity.h"

namespace orrery {

struct PredictedStep;

// fits: even with the pessimistic allocator; tight: only with the expected one.
enum class Verdict { fits, tight, does_not_fit };
template <>
inline constexpr char kWordSeparator<Verdict> = '-';  // "does-not-fit"

struct StageReport {
  std::vector<int> layers;  // layers of each chunk of this stage
  std::string site;         // where the sites of the cluster differ and stages divide them
  MemoryReport memory;      // expected composition and peak, per rank of this stage
  // Of an accelerator; of replicas on sites that differ, of those with the least room left.
  ByteCount memory_capacity = 0;
  Picoseconds forward;  // one microbatch, all chunks
  Picoseconds backward;
  // In the whole step: its passes, with the communication that they expose; without bubbles,
  // waiting for other stages, reductions and the optimizer.
  Picoseconds busy;
  Picoseconds end;  // when its last gradient is ready
};

// One number with its derivation: "--explain".
struct Derivation {
  std::string figure;   // "mfu"
  std::string formula;  // "model FLOPs / (step time x GPUs x peak)"
  std::string inputs;   // "1.9e21 FLOP / (8.4 s x 16384 x 989 TFLOP/s)"
  std::string value;
  std::string source;  // paper, section, catalog entry
};

struct Estimate {
  Training training;  // completed
  Plan plan;          // completed
  std::string software;
  int gpus = 0;
  int microbatches = 0;
  Seconds step_time;
  StepTimeInterval interval;  // of the step time, if the errors of measured steps are given
  double mfu = 0;             // of all pairs of tokens
  double causal_mfu = 0;      // of the pairs alone that causal attention computes
  double hfu = 0;
  FlopsPerSecond achieved_per_gpu;  // model FLOPs
  double tokens_per_second = 0;
  Breakdown breakdown;  // of the critical stage; total() == step_time
  int critical_stage = 0;
  std::vector<StageReport> stages;
  ByteCount peak_memory = 0;  // expected, of the stage with the least room
  int peak_memory_stage = 0;
  ByteCount pessimistic_memory = 0;  // of the stage where that leaves the least room
  ByteCount memory_capacity = 0;     // of an accelerator of peak_memory_stage
  Verdict verdict = Verdict::fits;
  std::string bottleneck;            // one sentence
  std::vector<std::string> assumed;  // every default that was filled in
};

// Whether causal attention leaves out so much of what MFU counts that both are worth stating: more
// than five percent of the peak.
bool differs_by_causality(const Estimate& estimate);

// The figures alone.
Estimate estimate(const PredictedStep& step);
// With the interval that the errors of measured steps give, and with what is assumed.
Estimate estimate(const PredictedStep& step, const Uncertainty& errors);

// The derivations of step time, MFU, HFU, tokens/s, memory and every line of the breakdown; `e` is
// the estimate of `step`.
std::vector<Derivation> explain(const PredictedStep& step, const Estimate& e);

// Of all accelerators together; each must have the format.
FlopsPerSecond peak_of(const Cluster& cluster, NumberFormat precision);

}  // namespace orrery
