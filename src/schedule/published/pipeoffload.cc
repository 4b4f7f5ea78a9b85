// PipeOffload: the grouped interleaved schedule with activations in host memory (PO-F, PO-H).
//
//   The order of gis (same groups) with the copies of offloading.h: of all activations, or of the
//   half with the longest lifetimes, as far as the link to the host can carry them. If it can carry
//   all, the memory of a device does not grow with p or m.
//
// Source: arXiv 2503.01328 (PO-F, PO-H). The times of a copy are those of the stage (offload,
// reload); without them copies take no time.
#include "schedule/offloading.h"
#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

std::vector<std::string> problems(const ScheduleRequest& request) { return kGis.problems(request); }

template <int percent>
Result<Pipeline> order(const ScheduleRequest& request) {
  ORRERY_TRY(Pipeline out, kGis.pipeline(request));
  return with_offloading(std::move(out), times_or_unit(request), percent / 100.0);
}

}  // namespace

const Schedule kPipeOffloadFull{
    .name = "pipeoffload_full",
    .summary = "gis with the activations in host memory in between (arXiv 2503.01328)",
    .splits_backward = true,
    .made_for_times = true,
    .problems = problems,
    .virtual_stage = loop_virtual_stage,
    .pipeline = order<100>};

const Schedule kPipeOffloadHalf{
    .name = "pipeoffload_half",
    .summary =
        "gis with the longest held half of the activations in host memory "
        "(arXiv 2503.01328)",
    .splits_backward = true,
    .made_for_times = true,
    .problems = problems,
    .virtual_stage = loop_virtual_stage,
    .pipeline = order<50>};

}  // namespace orrery
