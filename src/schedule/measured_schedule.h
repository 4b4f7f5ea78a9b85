// A schedule that was built, executed and measured, with everything that is drawn, written or
// compared.
#pragma once

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

}  // namespace orrery
