// Compares all schedules on one pipeline.
//
// The model is the same for all: stated times are a device's whole share of a microbatch, of which
// a schedule of v chunks takes a v-th on each virtual stage; memory counts a device's share of the
// activations of one microbatch as one. No row comes from a formula: every one is a simulated
// order. Stated vocabulary passes (one device's share each) belong to the model: schedules that do
// not divide them run all of them on their first and last stage.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/measured_schedule.h"

namespace orrery {

struct ComparisonRequest {
  int devices = 1;
  int microbatches = 1;
  int chunks = 0;  // of schedules with any number of chunks; 0: two and four
  StatedTimes times;
  double memory_limit = std::numeric_limits<double>::infinity();
  Sends sends = Sends::asynchronous;
  // Told of each schedule before it is measured, with the share that is done; where it returns
  // false, this one and the rest are left out. May be empty.
  std::function<bool(double share, std::string_view schedule)> progress;
};

struct ComparedSchedule {
  const Schedule* schedule = nullptr;
  PipelineShape shape;
  std::string reason;  // why it is not measured, or does not fit; empty if it does
  bool measured = false;
  bool free_copies = false;  // it copies to host memory, and no time for that is stated

  // Of measured schedules; times are in stated units or seconds.
  double makespan = 0;
  double idle = 0;  // of a device, on average
  double bubble_ratio = 0;
  double bubble_ratio_span = 0;
  IdleTime causes;  // of all devices
  TimeUnit unit;    // of `causes`
  double weights = 1;
  double peak_lowest = 0;  // peak memory of the device with the lowest peak
  double peak = 0;         // of the device with the highest peak
  double sends = 0;        // MeasuredSchedule::sends_per_microbatch

  // Among synchronous schedules that fit and whose copies take time: no other is faster; no other
  // needs less memory; no other is at least as good in both and better in one.
  bool fastest = false;
  bool smallest = false;
  bool on_front = false;

  [[nodiscard]] bool fits() const { return measured && reason.empty(); }
};

struct Comparison {
  ComparisonRequest request;
  bool in_seconds = false;
  std::vector<ComparedSchedule> schedules;  // in the order of schedules()
  std::size_t left_out = 0;                 // by `progress`
};

// Errors: impossible times or counts; a memory limit too low for every schedule, with the least
// sufficient one.
Result<Comparison> compare_schedules(const ComparisonRequest& request);

}  // namespace orrery
