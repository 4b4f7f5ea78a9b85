#include "lower/step_pipeline.h"

#include "lower/step_category.h"
#include "lower/step_stream.h"

namespace orrery {

PipelineStreams pipeline_streams(GraphBuilder& builder, int devices) {
  PipelineStreams out;
  for (std::uint32_t d = 0; d < static_cast<std::uint32_t>(devices); ++d) {
    add_streams(builder, d, kStepStreams);
    out.compute.push_back(stream(d, StepStream::compute));
    out.forward_sends.push_back(stream(d, StepStream::pp_forward));
    out.backward_sends.push_back(stream(d, StepStream::pp_backward));
    out.offloads.push_back(stream(d, StepStream::offload));
    out.reloads.push_back(stream(d, StepStream::reload));
  }
  return out;
}

PipelineTimes pipeline_times(const StepCosts& step) {
  PipelineTimes out;
  out.transfer = step.transfer;
  out.vocabulary = step.vocabulary.times;
  return out;
}

PipelineTraffic pipeline_traffic(const StepCosts& step) {
  PipelineTraffic out = step.vocabulary.traffic;
  out.category = index(Category::exposed_pp);
  for (std::size_t i = 0; i < step.transfer.size() && step.shape.devices > 1; ++i) {
    out.transfer.push_back(step.transfer_parts(i));
  }
  return out;
}

}  // namespace orrery
