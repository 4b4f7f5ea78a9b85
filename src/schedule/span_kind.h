// How an operation of a pipeline is drawn.
#pragma once

#include "schedule/pipeline.h"
#include "schedule/pipeline_span.h"

namespace orrery {

constexpr PipelineSpan::Kind span_kind(PipelineAction action) {
  using Kind = PipelineSpan::Kind;
  switch (action) {
    case PipelineAction::forward:
      return Kind::forward;
    case PipelineAction::backward:
      return Kind::backward;
    case PipelineAction::input_gradient:
      return Kind::input_gradient;
    case PipelineAction::weight_gradient:
      return Kind::weight_gradient;
    case PipelineAction::forward_and_backward:
      return Kind::forward_and_backward;
    case PipelineAction::offload:
      return Kind::offload;
    case PipelineAction::reload:
      return Kind::reload;
    case PipelineAction::output_layer:
      return Kind::output_layer;
    case PipelineAction::output_layer_gradient:
      return Kind::output_layer_gradient;
    case PipelineAction::input_layer:
      return Kind::input_layer;
    case PipelineAction::input_layer_gradient:
      return Kind::input_layer_gradient;
  }
  return Kind::transfer;
}

}  // namespace orrery
