// A schedule that was built, executed and measured, with everything that is drawn, written or
// compared.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "schedule/bubble.h"
#include "schedule/memory_curve.h"
#include "schedule/schedule.h"
#include "schedule/stated_times.h"

namespace orrery {

struct MeasuredSchedule {
  std::string name;
  Pipeline pipeline;
  PipelineTimes times;
  TimeUnit unit;
  Sends sends = Sends::asynchronous;
  PipelineExecution execution;
  std::vector<IdleTime> idle;                     // by device
  std::vector<std::vector<MemoryChange>> memory;  // by device
  std::vector<ActivationLifetimes> lifetimes;     // by device

  // The highest of all devices, in the units of times.memory.
  [[nodiscard]] double peak_memory() const;
  // The weights that a device holds, relative to its share of the model: two in bidirectional
  // schedules, the number of versions in asynchronous ones, one for every peer of a stage.
  [[nodiscard]] double weights_held() const;
  // Activations that the busiest device sends to other devices, per microbatch of the step: 1 in
  // 1F1B, v in a loop of v chunks. As many gradients come back.
  [[nodiscard]] double sends_per_microbatch() const;
  // The sum over all devices.
  [[nodiscard]] IdleTime idle_sum() const;
};

// Errors: those of execute (a deadlock, with its cycle).
Result<MeasuredSchedule> measured_schedule(std::string name, Pipeline pipeline, PipelineTimes times,
                                           TimeUnit unit, Sends sends);

// A published schedule by name, worked out and measured for stated times: what `orrery schedule
// NAME` shows.

struct ScheduleQuestion {
  std::string name;  // of a schedule
  int stages = 0;
  int microbatches = 0;
  int chunks = 0;  // 0: the schedule's own number
  int group = 0;   // 0: the schedule's default
  StatedTimes times;
  double memory_limit = std::numeric_limits<double>::infinity();
  bool blocking = false;
};

// Errors: unknown schedule; counts that it cannot have; times that are not of that shape; more
// memory than the limit.
Result<MeasuredSchedule> asked_schedule(const ScheduleQuestion& question);

}  // namespace orrery
