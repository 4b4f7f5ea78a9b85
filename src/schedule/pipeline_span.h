// The operations of a pipeline stage with their times, for drawing a schedule.
#pragma once

#include <cstdint>

#include "units/quantity.h"

namespace orrery {

struct PipelineSpan {
  enum class Kind : std::uint8_t {
    forward,
    backward,  // input and weight gradient in one
    input_gradient,
    weight_gradient,
    forward_and_backward,  // of two microbatches, run as one
    output_layer,          // the device's part of the vocabulary layers
    output_layer_gradient,
    input_layer,
    input_layer_gradient,
    offload,  // to host memory and back
    reload,
    transfer,
    optimizer,
  };

  int stage = 0;       // device of the pipeline
  int chunk = 0;       // virtual stage on that device
  int microbatch = 0;  // -1: none (optimizer)
  Kind kind = Kind::forward;
  Seconds start;
  Seconds end;
  int route = 0;  // of the microbatch through the devices; 1: the opposite direction
  // Of the backward half of forward_and_backward.
  int backward_chunk = 0;
  int backward_microbatch = -1;
  int backward_route = 0;
};
inline constexpr std::size_t kPipelineSpanKinds = 13;

// Whether it occupies the device's computing stream.
constexpr bool computes(PipelineSpan::Kind kind) {
  using Kind = PipelineSpan::Kind;
  return kind != Kind::offload && kind != Kind::reload && kind != Kind::transfer;
}

}  // namespace orrery
