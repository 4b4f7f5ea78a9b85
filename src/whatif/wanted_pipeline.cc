#include "whatif/wanted_pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/schedule.h"
#include "whatif/edit_language.h"

namespace orrery {

Result<void> refuse_pipelines(const EditedRun& run, const Edit& edit) {
  for (const RunWork& work : run.graph().works) {
    if (!run.communicates(work)) continue;
    const WorkSubject s = run.subject(work);
    const std::string_view kernel = s.kernel;
    const bool sends = fits_pattern(s.collective, "send") || fits_pattern(s.collective, "recv") ||
                       fits_pattern(s.group_description, "*pipeline*");
    if (!sends) continue;
    return unsupported(fmt::format("the run is a pipeline already: rank {} has {}", s.rank,
                                   s.collective.empty() ? kernel : std::string_view(s.collective)),
                       to_text(edit), "give a run whose ranks hold all layers");
  }
  return {};
}

Result<Pipeline> wanted_pipeline(const Edit& edit, std::int64_t microbatches) {
  ORRERY_TRY(const Schedule* const schedule, find_schedule(edit.name.empty() ? "1f1b" : edit.name));
  if (schedule->splits_backward || schedule->pairs_passes || schedule->splits_vocabulary ||
      schedule->asynchronous) {
    return unsupported(
        fmt::format("{} divides passes, or lets them run as one, which recorded passes "
                    "do not tell apart",
                    schedule->name),
        to_text(edit), "gpipe, 1f1b, interleaved_1f1b, breadth_first, chimera, hanayo");
  }
  ScheduleRequest request;
  request.shape.devices = static_cast<int>(edit.count);
  request.shape.microbatches = static_cast<int>(microbatches);
  request.shape.chunks = static_cast<int>(
      edit.chunks > 0 ? edit.chunks : std::max(1, schedule->chunks > 0 ? schedule->chunks : 1));
  auto made = pipeline(*schedule, request);
  if (!made) return fail(at(to_text(edit), made.error()));
  const bool known = std::ranges::all_of(made->order, [](const auto& device) {
    return std::ranges::all_of(device, [](const PipelineOperation& op) {
      return op.action == PipelineAction::forward || op.action == PipelineAction::backward;
    });
  });
  if (!known || made->peers > 1) {
    return unsupported(fmt::format("{} does more than forward and backward passes", schedule->name),
                       to_text(edit));
  }
  return made;
}

}  // namespace orrery
