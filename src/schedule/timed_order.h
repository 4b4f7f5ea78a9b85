// When the operations of an order run, for schedules that insert further passes.
//
// Every operation as soon as its device is free and what it waits for has arrived, in the order of
// the device. Transfers between devices take their time and latency, but links are never busy (in
// execution.h they are; this is an estimate for building orders, in a tenth of the time).
// Forwards, backwards, input and weight gradients only.
#pragma once

#include <vector>

#include "outcome/result.h"
#include "schedule/pipeline.h"
#include "schedule/pipeline_times.h"

namespace orrery {

struct TimedOrder {
  // By device, of every operation of its order.
  std::vector<std::vector<Picoseconds>> start, end;
  Picoseconds makespan;
};

// Error: the order deadlocks. O(operations).
Result<TimedOrder> timed_order(const Pipeline& pipeline, const PipelineTimes& times);

}  // namespace orrery
