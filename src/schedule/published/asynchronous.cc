// Pipelines without a flush: the optimizer of a stage does not wait for the others, and the next
// microbatches follow at once. The order is a window of m microbatches of an endless run, whose
// fill and drain occur once in the run and not in every step. In between, a microbatch takes
//
//   max over devices of (F + BW),
//
// and a device that needs this time is never idle. Gradients are computed with older weights than
// those they update. The effect on learning is not modelled, so times are comparable only for equal
// numbers of updates.
//
// PipeDream: 1F1B, min(m, p-i) microbatches in flight on device i, which keeps as many versions of
// its weights, so that a microbatch uses the same ones in its forward and backward; p-1-i updates
// late. Source: arXiv 1806.03377. Not here: its partitioner, vertical sync.
//
// PipeDream-2BW: the same order; gradients of m >= p microbatches are accumulated, so that two
// versions are enough, one update late. Source: arXiv 2006.09503.
//
// Pipelined backpropagation: a microbatch updates at once, and there is only one version.
// Device i runs 2(p-1-i) forwards ahead, so that a forward and a backward arrive in every turn;
// 2(p-i)-1 are in flight, and a forward sees weights 2(p-1-i) updates older than its backward does.
// Source: arXiv 2003.11666. Not here: spike compensation and weight prediction, whose cost is
// negligible.
#include <algorithm>

#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

std::vector<std::string> accumulation_problems(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  if (shape.microbatches >= shape.devices) return {};
  return {"pipedream_2bw accumulates as many microbatches as devices or more: " +
          std::to_string(shape.microbatches) + " microbatches are below " +
          std::to_string(shape.devices)};
}

std::vector<int> one_forward_one_backward_peak(const PipelineShape& shape, int device) {
  return kOneForwardOneBackward.peak_in_flight(shape, device);
}

Result<Pipeline> pipedream(const ScheduleRequest& request) {
  ORRERY_TRY(Pipeline out, kOneForwardOneBackward.pipeline(request));
  for (int d = 0; d < request.shape.devices; ++d) {
    out.weight_versions.push_back(request.shape.devices - d);
  }
  return out;
}

Result<Pipeline> pipedream_2bw(const ScheduleRequest& request) {
  ORRERY_TRY(Pipeline out, kOneForwardOneBackward.pipeline(request));
  out.weight_versions.assign(out.order.size(), 2);
  return out;
}

Result<Pipeline> pipelined_backpropagation(const ScheduleRequest& request) {
  const int last = request.shape.devices - 1;
  Pipeline out = in_turn(request.shape, [&](int device) { return 2 * (last - device); });
  out.weight_versions.assign(out.order.size(), 1);
  return out;
}

std::vector<int> pipelined_backpropagation_peak(const PipelineShape& shape, int device) {
  return {std::min(shape.microbatches, 2 * (shape.devices - device) - 1)};
}

}  // namespace

const Schedule kPipeDream{.name = "pipedream",
                          .summary =
                              "1F1B without a flush, a version of the weights for each in flight "
                              "(arXiv 1806.03377)",
                          .chunks = 1,
                          .asynchronous = true,
                          .virtual_stage = loop_virtual_stage,
                          .pipeline = pipedream,
                          .peak_in_flight = one_forward_one_backward_peak};

const Schedule kPipeDream2Bw{
    .name = "pipedream_2bw",
    .summary =
        "1F1B without a flush, gradients accumulated, two versions of the weights "
        "(arXiv 2006.09503)",
    .chunks = 1,
    .asynchronous = true,
    .problems = accumulation_problems,
    .virtual_stage = loop_virtual_stage,
    .pipeline = pipedream_2bw,
    .peak_in_flight = one_forward_one_backward_peak};

const Schedule kPipelinedBackpropagation{
    .name = "pipelined_backpropagation",
    .summary = "an update for every microbatch, one version of the weights (arXiv 2003.11666)",
    .chunks = 1,
    .asynchronous = true,
    .virtual_stage = loop_virtual_stage,
    .pipeline = pipelined_backpropagation,
    .peak_in_flight = pipelined_backpropagation_peak};

}  // namespace orrery
