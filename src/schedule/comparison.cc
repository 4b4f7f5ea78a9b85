#include "schedule/comparison.h"

#include <algorithm>

#include "schedule/order_problem.h"

namespace orrery {
namespace {

// Sums of a v-th each are not exact.
constexpr double kRounding = 1e-9;

std::vector<int> chunks_of(const Schedule& schedule, const ComparisonRequest& request) {
  if (schedule.chunks > 0) return {schedule.chunks};
  if (request.chunks > 0) return {request.chunks};
  return {2, 4};
}

// The whole vocabulary on the first and the last stage.
void place_vocabulary(PipelineTimes& times, int devices) {
  const auto add = [&](StageTimes& stage, Picoseconds StageTimes::* pass, Picoseconds share) {
    stage.*pass += share * devices;
    if (pass != &StageTimes::forward) stage.backward += share * devices;
    stage.forward_and_backward += share * devices;
  };
  const VocabularyTimes& v = times.vocabulary;
  add(times.stage.front(), &StageTimes::forward, v.input_layer);
  add(times.stage.front(), &StageTimes::weight_gradient, v.input_layer_gradient);
  add(times.stage.back(), &StageTimes::forward, v.output_layer);
  add(times.stage.back(), &StageTimes::input_gradient, v.output_layer_gradient);
}

Result<ComparedSchedule> compared(const Schedule& schedule, int chunks,
                                  const ComparisonRequest& request) {
  ComparedSchedule out;
  out.schedule = &schedule;
  out.shape = {request.devices, request.microbatches, chunks};
  ScheduleRequest asked;
  asked.shape = out.shape;
  asked.memory_limit = request.memory_limit;
  for (const std::string& problem : schedule_problems(schedule, asked)) {
    out.reason += (out.reason.empty() ? "" : "; ") + problem;
  }
  if (!out.reason.empty()) return out;
  ORRERY_TRY(ScaledTimes scaled, scaled_times(request.times, out.shape, TimesOf::device));
  if (!schedule.splits_vocabulary) place_vocabulary(scaled.times, request.devices);
  asked.times = scaled.times;
  auto made = pipeline(schedule, asked);
  if (made && made->peers > 1) {
    // A stage that several devices share is as many shares of the model.
    asked.times = scaled.times =
        joined_times(std::move(scaled.times), static_cast<std::size_t>(made->peers));
    made = pipeline(schedule, asked);
  }
  if (!made) {
    out.reason = made.error().message;
    return out;
  }
  out.free_copies = request.times.offload.empty() && has_copies(*made);
  auto run = measured_schedule(std::string(schedule.name), std::move(*made), scaled.times,
                               scaled.unit, request.sends);
  if (!run) {
    out.reason = run.error().message;
    return out;
  }
  const PipelineMeasures& m = run->execution.measures;
  out.measured = true;
  out.unit = run->unit;
  out.makespan = run->unit.of(m.makespan);
  out.causes = run->idle_sum();
  out.idle = run->unit.of(out.causes.total()) / request.devices;
  out.bubble_ratio = m.bubble_ratio;
  out.bubble_ratio_span = m.bubble_ratio_span;
  out.weights = run->weights_held();
  out.peak_lowest = *std::ranges::min_element(m.peak_memory);
  out.peak = run->peak_memory();
  out.sends = run->sends_per_microbatch();
  if (out.peak > request.memory_limit * (1 + kRounding)) {
    out.reason = "holds " + memory_text(out.peak);
  }
  return out;
}

void mark(std::vector<ComparedSchedule>& schedules) {
  const auto judged = [](const ComparedSchedule& s) {
    return s.fits() && !s.schedule->asynchronous && !s.free_copies;
  };
  for (ComparedSchedule& s : schedules) {
    if (!judged(s)) continue;
    s.fastest = s.smallest = s.on_front = true;
    for (const ComparedSchedule& other : schedules) {
      if (!judged(other)) continue;
      const bool faster = other.makespan < s.makespan * (1 - kRounding);
      const bool slower = other.makespan > s.makespan * (1 + kRounding);
      const bool smaller = other.peak < s.peak * (1 - kRounding);
      const bool larger = other.peak > s.peak * (1 + kRounding);
      if (faster) s.fastest = false;
      if (smaller) s.smallest = false;
      if ((faster && !larger) || (smaller && !slower)) s.on_front = false;
    }
  }
}

}  // namespace

Result<Comparison> compare_schedules(const ComparisonRequest& request) {
  Comparison out;
  out.request = request;
  out.in_seconds = request.times.in_seconds;
  // Bad times are one error, not one per schedule.
  ORRERY_TRY(
      [[maybe_unused]] const ScaledTimes any,
      scaled_times(request.times, {request.devices, request.microbatches, 1}, TimesOf::device));
  const ComparedSchedule* least = nullptr;
  std::vector<std::pair<const Schedule*, int>> all;
  for (const Schedule& schedule : schedules()) {
    for (const int chunks : chunks_of(schedule, request)) all.emplace_back(&schedule, chunks);
  }
  for (const auto& [schedule, chunks] : all) {
    const auto share = static_cast<double>(out.schedules.size()) / static_cast<double>(all.size());
    if (request.progress && !request.progress(share, schedule->name)) break;
    ORRERY_TRY(ComparedSchedule one, compared(*schedule, chunks, request));
    out.schedules.push_back(std::move(one));
  }
  out.left_out = all.size() - out.schedules.size();
  bool any_fits = false;
  for (const ComparedSchedule& s : out.schedules) {
    any_fits |= s.fits();
    if (s.measured && (least == nullptr || s.peak < least->peak)) least = &s;
  }
  if (!any_fits) {
    if (out.left_out > 0) {
      return bad_input("stopped after " + std::to_string(out.schedules.size()) +
                           " schedules, none of which can be used",
                       "", "a longer --time-limit, fewer stages or fewer microbatches");
    }
    if (least == nullptr) {
      return bad_input("no schedule exists for " + std::to_string(request.microbatches) +
                           " microbatches on " + std::to_string(request.devices) + " devices",
                       "", out.schedules.empty() ? "" : out.schedules.front().reason);
    }
    return bad_input(
        "no schedule holds " + memory_text(request.memory_limit) + " or less", "memory limit",
        "the least is " + memory_text(least->peak) + ", of " + std::string(least->schedule->name));
  }
  mark(out.schedules);
  return out;
}

}  // namespace orrery
