// Vocabulary parallelism over 1F1B: Vocab-1 (two barriers) and Vocab-2 (one).
//
//   The order of 1F1B with k more forwards ahead on every device, k the barriers, and the passes of
//   vocabulary_passes.h: min(m, p - i + k) microbatches in flight on device i, p+2 and p+1 on the
//   first. The bubble is that of 1F1B; each device computes 1/p of both vocabulary layers.
//
// Source: arXiv 2411.05288 (algorithms 1 and 2 and their schedules).
#include <algorithm>

#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"
#include "schedule/vocabulary_passes.h"

namespace orrery {
namespace {

int in_flight(const PipelineShape& shape, int device, int barriers) {
  return std::min(shape.microbatches, shape.devices - device + barriers);
}

template <int barriers>
Result<Pipeline> vocabulary_order(const ScheduleRequest& request) {
  Pipeline out = in_turn(
      request.shape, [&](int device) { return in_flight(request.shape, device, barriers) - 1; });
  return with_vocabulary_passes(std::move(out), times_or_unit(request), barriers);
}

template <int barriers>
std::vector<int> peak_of_vocabulary(const PipelineShape& shape, int device) {
  return {in_flight(shape, device, barriers)};
}

}  // namespace

const Schedule kVocabulary1{
    .name = "vocab_1",
    .summary = "1F1B with the vocabulary layers on all devices, two barriers (arXiv 2411.05288)",
    .chunks = 1,
    .made_for_times = true,
    .splits_vocabulary = true,
    .vocabulary_barriers = 2,
    .virtual_stage = loop_virtual_stage,
    .pipeline = vocabulary_order<2>,
    .peak_in_flight = peak_of_vocabulary<2>};

const Schedule kVocabulary2{
    .name = "vocab_2",
    .summary = "1F1B with the vocabulary layers on all devices, one barrier (arXiv 2411.05288)",
    .chunks = 1,
    .made_for_times = true,
    .splits_vocabulary = true,
    .vocabulary_barriers = 1,
    .virtual_stage = loop_virtual_stage,
    .pipeline = vocabulary_order<1>,
    .peak_in_flight = peak_of_vocabulary<1>};

}  // namespace orrery
