#include "schedule/execution.h"

#include <algorithm>
#include <array>
#include <optional>

#include "schedule/in_flight.h"
#include "schedule/memory_curve.h"

namespace orrery {

Picoseconds duration(const PipelineTimes& times, const Pipeline& pipeline, std::size_t device,
                     const PipelineOperation& op) {
  using S = StageTimes;
  using V = VocabularyTimes;
  // By action; those of the vocabulary layers come last and are of no stage.
  static constexpr std::array kOfStage = {
      &S::forward, &S::backward, &S::input_gradient, &S::weight_gradient, &S::forward_and_backward,
      &S::offload, &S::reload};
  static constexpr std::array kOfVocabulary = {&V::output_layer, &V::output_layer_gradient,
                                               &V::input_layer, &V::input_layer_gradient};
  const auto action = static_cast<std::size_t>(op.action);
  if (action >= kOfStage.size()) {
    return times.on(device, times.vocabulary.*kOfVocabulary[action - kOfStage.size()]);
  }
  Picoseconds stated = times.stage[pipeline.stage_of(device, op.chunk)].*kOfStage[action];
  if (copies(op.action)) return stated;
  if (op.action == PipelineAction::forward_and_backward) {
    // Two different stages may meet: each brings half of what its own pair would take.
    const std::size_t other = pipeline.stage_of(device, op.backward_chunk);
    stated = std::max(stated, times.stage[other].forward_and_backward);
  }
  return times.on(device, stated);
}

namespace {

class PipelineGraphBuilder {
 public:
  PipelineGraphBuilder(const Pipeline& pipeline, const PipelineTimes& times, Sends sends)
      : pipeline_(pipeline),
        times_(times),
        streams_(add_streams(builder_, pipeline.shape.devices)),
        wiring_(builder_, pipeline, times, sends, streams_),
        last_(pipeline.order.size()) {
    for (std::size_t a = 0; a < kPipelineActions; ++a) {
      const auto action = static_cast<PipelineAction>(a);
      operations_[a] =
          builder_.intern(Operation{.kind = copies(action) ? NodeKind::copy : NodeKind::kernel,
                                    .name = builder_.intern(letters(action))});
    }
  }

  Result<PipelineGraph> build() {
    PipelineGraph out;
    ORRERY_TRY(out.operations, linear_order(pipeline_));
    out.nodes.reserve(out.operations.size());
    builder_.reserve(out.operations.size() * 2, out.operations.size() * 2);
    for (std::size_t i = 0; i < out.operations.size(); ++i) {
      out.nodes.push_back(add(out.operations[i], static_cast<std::uint32_t>(i)));
    }
    out.graph = builder_.build();
    return out;
  }

 private:
  static PipelineStreams add_streams(GraphBuilder& builder, int devices) {
    PipelineStreams out;
    const auto add = [&](std::vector<StreamIndex>& to, StreamRole role, std::string_view label) {
      const NameIndex name = builder.intern(label);
      for (int d = 0; d < devices; ++d) {
        to.push_back(builder.add_stream({static_cast<std::uint32_t>(d), role, name}));
      }
    };
    add(out.compute, StreamRole::compute, "compute");
    add(out.forward_sends, StreamRole::communication, kForwardSends);
    add(out.backward_sends, StreamRole::communication, kBackwardSends);
    add(out.offloads, StreamRole::copy, kOffloads);
    add(out.reloads, StreamRole::copy, kReloads);
    return out;
  }

  NodeIndex add(const DeviceOperation& op, std::uint32_t index) {
    waits_.clear();
    wiring_.before(op, index, waits_);
    const PipelineAction action = op.operation.action;
    const bool copied = copies(action);
    // A copy is issued when what stands before it in the order of its device is done.
    std::optional<NodeIndex>& last = last_[op.device];
    if (copied && last) waits_.push_back(*last);
    const auto& streams = action == PipelineAction::offload  ? streams_.offloads
                          : action == PipelineAction::reload ? streams_.reloads
                                                             : streams_.compute;
    const NodeIndex node =
        builder_.add({operations_[static_cast<std::size_t>(action)], streams[op.device],
                      duration(times_, pipeline_, op.device, op.operation), index},
                     std::span<const NodeIndex>(waits_));
    if (!copied) last = node;
    wiring_.after(op, node, index);
    return node;
  }

  const Pipeline& pipeline_;
  const PipelineTimes& times_;
  GraphBuilder builder_;
  PipelineStreams streams_;
  PipelineWiring wiring_;
  std::array<OperationIndex, kPipelineActions> operations_{};
  std::vector<std::optional<NodeIndex>> last_;  // computing node of each device
  std::vector<NodeIndex> waits_;
};

}  // namespace

Result<PipelineGraph> pipeline_graph(const Pipeline& pipeline, const PipelineTimes& times,
                                     Sends sends) {
  return PipelineGraphBuilder(pipeline, times, sends).build();
}

Result<PipelineExecution> execute(const Pipeline& pipeline, const PipelineTimes& times,
                                  Sends sends) {
  PipelineExecution out;
  ORRERY_TRY(out.graph, pipeline_graph(pipeline, times, sends));
  out.timeline = simulate(out.graph.graph);
  const auto devices = static_cast<std::size_t>(pipeline.shape.devices);
  PipelineMeasures& m = out.measures;
  m.busy.resize(devices);
  m.first_start.resize(devices);
  m.last_end.resize(devices);
  std::vector<char> seen(devices);
  Picoseconds busy;
  for (std::size_t i = 0; i < out.graph.operations.size(); ++i) {
    if (copies(out.graph.operations[i].operation.action)) continue;
    const std::size_t d = out.graph.operations[i].device;
    const NodeIndex n = out.graph.nodes[i];
    const Picoseconds end = out.timeline.end(n);
    m.busy[d] += out.graph.graph.duration(n);
    busy += out.graph.graph.duration(n);
    if (seen[d] == 0) m.first_start[d] = out.timeline.start(out.graph.graph, n);
    seen[d] = 1;
    m.last_end[d] = std::max(m.last_end[d], end);
    m.makespan = std::max(m.makespan, end);
  }
  for (std::size_t d = 0; d < devices; ++d) {
    m.longest_device_span = std::max(m.longest_device_span, m.last_end[d] - m.first_start[d]);
  }
  if (m.makespan > Picoseconds(0)) {
    m.bubble_ratio = 1 - busy.count() / (static_cast<double>(devices) * m.makespan.count());
    m.bubble_ratio_span =
        1 - std::ranges::max_element(m.busy)->count() / m.longest_device_span.count();
  }
  // What is copied to host memory and back is held as the copies take, not as the order stands.
  if (has_copies(pipeline)) {
    for (const std::vector<MemoryChange>& curve : memory_curves(pipeline, out, times)) {
      double peak = 0;
      for (const MemoryChange& change : curve) peak = std::max(peak, change.held);
      m.peak_memory.push_back(peak);
    }
  } else {
    for (std::size_t d = 0; d < devices; ++d) {
      m.peak_memory.push_back(peak_in_flight(pipeline, d, times.memory).memory);
    }
  }
  return out;
}

}  // namespace orrery
