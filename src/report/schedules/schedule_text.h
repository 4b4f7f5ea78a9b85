// A measured schedule as text for a terminal: the pipeline, why its devices are idle, what they
// hold.
#pragma once

#include <string>

#include "report/drawing/text_style.h"
#include "report/drawing/time_axis.h"
#include "schedule/measured_schedule.h"

namespace orrery {

struct ScheduleRemarks {
  std::string title;           // "zb_h1"
  double memory_limit = 0;     // 0: none
  bool stated_memory = false;  // memory is in the asker's units, not in microbatches
};

TimeAxis time_axis(const TimeUnit& unit);
// "4 devices · 8 microbatches · 2 chunks a device".
std::string shape_sentence(const PipelineShape& shape);
// "microbatches of a chunk": what is counted in memory.
std::string memory_unit(const MeasuredSchedule& schedule, bool stated_memory);

std::string schedule_text(const MeasuredSchedule& schedule, const ScheduleRemarks& remarks,
                          const TextStyle& style);

}  // namespace orrery
