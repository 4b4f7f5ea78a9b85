#include "schedule/asked_schedule.h"

#include <fmt/format.h>

#include <cmath>

#include "schedule/schedule.h"

namespace orrery {

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
