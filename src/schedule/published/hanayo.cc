// Hanayo: W waves down and up the devices, 2W chunks on each, weights held once.
//
//   A snake of 2Wp stages. Greedy: a free device runs a ready backward (lowest microbatch first),
//   else the ready forward of the lowest microbatch and deepest stage. The order is made with the
//   given times. For pipelines of up to 2^18 operations it is also made without transfers between
//   devices, and with equal times for all operations; one of these orders is taken if it is shorter
//   and no device holds more.
//
//   For m = p and BW >= F of a chunk a device idles 2(p-1) BW (for one wave as published; for more
//   waves with the order of equal times, which the greedy rule alone exceeds by up to 2 %), and at
//   most p microbatches are in flight. With more microbatches the greedy rule alone admits slightly
//   more than p; a group limits their number, and a memory limit admits as many as fit.
//
// Source: arXiv 2308.15762 (wave-like pipeline, unit of p microbatches). Its prefetch of
// transfers is not modelled separately, because the simulation overlaps transfers anyway.
#include <algorithm>
#include <cmath>

#include "schedule/in_flight.h"
#include "schedule/list_scheduling.h"
#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"
#include "schedule/timed_order.h"

namespace orrery {
namespace {

constexpr double kMostCompared = 1 << 18;

std::vector<std::string> hanayo_problems(const ScheduleRequest& request) {
  if (request.shape.chunks % 2 == 0) return {};
  return {"hanayo holds two chunks a wave on a device: " + std::to_string(request.shape.chunks) +
          " chunks are not a multiple of 2"};
}

PipelineTimes without_ways(PipelineTimes times) {
  times.transfer.clear();
  times.latency.clear();
  return times;
}

bool have_ways(const PipelineTimes& times) {
  const auto take_time = [](const std::vector<Picoseconds>& ways) {
    return std::ranges::any_of(ways, [](Picoseconds t) { return t.count() > 0; });
  };
  return take_time(times.transfer) || take_time(times.latency);
}

PipelineTimes one_beat(const PipelineShape& shape) {
  PipelineTimes out = equal_times(shape, Picoseconds(1), Picoseconds(1), Picoseconds(0));
  return without_ways(std::move(out));
}

// Device by device.
bool holds_no_more(const Pipeline& a, const Pipeline& b, const PipelineTimes& times) {
  for (std::size_t d = 0; d < a.order.size(); ++d) {
    if (peak_in_flight(a, d, times.memory).memory > peak_in_flight(b, d, times.memory).memory) {
      return false;
    }
  }
  return true;
}

Pipeline shortest(const PipelineShape& shape, const PipelineTimes& times, int in_flight) {
  const auto made_for = [&](const PipelineTimes& beat) {
    return list_scheduled(placed(shape, 1, snake_virtual_stage), beat, in_flight);
  };
  Pipeline first = made_for(times);
  if (static_cast<double>(first.operations()) > kMostCompared) return first;
  Pipeline best = first;
  Picoseconds makespan = timed_order(first, times)->makespan;
  const auto try_instead = [&](Pipeline other) {
    const Picoseconds takes = timed_order(other, times)->makespan;
    if (takes >= makespan || !holds_no_more(other, first, times)) return;
    best = std::move(other);
    makespan = takes;
  };
  if (have_ways(times)) try_instead(made_for(without_ways(times)));
  try_instead(made_for(one_beat(shape)));
  return best;
}

Result<Pipeline> hanayo_order(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  const PipelineTimes times = times_or_unit(request);
  const int most =
      request.group > 0 ? std::min(request.group, shape.microbatches) : shape.microbatches;
  Pipeline out = shortest(shape, times, most);
  if (fullest_device(out, times) <= request.memory_limit) return out;
  // The most microbatches in flight between 1, which fits, and one too many, which does not.
  out = shortest(shape, times, 1);
  if (fullest_device(out, times) > request.memory_limit) {
    return bad_input("the memory limit is below the " +
                     std::to_string(std::lround(fullest_device(out, times))) +
                     " that hanayo needs with one microbatch in flight");
  }
  int fits = 1;
  int too_many = most;
  while (too_many - fits > 1) {
    const int middle = (fits + too_many) / 2;
    Pipeline other = shortest(shape, times, middle);
    const bool keeps = fullest_device(other, times) <= request.memory_limit;
    (keeps ? fits : too_many) = middle;
    if (keeps) out = std::move(other);
  }
  return out;
}

}  // namespace

const Schedule kHanayo{.name = "hanayo",
                       .summary = "waves down and up the devices, greedily (arXiv 2308.15762)",
                       .made_for_times = true,
                       .problems = hanayo_problems,
                       .virtual_stage = snake_virtual_stage,
                       .pipeline = hanayo_order};

}  // namespace orrery
