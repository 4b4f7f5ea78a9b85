// A published schedule by name, worked out and measured for stated times: what `orrery schedule
// NAME` shows.
#pragma once

#include <limits>
#include <string>

#include "schedule/measured_schedule.h"
#include "schedule/stated_times.h"

namespace orrery {

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
