// A measured schedule as JSON: the fields of the published golden schedules, and ours.
//
// Golden fields: schedule, arxiv, p, m, v, num_stages, placement, mode, params, op_time,
// comm_latency, microbatch_direction, stage_device, expected, device_ops. Times are in units of the
// asker's own, or seconds. Stages that differ make a number of op_time a list by virtual stage.
// device_ops[d]: [kind, microbatch, stage, start, end], a fused pair ["FB", microbatch and stage of
// the forward, of the backward, start, end]. Ours: bubble by cause, memory curves, lifetimes,
// weights and transfers. Reading it back: schedule_report_test.cc.
#pragma once

#include <string>

#include "document/value.h"
#include "schedule/measured_schedule.h"

namespace orrery {

inline constexpr int kScheduleSchemaVersion = 1;

struct ScheduleJsonRemarks {
  const Schedule* schedule = nullptr;  // null: synthesised
  int group = 0;                       // 0: not stated
  double memory_limit = 0;             // 0: none
  Value synthesis = {};                // how it was found; null: it was asked for
};

// One document with a final newline. Text, not a Value: a million operations stay compact.
std::string schedule_json(const MeasuredSchedule& schedule, const ScheduleJsonRemarks& remarks);

}  // namespace orrery
