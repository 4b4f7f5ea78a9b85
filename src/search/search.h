// The best plans of a joint space, and why they win.
//
// Every shape-valid plan of the space is priced: its memory, exactly, and a lower bound on its step
// time (lower_bound). Plans that do not fit are set aside; the rest are simulated in order of their
// bound until the bound of the next is no better than the worst of the best k found. Since the
// bound never exceeds the step time, no plan that belongs to the best k is missed. Everything is
// done in an order fixed by the space, in batches of fixed size: the result, and every count, is
// the same for any number of threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "search/further_axes.h"

namespace orrery {

// Axes of the space. An empty list means: every value that may be worth considering for this model
// and cluster (default_space says which).
struct SearchSpace {
  std::vector<std::int64_t> tp, cp, pp, ep, chunks, micro_batch, zero;
  std::int64_t pipeline_zero = 3;              // no higher `zero` with pp > 1
  std::vector<std::int64_t> dp;                // what the GPUs leave, unless stated
  std::vector<std::int64_t> recompute_layers;  // with full recomputation; empty: 0 and quarters
  std::vector<Recompute> recompute;
  std::vector<std::vector<RecomputeModule>> modules;  // with selective recomputation
  std::vector<ExpertDispatch> dispatch;
  std::vector<ContextParallel> context_parallel;
  std::vector<TableSharding> table_sharding;
  std::vector<std::int64_t> towers;
  std::vector<VectorCodec> codec;
  std::vector<std::string> schedules;
  std::vector<std::vector<MeshAxis>> placements;
  std::vector<FurtherAxis> further;  // that somebody asked for; every combination is searched
  // Fields of the plan that somebody stated: they stay when the other axes are tried.
  std::vector<std::string> stated;
};

// What a plan is worth to whoever asks, in place of its step time: the smaller the better; none: it
// is not allowed. Called by several threads. An error sets the plan aside.
using Judge = std::function<Result<std::optional<double>>(const Estimate&)>;

// Told the share that is done and the best plan so far.
using SearchProgress = std::function<void(double fraction, const std::string& best)>;

struct SearchOptions {
  int top = 10;
  int threads = 0;  // 0: all cores; the result does not depend on it
  // Improve the best plans, and the best with another value on each axis, on the axes outside the
  // space too: the best of all plans that differ on one axis, again until none is better.
  bool all_axes = false;
  bool best_alone = false;  // no runners-up and no front: not with all_axes or a judge
  // If given, every plan that fits is simulated and judged, in order of its lower bound: nothing is
  // known of the function that would set plans aside. Not with all_axes.
  Judge judge;
  SearchProgress progress;  // may be empty
  // The best so far when it turns true, or when this time has come.
  const std::atomic<bool>* interrupted = nullptr;
  std::optional<std::chrono::steady_clock::time_point> deadline;
};

// What the best plan with another value on one axis would cost.
struct RunnerUp {
  std::string axis;    // "tp"
  std::string winner;  // the winner's value, "8"
  std::string other;   // the value of the best plan that differs
  Estimate best_other;
};

struct NearMiss {  // a faster-looking plan that does not fit
  Plan plan;
  Seconds bound;  // no faster than this
  ByteCount peak_memory = 0;
  ByteCount shortfall = 0;
  int stage = 0;
};

struct Judged {
  std::int64_t plans = 0;
  std::int64_t not_allowed = 0;
  std::int64_t failed = 0;     // set aside by an error
  std::string failure;         // the first of these errors
  std::vector<double> values;  // of SearchResult::plans
};

struct SearchResult {
  std::vector<Estimate> plans;                  // best first, each with its interval
  std::vector<std::int64_t> equal_plans;        // for each of them: others of its time and memory
  std::shared_ptr<const PredictedStep> winner;  // the step of the first; none if nothing fits
  std::vector<Estimate>
      pareto;  // step time against peak memory, fastest first, up to twice the best
               // step time; a point needs 1 % less memory than the one before
  std::vector<RunnerUp> runners_up;
  // Where the first plan is tight in memory: the best that fits with the pessimistic allocator too.
  std::optional<Estimate> surely_fitting;
  std::vector<NearMiss> near_misses;  // the fastest-looking first, at most three
  std::int64_t considered = 0;   // shape-valid plans, each with its own memory and bound computed
  std::int64_t too_large = 0;    // of these: do not fit
  std::int64_t bounded = 0;      // of these: fit, but their bound is worse than the best plans
  std::int64_t evaluated = 0;    // of these: simulated
  std::int64_t improved = 0;     // beyond these: simulated because of all_axes
  std::optional<Judged> judged;  // if there was a judge
  std::vector<std::string> not_searched;  // fields of a plan, neither stated nor searched
  std::vector<std::string> never_tried;   // "halves=batch: why": asked for, but in no valid plan
  std::vector<std::string> schedules;     // that were searched
  std::string schedules_line;             // where nobody stated any: which these are, and why
  bool interrupted = false;
  std::vector<NearMiss> least_memory;  // when nothing fits: the plan that needs least
};

// `scenario.plan` gives the values of everything the space does not range over; layers that it
// lists are kept, so that only pp x chunks of as many virtual stages are valid. Errors: nothing in
// the space is valid (the reasons of the simplest plan), or the scenario itself is invalid.
Result<SearchResult> search(const Scenario& scenario, const SearchSpace& space,
                            const SearchOptions& options, const Catalog& catalog);

// The space with every empty axis filled: tp divides the heads, up to twice the scale-up domain; cp
// is a power of two that leaves 1024 tokens a rank, by all-gather, ring and all-to-all; pp up to
// the number of layers; ep divides the experts, by either dispatch; chunks for every distinct
// number of layers of a virtual stage; microbatches of 1 to 16 sequences; ZeRO 0 to 3; every
// recomputation, three sets of modules of selective recomputation; embedding tables by the planner
// or all divided in one way, with a tower on each node or without, and the best codec if the model
// has one whose error is bounded; the schedules of the software that have a fixed order, all of
// these if it is not known which it has, and no pipeline if it has none; dp inside or outside pp.
SearchSpace default_space(const Scenario& scenario, SearchSpace space);

}  // namespace orrery
