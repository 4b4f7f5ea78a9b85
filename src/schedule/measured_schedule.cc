#include "schedule/measured_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace orrery {

double MeasuredSchedule::peak_memory() const {
  const std::vector<double>& peaks = execution.measures.peak_memory;
  return peaks.empty() ? 0 : *std::ranges::max_element(peaks);
}

double MeasuredSchedule::weights_held() const {
  int versions = 1;
  for (const int v : pipeline.weight_versions) versions = std::max(versions, v);
  return static_cast<double>(pipeline.chunks_held * pipeline.peers) / pipeline.shape.chunks *
         versions;
}

double MeasuredSchedule::sends_per_microbatch() const {
  std::vector<double> of_route(pipeline.routes());
  const auto microbatches = static_cast<std::size_t>(pipeline.shape.microbatches);
  for (std::size_t j = 0; j < microbatches; ++j) ++of_route[pipeline.route_of(j)];
  std::vector<double> sent(static_cast<std::size_t>(pipeline.shape.devices));
  for (std::size_t r = 0; r < of_route.size(); ++r) {
    const Seat* seats = pipeline.seats.data() + r * pipeline.stages();
    for (std::size_t s = 0; s + 1 < pipeline.stages(); ++s) {
      if (seats[s].device != seats[s + 1].device) sent[seats[s].device] += of_route[r];
    }
  }
  return *std::ranges::max_element(sent) / pipeline.shape.microbatches;
}

IdleTime MeasuredSchedule::idle_sum() const {
  IdleTime sum;
  for (const IdleTime& device : idle) sum += device;
  return sum;
}

Result<MeasuredSchedule> measured_schedule(std::string name, Pipeline pipeline, PipelineTimes times,
                                           TimeUnit unit, Sends sends) {
  MeasuredSchedule out;
  ORRERY_TRY(out.execution, execute(pipeline, times, sends));
  out.name = std::move(name);
  out.pipeline = std::move(pipeline);
  out.times = std::move(times);
  out.unit = unit;
  out.sends = sends;
  out.idle = idle_by_cause(out.pipeline, out.execution);
  out.memory = memory_curves(out.pipeline, out.execution, out.times);
  out.lifetimes = activation_lifetimes(out.pipeline, out.execution);
  return out;
}

Result<MeasuredSchedule> asked_schedule(const ScheduleQuestion& question) {
  ORRERY_TRY(const Schedule* registered, find_schedule(question.name));
  const int own = registered->chunks > 0 ? registered->chunks : 2;
  ScheduleRequest request;
  request.shape = {question.stages, question.microbatches,
                   question.chunks > 0 ? question.chunks : own};
  request.group = question.group;
  request.memory_limit = question.memory_limit;
  std::string problems;
  for (const std::string& problem : schedule_problems(*registered, request)) {
    problems += (problems.empty() ? "" : "; ") + problem;
  }
  if (!problems.empty()) return bad_input(problems);
  ORRERY_TRY(const ScaledTimes scaled,
             scaled_times(question.times, request.shape, TimesOf::virtual_stage));
  request.times = scaled.times;
  ORRERY_TRY(Pipeline made, pipeline(*registered, request));
  ORRERY_TRY(
      MeasuredSchedule out,
      measured_schedule(std::string(registered->name), std::move(made), scaled.times, scaled.unit,
                        question.blocking ? Sends::blocking : Sends::asynchronous));
  const double limit = question.memory_limit;
  if (const double peak = out.peak_memory(); std::isfinite(limit) && peak > limit * (1 + 1e-9)) {
    return bad_input(
        fmt::format("{} holds {:.6g}, more than {:.6g}", registered->name, peak, limit),
        "--memory-limit",
        fmt::format("the least limit it can keep is {:.6g}; orrery schedule compare shows what "
                    "holds less",
                    peak));
  }
  return out;
}

}  // namespace orrery
