#include "schedule/pipeline_wiring.h"

#include <algorithm>
#include <limits>

namespace orrery {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

}  // namespace

PipelineWiring::PipelineWiring(GraphBuilder& builder, const Pipeline& pipeline,
                               const PipelineTimes& times, Sends sends,
                               const PipelineStreams& streams, const PipelineTraffic& traffic)
    : builder_(builder),
      pipeline_(pipeline),
      times_(times),
      sends_(sends),
      streams_(streams),
      events_(pipeline),
      latencies_(builder.add_stream({0, StreamRole::wire, builder.intern("latency")})),
      reductions_(latencies_),
      arrival_(events_.events(), kNone),
      passes_(pipeline.vocabulary_barriers > 0 ? 4 * microbatches() : 0),
      reloads_(has_copies(pipeline)) {
  if (pipeline.vocabulary_barriers > 0) {
    reductions_ = builder.add_stream({0, StreamRole::wire, builder.intern(kVocabularyReductions)});
  }
  const auto operation = [&](std::string_view name, const OperationParts& parts) {
    return builder.intern(Operation{.kind = NodeKind::point_to_point,
                                    .category = traffic.category,
                                    .name = builder.intern(name),
                                    .parts = parts});
  };
  const auto by_boundary = [&](std::string_view name) {
    std::vector<OperationIndex> out;
    for (const OperationParts& parts : traffic.transfer) out.push_back(operation(name, parts));
    if (out.empty()) out.push_back(operation(name, {}));
    return out;
  };
  send_activations_ = by_boundary("send activations");
  send_gradients_ = by_boundary("send gradients");
  receive_ = by_boundary("receive");
  latency_ = operation("latency", {});
  constexpr std::string_view kReduction = "vocabulary reduction";
  broadcast_ = operation(kReduction, traffic.broadcast);
  first_barrier_ = operation(kReduction, traffic.first_barrier);
  second_barrier_ = operation(kReduction, traffic.second_barrier);
  input_reduction_ = operation(kReduction, traffic.input_reduction);
}

NodeIndex PipelineWiring::on_wire(StreamIndex wire, OperationIndex operation, Picoseconds time,
                                  std::uint32_t instance, std::span<const NodeIndex> after) {
  return builder_.add({operation, wire, time, instance}, after);
}

void PipelineWiring::before(const DeviceOperation& op, std::uint32_t instance,
                            std::vector<NodeIndex>& waits) {
  events_.waits(op.device, op.operation, [&](PipelineEventKind kind, std::size_t s, std::size_t j) {
    wait_for(kind, s, j, op.device, instance, waits);
  });
  if (reloads_) wait_for_reload(op, waits);
}

void PipelineWiring::wait_for_reload(const DeviceOperation& op, std::vector<NodeIndex>& waits) {
  const PipelineOperation& o = op.operation;
  if (o.action == PipelineAction::forward || o.action >= PipelineAction::offload) return;
  const bool pair = o.action == PipelineAction::forward_and_backward;
  const std::size_t s = pipeline_.stage_of(op.device, pair ? o.backward_chunk : o.chunk);
  const std::uint32_t reload = arrival_[events_.index(PipelineEventKind::reload, s,
                                                      pair ? o.backward_microbatch : o.microbatch)];
  if (reload != kNone) waits.emplace_back(reload);
}

// On one device the computing stream's own order is enough.
void PipelineWiring::wait_for(PipelineEventKind kind, std::size_t s, std::size_t j,
                              std::size_t device, std::uint32_t instance,
                              std::vector<NodeIndex>& waits) {
  if (kind >= PipelineEventKind::output_layer) return waits.push_back(reduced(kind, j, instance));
  const std::uint32_t arrived = arrival_[events_.index(kind, s, j)];
  const std::size_t from = pipeline_.seat(j, s).device;
  const bool last = s + 1 == pipeline_.stages();
  const bool broadcast =
      pipeline_.vocabulary_barriers > 0 && ((kind == PipelineEventKind::forward && last) ||
                                            (kind == PipelineEventKind::backward && s == 0));
  if (kind == PipelineEventKind::offload || broadcast) return waits.emplace_back(arrived), void();
  if (from == device) return;
  if (sends_ == Sends::blocking) {
    const Picoseconds time =
        times_.transfer_between(from, device) + times_.latency_between(from, device);
    builder_.add({of_boundary(receive_, from, device), streams_.compute[device], time, instance},
                 {NodeIndex(arrived)});
    return;
  }
  waits.emplace_back(arrived);
}

NodeIndex PipelineWiring::after(const DeviceOperation& op, NodeIndex node, std::uint32_t instance) {
  NodeIndex last = node;
  events_.completes(op.device, op.operation,
                    [&](PipelineEventKind kind, std::size_t s, std::size_t j) {
                      last = std::max(last, complete(kind, s, j, node, op.device, instance));
                    });
  return last;
}

NodeIndex PipelineWiring::complete(PipelineEventKind kind, std::size_t s, std::size_t j,
                                   NodeIndex node, std::size_t device, std::uint32_t instance) {
  if (kind >= PipelineEventKind::output_layer) {
    passes(kind, j).push_back(node);
    return node;
  }
  std::uint32_t& arrival = arrival_[events_.index(kind, s, j)];
  arrival = node.value();
  const bool up = kind == PipelineEventKind::forward;
  if (!up && kind != PipelineEventKind::backward) return node;
  if (up ? s + 1 == pipeline_.stages() : s == 0) {
    // Under vocabulary parallelism the last stage's output goes to all devices.
    if (up && pipeline_.vocabulary_barriers > 0) {
      arrival = on_wire(reductions_, broadcast_, times_.vocabulary.broadcast, instance,
                        std::span(&node, 1))
                    .value();
    }
    return node;
  }
  const std::size_t to = pipeline_.seat(j, up ? s + 1 : s - 1).device;
  if (to == device) return node;
  Picoseconds transfer = times_.transfer_between(device, to);
  Picoseconds latency = times_.latency_between(device, to);
  const OperationIndex send = of_boundary(up ? send_activations_ : send_gradients_, device, to);
  if (sends_ == Sends::blocking) {
    const NodeIndex sent =
        builder_.add({send, streams_.compute[device], transfer + latency, instance}, {node});
    arrival = node.value();  // the receiver takes part in the transfer
    return sent;
  }
  NodeIndex arrived = node;
  if (transfer > Picoseconds(0)) {
    const auto& sends = up ? streams_.forward_sends : streams_.backward_sends;
    arrived = builder_.add({send, sends[device], transfer, instance}, {arrived});
  }
  if (latency > Picoseconds(0)) {
    arrived = on_wire(latencies_, latency_, latency, instance, std::span(&arrived, 1));
  }
  arrival = arrived.value();
  return node;
}

// The reduction over the passes of all devices, made when the first operation needs it.
NodeIndex PipelineWiring::reduced(PipelineEventKind kind, std::size_t j, std::uint32_t instance) {
  std::uint32_t& arrival = arrival_[events_.index(kind, 0, j)];
  if (arrival == kNone) {
    const VocabularyTimes& v = times_.vocabulary;
    const bool first = kind == PipelineEventKind::output_layer;
    const bool second = kind == PipelineEventKind::output_layer_gradient;
    const Picoseconds time = first    ? v.first_barrier
                             : second ? v.second_barrier
                                      : v.input_reduction;
    const OperationIndex operation = first    ? first_barrier_
                                     : second ? second_barrier_
                                              : input_reduction_;
    arrival = on_wire(reductions_, operation, time, instance, passes(kind, j)).value();
  }
  return NodeIndex(arrival);
}

}  // namespace orrery
