// Vocabulary parallelism over V-Half: two barriers (algorithm 1) or one (algorithm 2).
//
//   V-Half with one microbatch more in flight for every barrier, on every device, and the passes of
//   vocabulary_passes.h. The order is made for a turn, the time from the last stage's forward of a
//   microbatch to its backward:
//     turn = broadcast + sum over barriers of (longest pass + vocabulary pass + reduction)
//   in which devices end their current pass, run that of the vocabulary and reduce. Each device
//   computes 1/p of both vocabulary layers. The first and the last stage are on the same device,
//   which would otherwise have both layers. The order ignores the time of the vocabulary passes
//   themselves, which is the same on all devices.
//
// Source: arXiv 2411.05288 (algorithms 1 and 2, and their use with V-Half); arXiv 2405.15362
// (V-Half).
#include <algorithm>

#include "schedule/published/published_schedules.h"
#include "schedule/v_schedule.h"
#include "schedule/vocabulary_passes.h"

namespace orrery {
namespace {

double turn(const PipelineTimes& times, int barriers) {
  Picoseconds longest;
  for (const StageTimes& s : times.stage) {
    longest = std::max({longest, s.forward, s.input_gradient, s.weight_gradient});
  }
  const VocabularyTimes& v = times.vocabulary;
  Picoseconds out = v.broadcast + longest + v.output_layer + v.first_barrier;
  if (barriers == 2) out += longest + v.output_layer_gradient + v.second_barrier;
  return out.count();
}

template <int barriers>
Result<Pipeline> v_half_order(const ScheduleRequest& request) {
  const PipelineTimes times = times_or_unit(request);
  const BuildingBlock block = v_half_block(request.shape.devices);
  OrderProblem problem = order_problem(request.shape, snake_virtual_stage, times, 0);
  problem.turn = turn(times, barriers);
  limit_to(problem, block);
  for (std::size_t s = 0; s < problem.held.size(); ++s) {
    problem.limit[static_cast<std::size_t>(problem.device[s])] += barriers * problem.held[s];
  }
  ORRERY_RETURN_IF_ERROR(
      check_limit("v_half_vocab_" + std::to_string(3 - barriers), problem, request));
  return with_vocabulary_passes(
      to_pipeline(problem, snake_virtual_stage, reordered(problem, block, kVScheduleEffort / 16)),
      times, barriers);
}

}  // namespace

const Schedule kVHalfVocabulary1{
    .name = "v_half_vocab_1",
    .summary = "V-Half with the vocabulary layers on all devices, two barriers (arXiv 2411.05288)",
    .chunks = 2,
    .splits_backward = true,
    .made_for_times = true,
    .splits_vocabulary = true,
    .vocabulary_barriers = 2,
    .virtual_stage = snake_virtual_stage,
    .pipeline = v_half_order<2>};

const Schedule kVHalfVocabulary2{
    .name = "v_half_vocab_2",
    .summary = "V-Half with the vocabulary layers on all devices, one barrier (arXiv 2411.05288)",
    .chunks = 2,
    .splits_backward = true,
    .made_for_times = true,
    .splits_vocabulary = true,
    .vocabulary_barriers = 1,
    .virtual_stage = snake_virtual_stage,
    .pipeline = v_half_order<1>};

}  // namespace orrery
