#include "schedule/schedule.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "outcome/nearest_name.h"
#include "schedule/published/published_schedules.h"

namespace orrery {

std::span<const Schedule> schedules() {
  static const std::array kSchedules = {
      kGPipe,  //
      kOneForwardOneBackward,
      kInterleaved1F1B,
      kOneForwardOneBackwardV,
      kBreadthFirst,
      kModularLga,
      kGis,
      kChimera,
      kHanayo,
      kBitPipe,
      kDualPipe,
      kDualPipeV,
      k2BpGPipe,
      k2Bp1F1B,
      kZeroPp,
      kPipeOffloadFull,
      kPipeOffloadHalf,
      kVocabulary1,
      kVocabulary2,
      kPipeDream,
      kPipeDream2Bw,
      kPipelinedBackpropagation,
      kSwarm,
      kZbH1,
      kZbH2,
      kZb1p,
      kZb2p,
      kZbV,
      kVMinStable,
      kVMin,
      kVHalfStable,
      kVHalf,
      kVHalfVocabulary1,
      kVHalfVocabulary2,
      kVZb,
      kVAuto,
  };
  return kSchedules;
}

Result<const Schedule*> find_schedule(std::string_view name) {
  std::string folded(name);
  std::ranges::replace(folded, '-', '_');
  for (const Schedule& s : schedules()) {
    if (s.name == folded) return &s;
  }
  std::vector<std::string> known;
  for (const Schedule& s : schedules()) known.emplace_back(s.name);
  return fail(ErrorCode::not_found, "unknown schedule '" + std::string(name) + "'", "",
              name_hint(name, known));
}

std::vector<std::string> schedule_problems(const Schedule& schedule,
                                           const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  std::vector<std::string> out;
  const auto positive = [&](const char* what, int count) {
    if (count < 1) out.push_back(std::string(what) + " " + std::to_string(count) + " is below 1");
  };
  positive("devices", shape.devices);
  positive("microbatches", shape.microbatches);
  positive("chunks", shape.chunks);
  if (request.group < 0) out.push_back("group " + std::to_string(request.group) + " is below 0");
  if (!out.empty()) return out;
  const double operations = 3.0 * schedule.routes * shape.devices * shape.chunks *
                            static_cast<double>(shape.microbatches);
  if (operations > kMaxPipelineOperations) {
    return {std::to_string(shape.microbatches) + " microbatches on " +
            std::to_string(shape.devices) + " devices of " + std::to_string(shape.chunks) +
            " chunks are more than the " +
            std::to_string(static_cast<long>(kMaxPipelineOperations)) +
            " operations that are simulated"};
  }
  if (schedule.chunks > 0 && shape.chunks != schedule.chunks) {
    return {std::string(schedule.name) + " holds " +
            (schedule.chunks == 1 ? "one chunk" : "two chunks") + " a device, not " +
            std::to_string(shape.chunks) +
            (schedule.chunks == 1 ? "; interleaved_1f1b holds several" : "")};
  }
  return schedule.problems ? schedule.problems(request) : std::vector<std::string>{};
}

Result<Pipeline> pipeline(const Schedule& schedule, const ScheduleRequest& request) {
  std::string all;
  for (const std::string& problem : schedule_problems(schedule, request)) {
    all += (all.empty() ? "" : "; ") + problem;
  }
  if (!all.empty()) return bad_input(all, "schedule " + std::string(schedule.name));
  return schedule.pipeline(request);
}

PipelineTimes times_or_unit(const ScheduleRequest& request) {
  if (!request.times.stage.empty()) return request.times;
  // One millisecond; a chunk takes its part, in whole picoseconds.
  const Picoseconds unit(std::floor(1e9 / request.shape.chunks));
  return equal_times(request.shape, unit, unit, unit);
}

}  // namespace orrery
