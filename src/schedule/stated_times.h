// The times of a pipeline as a person or a profiler states them, on one line or in a file:
//
//   f=1,b=1,w=1,comm=0           plain numbers are units of the asker's own
//   f=18.5ms:18.6ms:...,b=18.1ms a list has an entry for each stage, boundaries for each boundary
//
// In a file (YAML or JSON) a map of the same keys or their long names (forward, latency, ...).
//
// A schedule speaks in virtual stages: one number is one operation on one virtual stage. To compare
// schedules of different chunks, one number is a device's whole share of a microbatch, of which a
// schedule of v chunks takes a v-th on each virtual stage; a list then divides the model by depth
// into as many parts as there are devices.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"
#include "outcome/result.h"
#include "schedule/pipeline_times.h"

namespace orrery {

// One entry: for all; none: not stated. Numbers are seconds or units of the asker's own.
struct StatedTimes {
  bool in_seconds = false;
  std::vector<double> forward, input_gradient, weight_gradient, backward, forward_and_backward;
  std::vector<double> latency, transfer;  // of boundaries
  std::vector<double> offload, reload;
  std::vector<double> output_layer, output_layer_gradient, input_layer, input_layer_gradient;
  std::vector<double> broadcast, first_barrier, second_barrier, input_reduction;
  std::vector<double> memory, weight_memory;
  bool operator==(const StatedTimes&) const = default;
};

// Errors, each with its place: unknown or repeated keys, what is no number, passes that take no
// time or less, anything negative, times with a unit beside times without.
Result<StatedTimes> parse_stated_times(std::string_view text);
Result<StatedTimes> read_stated_times(const Document& document);
// Reads back to the same.
std::string to_text(const StatedTimes& times);

// What one stated unit is in simulated time: 10^12 ps for seconds.
struct TimeUnit {
  Picoseconds one{1e9};
  bool seconds = false;
  [[nodiscard]] double of(Picoseconds t) const { return t.count() / one.count(); }
};

enum class TimesOf { virtual_stage, device };

struct ScaledTimes {
  PipelineTimes times;
  TimeUnit unit;
};

// Without statement F, B and W take one unit; a fused backward takes B + W and a pair F + BW; B and
// W not stated beside a fused backward take half of it each; everything else takes no time. An
// unstated boundary between the last device and the first is the slowest stated one. Memory is one
// unit a stage (or device), weight_memory what memory is. A unit is simulated as the largest power
// of ten of picoseconds, up to 10^9, with which a step fits into whole picoseconds.
// Errors: lists of another length than stages, devices or boundaries; times too long, too short or
// too different in size to be simulated.
Result<ScaledTimes> scaled_times(const StatedTimes& stated, const PipelineShape& shape, TimesOf of);

}  // namespace orrery
