// The pipeline that a schedule produces: which device holds which virtual stages, and in which
// order it runs its operations.
//
// There are p `devices`. A microbatch passes S = p v virtual stages, v `chunks` on each device. A
// route says which device serves each virtual stage for a microbatch. Most schedules have one
// route; bidirectional ones have two, so a device holds 2 v chunks and every stage exists twice;
// stochastic wiring has many. `chunk` always counts the chunks of one device, from 0.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace orrery {

struct PipelineShape {
  int devices = 1;
  int microbatches = 1;
  int chunks = 1;  // virtual stages that a microbatch passes, divided by devices
  auto operator<=>(const PipelineShape&) const = default;
  [[nodiscard]] int virtual_stages() const { return devices * chunks; }
};

enum class PipelineAction : std::uint8_t {
  forward,
  backward,         // input and weight gradient in one
  input_gradient,   // B: the previous stage waits for it
  weight_gradient,  // W: only the optimizer waits for it
  // Forward of one microbatch and fused backward of another, run as one.
  forward_and_backward,
  // Copies of activations of one microbatch and chunk to host memory and back, on separate links.
  offload,
  reload,
  // Vocabulary parallelism: passes of each device's part of the embedding and of the logits. arXiv
  // 2411.05288: S and T pass of the output layer; forward and backward of the input layer.
  output_layer,
  output_layer_gradient,
  input_layer,
  input_layer_gradient,
};
inline constexpr std::size_t kPipelineActions = 11;

// Whether it takes a link to the host instead of the device's computing stream.
constexpr bool copies(PipelineAction action) {
  return action == PipelineAction::offload || action == PipelineAction::reload;
}

// For forward_and_backward, `chunk` and `microbatch` are those of the forward half.
struct PipelineOperation {
  PipelineAction action = PipelineAction::forward;
  std::uint16_t chunk = 0;
  std::uint32_t microbatch = 0;
  std::uint16_t backward_chunk = 0;
  std::uint32_t backward_microbatch = 0;
  auto operator<=>(const PipelineOperation&) const = default;
};

// The device and chunk that serve a virtual stage.
struct Seat {
  std::uint32_t device = 0;
  std::uint16_t chunk = 0;
  auto operator<=>(const Seat&) const = default;
};

struct Pipeline {
  PipelineShape shape;
  int chunks_held = 1;                                // of every device
  int peers = 1;                                      // devices that share each virtual stage
  std::vector<std::uint32_t> stage;                   // [device * chunks_held + chunk]
  std::vector<Seat> seats;                            // [route * virtual stages + stage]
  std::vector<std::uint16_t> route;                   // by microbatch; empty: route 0 for all
  std::vector<std::vector<PipelineOperation>> order;  // by device
  // 0 without vocabulary parallelism. With it, all devices wait for each other 1 or 2 times between
  // the last stage's forward and its backward (algorithms 2 and 1 of arXiv 2411.05288).
  int vocabulary_barriers = 0;
  // Asynchronous schedules do not wait for the optimizer between steps; each device keeps this many
  // versions of its weights. Empty: synchronous.
  std::vector<int> weight_versions;

  [[nodiscard]] std::size_t stages() const {
    return static_cast<std::size_t>(shape.virtual_stages() / peers);
  }
  [[nodiscard]] std::size_t routes() const { return seats.size() / stages(); }
  [[nodiscard]] std::size_t stage_of(std::size_t device, std::size_t chunk) const {
    return stage[device * static_cast<std::size_t>(chunks_held) + chunk];
  }
  [[nodiscard]] std::size_t route_of(std::size_t microbatch) const {
    return route.empty() ? 0 : route[microbatch];
  }
  [[nodiscard]] const Seat& seat(std::size_t microbatch, std::size_t s) const {
    return seats[route_of(microbatch) * stages() + s];
  }
  [[nodiscard]] std::size_t operations() const {
    std::size_t sum = 0;
    for (const auto& device : order) sum += device.size();
    return sum;
  }
};

// How an operation changes what its device holds. Calls visit(chunk, activations, pending) with the
// change in the count of microbatches whose activations are held, and in that of those whose weight
// gradient is pending. Activations are taken when the operation begins; all else is when it ends.
template <class Visit>
void for_each_change(const PipelineOperation& op, const Visit& visit) {
  switch (op.action) {
    case PipelineAction::forward:
    case PipelineAction::reload:
      return visit(op.chunk, 1, 0);
    case PipelineAction::backward:
    case PipelineAction::offload:
      return visit(op.chunk, -1, 0);
    case PipelineAction::forward_and_backward:
      visit(op.chunk, 1, 0);
      return visit(op.backward_chunk, -1, 0);
    case PipelineAction::input_gradient:
      return visit(op.chunk, -1, 1);
    case PipelineAction::weight_gradient:
      return visit(op.chunk, 0, -1);
    default:
      return;
  }
}

// Whether activations go to host memory and back.
inline bool has_copies(const Pipeline& pipeline) {
  return std::ranges::any_of(pipeline.order, [](const auto& device) {
    return std::ranges::any_of(device, copies, &PipelineOperation::action);
  });
}

}  // namespace orrery
