// The distribution of the time of a step: quantiles, what makes its tail, where a slow node hurts
// least, and what spare replicas would save.
//
//   quantiles      order statistics of the samples (step_samples.h), each with its 95 % interval
//   tail by kind   the fall of p95 when this kind of work takes the same time always; the falls
//                  need not add up
//   slow node      p95 with one node slower, in each stage in turn
//   replicas left  quantiles of the step that waits for all replicas but the slowest one or two:
//                  what spare replicas (backup workers, arXiv 1604.00981) save
//   coded          the same step with gradient coding (Tandon et al., arXiv 1612.03301, Theorem 1):
//                  every replica computes the gradients of s + 1 parts of the batch, so that those
//                  of any s replicas are not needed. Predicted as the step of a batch (s + 1) times
//                  as large that waits for all replicas but the slowest s
//   moments        p50 and p95 without samples (step_moments.h), as a check
//   scale          predicted time / median of the samples without slow nodes, by which all times
//                  are multiplied: the prediction is fitted to measured steps, which vary too, so
//                  that it contains what waiting for the slowest usually costs
//   together       every sample times exp(e), e with the quantiles of the estimate's interval: how
//                  far the prediction may be off, beside what varies
//
// All of them on the same random numbers. A sample draws machines and moment at once: the samples
// differ as steps on different allocations do. Left out: correlation from step to step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "estimate/estimate.h"
#include "forecast/run_spread.h"
#include "forecast/step_samples.h"

namespace orrery {

// What is asked: the field `step` of the section `forecast` of a specification.
struct StepQuestion {
  std::string variability = "prism";  // of the catalog
  std::string spread = {};            // settings over it: "products.spatial=0.03"
  std::vector<SlowNodes> slow = {};
  double slow_node = 1.2;               // time of the node whose best stage is looked for; 1: none
  std::optional<Seconds> exceeds = {};  // how likely a step takes longer
  std::int64_t samples = 10'000;
  std::uint64_t seed = 1;
  bool operator==(const StepQuestion&) const = default;
};
Fields<StepQuestion> fields_of(const StepQuestion*);

inline constexpr std::int64_t kMostSamples = 1'000'000;

struct TailShare {
  VaryingWork kind = VaryingWork::products;
  double share_of_p95 = 0;  // by which p95 falls
};
struct SlowStage {
  std::int64_t stage = 0;
  double over_p95 = 0;  // p95 with the slow node over p95 without
};
struct FewerReplicas {
  std::int64_t dropped = 0;
  Seconds p50, p95;
};
struct CodedStep {
  std::int64_t tolerated = 0;  // s, slow replicas that are not needed
  Seconds p50, p95;
};
struct StepTimes {
  RunQuantile<Seconds> p5, p50, p95, p99, p99_9;
  Seconds mean;
};

struct StepDistribution {
  Seconds predicted;  // by estimate
  double scale = 1;   // of all times
  StepTimes times;
  StepTimeInterval interval;              // of the prediction
  StepTimes together;                     // with it
  std::vector<Seconds> sampled;           // ascending: `times` summarizes them
  std::vector<Seconds> sampled_together;  // ascending
  std::optional<Seconds> exceeds;
  RunQuantile<double> exceeds_share;   // probability
  std::vector<TailShare> tail;         // most first
  std::vector<SlowStage> slow_stages;  // by stage
  std::vector<FewerReplicas> fewer;
  std::vector<CodedStep> coded;        // empty where such a batch cannot be predicted
  std::optional<Seconds> moments_p50;  // absent where step_moments() is
  std::optional<Seconds> moments_p95;
  std::int64_t accelerators = 0;
  std::int64_t lock_step = 1;  // accelerators of a stage that meet in every layer
  std::int64_t replicas = 1;
  std::int64_t samples = 0;
  std::uint64_t seed = 0;
  double slow_node = 1;
  Variability variability;
  std::vector<std::string> assumed;  // sentences
};

// Its spreads. Errors: an unknown name; settings that cannot be.
Result<Variability> variability_of(const StepQuestion& question, const Catalog& catalog);

// Errors: unknown names; spreads, stages, times and counts that cannot be.
Result<StepDistribution> step_distribution(const PredictedStep& step, const Estimate& estimate,
                                           const StepQuestion& question, const Catalog& catalog,
                                           int threads, const Progressed& progressed = {});
// Its times alone.
Result<StepTimes> sampled_step_times(const PredictedStep& step, Seconds predicted,
                                     const StepQuestion& question, const Catalog& catalog,
                                     int threads, const Progressed& progressed = {});

}  // namespace orrery
