// Searches the best schedule for given stages, times and memory.
//
// Candidates, in this order: every registered schedule whose shape and peak memory fit; list
// schedules; local improvement of the best; an exact branch and bound. Each is measured by
// execute(), so the result is never worse than the best fixed schedule under the same limit.
//
// The model is divided into devices x chunks virtual stages. Schedules with fewer chunks per device
// join neighbouring ones, so all schedules compute the same. Cuts are searched one after the other,
// coarse ones first, each with budgets that do not depend on the finest: a finer cut allowed never
// gives a slower schedule.
//
// The lower bound holds for all orders of forward, input gradient and weight gradient on the
// placements considered (one chunk per device, and several in loops and snakes). Schedules that
// hold every stage twice (Chimera, BitPipe, DualPipe) compete too. If one of them wins, the bound
// is that of its placement with its share of microbatches in each direction, and `once` has the
// best schedule that holds each stage once.
//
// Deterministic: the same request and budgets give the same result, whatever the machine. The time
// limit by wall clock is a safety net; `stopped` says whether it ended the search.
// Source: arXiv 2401.10241 (problem and heuristics); the branch and bound is our own.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/enum_names.h"
#include "outcome/result.h"
#include "schedule/execution.h"
#include "schedule/pipeline.h"
#include "schedule/pipeline_times.h"
#include "units/quantity.h"

namespace orrery {

struct SynthesisRequest {
  PipelineShape shape;  // chunks: the finest cut of the model
  PipelineTimes times;  // of all virtual stages of `shape`, in the order of the model
  // The same model in fewer chunks a device. Without it only cuts that join whole virtual stages of
  // `shape` are tried.
  std::function<PipelineTimes(int chunks)> cut;
  // The most memory of a device, in the units of times.memory (without it: microbatches of one
  // virtual stage of the finest cut).
  double memory_limit = std::numeric_limits<double>::infinity();
};

// How a schedule was found.
enum class SynthesisMethod { published_schedule, list_scheduling, local_improvement, exact_search };
template <>
inline constexpr char kWordSeparator<SynthesisMethod> = ' ';  // "exact search"

enum class SynthesisStop { proven_best, budget_spent, time_limit, interrupted };
template <>
inline constexpr char kWordSeparator<SynthesisStop> = ' ';  // "proven best"

struct SynthesisProgress {
  std::string_view best;  // name of the schedule or of the method
  Picoseconds makespan, lower_bound;
  std::int64_t nodes = 0;  // of the exact search so far
};

struct SynthesisOptions {
  Seconds time_limit{60};
  // Operations that local improvement may place for each cut.
  std::int64_t placement_budget = 100'000'000;
  // Partial orders that the exact search may visit; 0: none. Every cut takes at most half of what
  // coarser ones left.
  std::int64_t node_budget = 20'000'000;
  std::stop_token stop;  // the best so far is the result
  std::function<void(const SynthesisProgress&)> progress;
};

// One schedule that was considered.
struct SynthesisCandidate {
  std::string name;
  int chunks = 1;
  bool fits = false;
  std::string reason;  // why it does not fit or cannot be; empty if it can
  Picoseconds makespan;
  double peak_memory = 0;  // of the fullest device
};

// The best schedule that holds every stage once, and the lower bound of such schedules.
struct SynthesisOnce {
  std::string winner;
  Picoseconds makespan, lower_bound;
  double gap = 0;
};

struct SynthesisResult {
  Pipeline pipeline;
  PipelineTimes times;  // of the stages of `pipeline`, which may be coarser than the request's
  PipelineMeasures measures;
  Picoseconds makespan, lower_bound;
  double gap = 0;      // makespan / lower_bound - 1
  std::string winner;  // registered name, or the method and placement
  SynthesisOnce once;
  SynthesisMethod method = SynthesisMethod::published_schedule;
  SynthesisStop stopped = SynthesisStop::budget_spent;
  std::int64_t nodes = 0;
  std::vector<SynthesisCandidate> candidates;
};

// Errors: bad times or shape; a memory limit too low for every schedule, with the least sufficient
// one.
Result<SynthesisResult> synthesise(const SynthesisRequest& request,
                                   const SynthesisOptions& options = {});

}  // namespace orrery
