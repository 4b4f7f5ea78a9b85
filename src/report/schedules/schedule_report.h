// A measured schedule as text for a terminal (the pipeline, why its devices are idle, what they
// hold), as JSON, and as the spans that drawings and trace viewers show.
#pragma once

#include <string>
#include <vector>

#include "document/description.h"
#include "document/value.h"
#include "report/drawing/figures.h"
#include "report/drawing/text_style.h"
#include "schedule/comparison.h"
#include "schedule/measured_schedule.h"
#include "schedule/pipeline_span.h"
#include "schedule/stated_times.h"
#include "schedule/synthesis/synthesis.h"
#include "timeline/timeline_span.h"

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

// A measured schedule as JSON: the fields of the published golden schedules, and ours.
//
// Golden fields: schedule, arxiv, p, m, v, num_stages, placement, mode, params, op_time,
// comm_latency, microbatch_direction, stage_device, expected, device_ops. Times are in units of the
// asker's own, or seconds. Stages that differ make a number of op_time a list by virtual stage.
// device_ops[d]: [kind, microbatch, stage, start, end], a fused pair ["FB", microbatch and stage of
// the forward, of the backward, start, end]. Ours: bubble by cause, memory curves, lifetimes,
// weights and transfers. Reading it back: schedule_report_test.cc.
inline constexpr int kScheduleSchemaVersion = 1;

struct ScheduleJsonRemarks {
  const Schedule* schedule = nullptr;  // null: synthesised
  int group = 0;                       // 0: not stated
  double memory_limit = 0;             // 0: none
  Value synthesis = {};                // how it was found; null: it was asked for
};

// One document with a final newline. Text, not a Value: a million operations stay compact.
std::string schedule_json(const MeasuredSchedule& schedule, const ScheduleJsonRemarks& remarks);

// Every operation and transfer, in order of device and start. `chunk` counts along the way of a
// microbatch.
std::vector<PipelineSpan> pipeline_spans(const MeasuredSchedule& schedule);

// The same with their streams; a transfer carries an arrow to the operation that waits for it.
std::vector<TimelineSpan> timeline_spans(const MeasuredSchedule& schedule);

// The comparison of schedules as a table and as JSON.
inline constexpr int kComparisonSchemaVersion = 1;

// Fastest first, then those that do not fit, then why the others do not exist here.
std::string comparison_text(const Comparison& comparison, const TextStyle& style);
Value comparison_json(const Comparison& comparison);
const Description& comparison_document();

// Every registered schedule with what it does and where it comes from.
std::string schedule_list_text(const TextStyle& style);
Value schedule_list_json();

// How the best schedule was found, as text and as JSON.
std::string synthesis_text(const SynthesisResult& result, const TimeUnit& unit,
                           const TextStyle& style);
Value synthesis_json(const SynthesisResult& result, const TimeUnit& unit);

}  // namespace orrery
