// One training step predicted: the spine run once.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "cluster/cluster.h"
#include "cost/memory/memory.h"
#include "cost/step/training_conditions.h"
#include "estimate/uncertainty.h"
#include "model/model.h"
#include "outcome/result.h"
#include "plan/plan.h"
#include "plan/software.h"
#include "timeline/breakdown.h"

namespace orrery {

// A question: what, where, how.
struct Scenario {
  Model model;
  Cluster cluster;
  Training training;
  Plan plan;
  SoftwareProfile software = {};  // initially the default of plan/software.h
  bool software_stated = false;   // otherwise the default is among what is assumed
};

enum class Verdict { fits, tight, does_not_fit };

struct StageReport {
  std::vector<int> layers;  // layers of each chunk of this stage
  MemoryReport memory;      // expected composition and peak, per rank of this stage
  Picoseconds forward;      // one microbatch, all chunks
  Picoseconds backward;
  Picoseconds busy;  // computing stream, whole step
  Picoseconds end;   // when its last gradient is ready
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
  StepTimeInterval interval;  // of the step time; only estimate() and search set it
  double mfu = 0;
  double hfu = 0;
  FlopsPerSecond achieved_per_gpu;  // model FLOPs
  double tokens_per_second = 0;
  Breakdown breakdown;  // of the critical stage; total() == step_time
  int critical_stage = 0;
  std::vector<StageReport> stages;
  ByteCount peak_memory = 0;  // worst stage, expected
  int peak_memory_stage = 0;
  ByteCount pessimistic_memory = 0;  // of the stage where that is most
  ByteCount memory_capacity = 0;
  Verdict verdict = Verdict::fits;
  std::string bottleneck;            // one sentence
  std::vector<std::string> assumed;  // every default that was filled in
};

// Errors: an invalid plan (all reasons), unsupported combinations. A plan that does not fit in
// memory is no error: see verdict.
Result<Estimate> estimate(const Scenario& scenario, const Catalog& catalog);

// The same under other training conditions than the catalog's, which is what their calibration
// asks; without an interval.
Result<Estimate> estimate(const Scenario& scenario, const Catalog& catalog,
                          const TrainingConditions& conditions);

// The derivations of step time, MFU, HFU, tokens/s, memory, every line of the breakdown.
std::vector<Derivation> explain(const Scenario& scenario, const Estimate& estimate);

}  // namespace orrery
