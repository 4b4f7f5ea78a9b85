#include "forecast/restart_times.h"

#include <algorithm>
#include <cmath>

#include "catalog/entry.h"
#include "forecast/share.h"

namespace orrery {
namespace {

Seconds time_at_scale(const std::vector<TimeAtScale>& known, std::int64_t accelerators) {
  if (known.size() == 1 || accelerators <= known.front().accelerators) return known.front().time;
  const auto above = std::ranges::find_if(
      known, [&](const TimeAtScale& t) { return t.accelerators >= accelerators; });
  const auto right = std::clamp(above, known.begin() + 1, known.end() - 1);
  const TimeAtScale& a = *(right - 1);
  const TimeAtScale& b = *right;
  const auto doublings = [&](std::int64_t n) {
    return std::log2(static_cast<double>(n) / static_cast<double>(a.accelerators));
  };
  const Seconds time =
      a.time + (b.time - a.time) * (doublings(accelerators) / doublings(b.accelerators));
  return std::max(time, Seconds(0));  // where they fall
}

}  // namespace

Fields<TimeAtScale> fields_of(const TimeAtScale*) {
  return Fields<TimeAtScale>("time at a scale")
      .required<&TimeAtScale::accelerators>("of the job")
      .required<&TimeAtScale::time>("there");
}

Fields<RestartStage> fields_of(const RestartStage*) {
  return Fields<RestartStage>("stage of a restart")
      .required<&RestartStage::name>("what happens")
      .optional<&RestartStage::badput>("category it is counted in")
      .optional<&RestartStage::time>("distribution of its time")
      .optional<&RestartStage::at_scale>("its time by size of the job, in place of `time`")
      .optional<&RestartStage::share>("of the restarts that have it")
      .optional<&RestartStage::first_start>("whether the first start of a run has it");
}

Fields<RestartTimes> fields_of(const RestartTimes*) {
  return Fields<RestartTimes>("description of a restart")
      .required<&RestartTimes::name>("identifier")
      .required<&RestartTimes::title>("whose restarts")
      .required<&RestartTimes::stages>("in order")
      .optional<&RestartTimes::includes_restore>("whether the loading of the checkpoint is in them")
      .required<&RestartTimes::provenance>("where the times come from");
}

Result<void> check(const RestartStage& stage) {
  ORRERY_RETURN_IF_ERROR(check_share(stage.share, stage.name));
  if (!stage.at_scale.empty() && stage.time != TimeLaw{}) {
    return bad_input("both time and at_scale are given", stage.name);
  }
  if (stage.at_scale.empty()) ORRERY_RETURN_IF_ERROR(at(stage.name, check(stage.time)));
  for (std::size_t i = 0; i < stage.at_scale.size(); ++i) {
    const std::int64_t below = i == 0 ? 0 : stage.at_scale[i - 1].accelerators;
    if (stage.at_scale[i].accelerators <= below || stage.at_scale[i].time < Seconds(0)) {
      return bad_input("numbers of accelerators that do not ascend", stage.name,
                       "write at_scale in ascending order, with times of 0 or more");
    }
  }
  return {};
}

Result<void> check(const RestartTimes& times) {
  for (const RestartStage& stage : times.stages) ORRERY_RETURN_IF_ERROR(check(stage));
  return {};
}

Result<RestartTimes> load_restart_times(const Catalog& catalog, std::string_view name) {
  return load_entry<RestartTimes>(catalog, "restarts", name);
}

std::vector<RestartStage> stages_at(const RestartTimes& times, std::int64_t accelerators) {
  std::vector<RestartStage> out = times.stages;
  for (RestartStage& stage : out) {
    if (stage.at_scale.empty()) continue;
    stage.time = {.mean = time_at_scale(stage.at_scale, accelerators)};
    stage.at_scale.clear();
  }
  return out;
}

Seconds mean_of(const std::vector<RestartStage>& stages) {
  Seconds sum;
  for (const RestartStage& stage : stages) sum += mean_of(stage.time) * stage.share;
  return sum;
}

}  // namespace orrery
