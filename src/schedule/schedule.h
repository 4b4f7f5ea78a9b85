// A pipeline schedule: a rule that gives the order of every device for a shape and times.
//
// A schedule depends on stages, microbatches and chunks, but not on models or clusters. It is one
// file in published/ that fills one Schedule, its declaration in published/published_schedules.h
// and its line in schedules(). Everything else (bubbles, makespan, memory in flight, drawings)
// follows from the order, by simulation.
//
// Dependencies: F(j,s) after F(j,s-1); B(j,s) after F(j,s) and B(j,s+1); W(j,s) after B(j,s). A
// fused backward stands for B and W together. See pipeline_dependencies.h for the rest.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"
#include "schedule/pipeline.h"
#include "schedule/pipeline_times.h"

namespace orrery {

struct ScheduleRequest {
  PipelineShape shape;
  // Microbatches that pass a chunk together, for the schedules that group them; 0: their default.
  int group = 0;
  // The times for which the order is made; schedules with a fixed order ignore them. Empty (no
  // stages): one unit for each of F, B and W of a device's share of a microbatch, no latency.
  PipelineTimes times;
  // The most memory of a device, in the units of `times.memory` (without it: microbatches of one
  // virtual stage), for schedules that support a limit.
  double memory_limit = std::numeric_limits<double>::infinity();
  std::uint64_t seed = 0;  // of stochastic schedules; the same seed gives the same schedule
  auto operator<=>(const ScheduleRequest&) const = default;
};

struct Schedule {
  std::string_view name;
  std::string_view summary;  // what it does, in one line, with its source
  int chunks = 0;            // the only possible number of chunks; 0: any
  int routes = 1;            // copies of every virtual stage; 2 for bidirectional schedules
  bool splits_backward = false;
  bool pairs_passes = false;       // runs forwards and backwards of different microbatches as one
  bool made_for_times = false;     // the order depends on the times (or on the memory limit)
  bool asynchronous = false;       // its gradients differ from those of a synchronous step
  bool splits_vocabulary = false;  // its order has the passes of vocabulary parallelism
  int vocabulary_barriers = 0;     // then 1 or 2, as in Pipeline

  // Every reason why the request cannot be scheduled, with the numbers; empty if it can. Null if
  // every shape can be scheduled.
  std::vector<std::string> (*problems)(const ScheduleRequest&) = nullptr;
  // The virtual stage of `chunk` on `device`; `chunk` is in [0, routes * shape.chunks).
  int (*virtual_stage)(const PipelineShape&, int device, int chunk) = nullptr;
  // The order of every device, for requests without problems. Error: a memory limit below what this
  // schedule needs, which the error states.
  Result<Pipeline> (*pipeline)(const ScheduleRequest&) = nullptr;
  // Microbatches of each chunk whose activations `device` holds at its fullest moment, if all
  // chunks need the same memory. A closed form, or null if there is none (then see in_flight.h).
  std::vector<int> (*peak_in_flight)(const PipelineShape&, int device) = nullptr;
  // The most microbatches that pass a chunk in one direction before the device turns to another;
  // null: all of them.
  int (*longest_run)(const ScheduleRequest&) = nullptr;
};

// Whether a search can take a schedule: it is synchronous, and its stages have a place.
inline bool can_be_searched(const Schedule& schedule) {
  return !schedule.asynchronous && schedule.virtual_stage != nullptr;
}

// All schedules, the simplest strategies first.
std::span<const Schedule> schedules();
// Hyphens and underscores are equivalent. Error: unknown name, with the nearest one.
Result<const Schedule*> find_schedule(std::string_view name);

// Every reason why the request is impossible: a count below 1, more operations than can be
// simulated, another number of chunks than the schedule allows, then the schedule's own problems.
std::vector<std::string> schedule_problems(const Schedule& schedule,
                                           const ScheduleRequest& request);

// The pipeline of a schedule. Errors: every problem, in one text.
Result<Pipeline> pipeline(const Schedule& schedule, const ScheduleRequest& request);

// A request's times, or unit times if it has none.
PipelineTimes times_or_unit(const ScheduleRequest& request);

inline constexpr double kMaxPipelineOperations = 1 << 24;

}  // namespace orrery
