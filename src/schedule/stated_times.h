// The times of a pipeline as a user or a profiler states them, on one line or in a file:
//
//   f=1,b=1,w=1,comm=0           plain numbers are arbitrary units
//   f=18.5ms:18.6ms:...,b=18.1ms a list has an entry for each stage, boundaries for each boundary
//
// In a file (YAML or JSON) a map of the same keys or their long names (forward, latency, ...).
//
// For a single schedule, one number is one operation on one virtual stage. To compare schedules
// with different numbers of chunks, one number is a device's whole share of a microbatch, of which
// a schedule of v chunks takes a v-th on each virtual stage; a list then divides the model by depth
// into as many parts as there are devices.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"
#include "outcome/result.h"
#include "schedule/pipeline_times.h"

namespace orrery {

// One entry: for all; none: not stated. Numbers are seconds or arbitrary units.
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

// Errors, each with its place: unknown or repeated keys, values that are not numbers, passes whose
// time is not above 0, negative values, times with a unit mixed with times without.
Result<StatedTimes> parse_stated_times(std::string_view text);
Result<StatedTimes> read_stated_times(const Document& document);
// Reads back to the same.
std::string to_text(const StatedTimes& times);

// The simulated time of one stated unit: 10^12 ps for seconds.
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

// By default F, B and W take one unit; a fused backward takes B + W and a pair F + BW; if only a
// fused backward is stated, B and W take half of it each; everything else takes no time. An
// unstated boundary between the last device and the first is the slowest stated one. Memory is one
// unit per stage (or device), weight_memory what memory is. A unit is simulated as the largest
// power of ten of picoseconds, up to 10^9 and `largest`, with which a step fits into whole
// picoseconds.
// Errors: lists of another length than stages, devices or boundaries; times too long, too short or
// too different in size to be simulated.
Result<ScaledTimes> scaled_times(const StatedTimes& stated, const PipelineShape& shape, TimesOf of,
                                 Picoseconds largest = Picoseconds(1e12));

}  // namespace orrery
