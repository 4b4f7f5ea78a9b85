// How an operation of a pipeline is drawn.
#pragma once

#include <array>

#include "schedule/pipeline.h"
#include "schedule/pipeline_span.h"

namespace orrery {

constexpr PipelineSpan::Kind span_kind(PipelineAction action) {
  using enum PipelineSpan::Kind;
  constexpr std::array<PipelineSpan::Kind, kPipelineActions> kOfAction = {
      forward, backward,     input_gradient,        weight_gradient, forward_and_backward, offload,
      reload,  output_layer, output_layer_gradient, input_layer,     input_layer_gradient};
  return kOfAction[static_cast<std::size_t>(action)];
}

}  // namespace orrery
