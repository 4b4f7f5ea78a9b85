// The dependencies between the operations of a pipeline, for the linear order, the graph and every
// list scheduler.
//
// An operation completes one event (forward_and_backward two). Most events need one operation,
// those of the vocabulary passes one on every device.
//
//   F(j,s)  after F(j,s-1); F(j,0) after the input layer of j on all devices
//   B(j,s)  after F(j,s), B(j,s+1) and the reload of (j,s); the same for a fused backward
//   B(j,S-1) after the last vocabulary barrier of j
//   W(j,s)  after B(j,s)
//   output layer(j) after F(j,S-1), on every device; its gradient after all output layers of j
//   input layer gradient(j) after B(j,0)
//   offload(j,s) after F(j,s); reload(j,s) after offload(j,s)
#pragma once

#include <cstddef>

#include "schedule/pipeline.h"

namespace orrery {

enum class PipelineEventKind : std::uint8_t {
  forward,
  backward,  // the input gradient, by itself or in a fused backward
  weight,
  offload,
  reload,
  output_layer,
  output_layer_gradient,
  input_layer,
  input_layer_gradient,
};

// Events of one pipeline are numbered from 0 to events().
class PipelineEvents {
 public:
  explicit PipelineEvents(const Pipeline& pipeline)
      : pipeline_(pipeline),
        stages_(pipeline.stages()),
        microbatches_(static_cast<std::size_t>(pipeline.shape.microbatches)) {}

  [[nodiscard]] std::size_t events() const {
    return (5 * stages_ + (pipeline_.vocabulary_barriers > 0 ? 4 : 0)) * microbatches_;
  }
  [[nodiscard]] std::size_t index(PipelineEventKind kind, std::size_t s, std::size_t j) const {
    const auto k = static_cast<std::size_t>(kind);
    return k < 5 ? (k * stages_ + s) * microbatches_ + j
                 : (5 * stages_ + (k - 5)) * microbatches_ + j;
  }
  // The number of operations that must be done before the event is complete.
  [[nodiscard]] std::size_t operations_of(PipelineEventKind kind) const {
    return kind < PipelineEventKind::output_layer
               ? 1
               : static_cast<std::size_t>(pipeline_.shape.devices);
  }

  // Calls visit(kind, s, j) for every event that `op` of `device` waits for.
  template <class Visit>
  void waits(std::size_t device, const PipelineOperation& op, Visit visit) const;
  // Calls visit(kind, s, j) for every event that `op` of `device` completes.
  template <class Visit>
  void completes(std::size_t device, const PipelineOperation& op, Visit visit) const;

  [[nodiscard]] const Pipeline& pipeline() const { return pipeline_; }

 private:
  template <class Visit>
  void forward_waits(std::size_t s, std::size_t j, Visit visit) const {
    if (s > 0) {
      visit(PipelineEventKind::forward, s - 1, j);
    } else if (pipeline_.vocabulary_barriers > 0) {
      visit(PipelineEventKind::input_layer, s, j);
    }
  }
  template <class Visit>
  void backward_waits(std::size_t s, std::size_t j, Visit visit) const {
    visit(PipelineEventKind::forward, s, j);
    if (s + 1 < stages_) {
      visit(PipelineEventKind::backward, s + 1, j);
    } else if (pipeline_.vocabulary_barriers > 0) {
      visit(pipeline_.vocabulary_barriers == 1 ? PipelineEventKind::output_layer
                                               : PipelineEventKind::output_layer_gradient,
            s, j);
    }
  }

  const Pipeline& pipeline_;
  std::size_t stages_;
  std::size_t microbatches_;
};

template <class Visit>
void PipelineEvents::waits(std::size_t device, const PipelineOperation& op, Visit visit) const {
  const std::size_t s = pipeline_.stage_of(device, op.chunk);
  const std::size_t j = op.microbatch;
  switch (op.action) {
    case PipelineAction::forward:
      return forward_waits(s, j, visit);
    case PipelineAction::backward:
    case PipelineAction::input_gradient:
      return backward_waits(s, j, visit);
    case PipelineAction::weight_gradient:
      return visit(PipelineEventKind::backward, s, j);
    case PipelineAction::forward_and_backward:
      forward_waits(s, j, visit);
      return backward_waits(pipeline_.stage_of(device, op.backward_chunk), op.backward_microbatch,
                            visit);
    case PipelineAction::offload:
      return visit(PipelineEventKind::forward, s, j);
    case PipelineAction::reload:
      return visit(PipelineEventKind::offload, s, j);
    case PipelineAction::output_layer:
      return visit(PipelineEventKind::forward, stages_ - 1, j);
    case PipelineAction::output_layer_gradient:
      return visit(PipelineEventKind::output_layer, stages_ - 1, j);
    case PipelineAction::input_layer:
      return;
    case PipelineAction::input_layer_gradient:
      return visit(PipelineEventKind::backward, std::size_t{0}, j);
  }
}

template <class Visit>
void PipelineEvents::completes(std::size_t device, const PipelineOperation& op, Visit visit) const {
  const std::size_t s = pipeline_.stage_of(device, op.chunk);
  const std::size_t j = op.microbatch;
  switch (op.action) {
    case PipelineAction::forward:
      return visit(PipelineEventKind::forward, s, j);
    case PipelineAction::backward:
      visit(PipelineEventKind::backward, s, j);
      return visit(PipelineEventKind::weight, s, j);
    case PipelineAction::input_gradient:
      return visit(PipelineEventKind::backward, s, j);
    case PipelineAction::weight_gradient:
      return visit(PipelineEventKind::weight, s, j);
    case PipelineAction::forward_and_backward: {
      visit(PipelineEventKind::forward, s, j);
      const std::size_t b = pipeline_.stage_of(device, op.backward_chunk);
      visit(PipelineEventKind::backward, b, std::size_t{op.backward_microbatch});
      return visit(PipelineEventKind::weight, b, std::size_t{op.backward_microbatch});
    }
    case PipelineAction::offload:
      return visit(PipelineEventKind::offload, s, j);
    case PipelineAction::reload:
      return visit(PipelineEventKind::reload, s, j);
    case PipelineAction::output_layer:
      return visit(PipelineEventKind::output_layer, stages_ - 1, j);
    case PipelineAction::output_layer_gradient:
      return visit(PipelineEventKind::output_layer_gradient, stages_ - 1, j);
    case PipelineAction::input_layer:
      return visit(PipelineEventKind::input_layer, std::size_t{0}, j);
    case PipelineAction::input_layer_gradient:
      return visit(PipelineEventKind::input_layer_gradient, std::size_t{0}, j);
  }
}

}  // namespace orrery
