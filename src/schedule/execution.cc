#include "schedule/execution.h"

#include <algorithm>
#include <array>
#include <limits>

#include "schedule/in_flight.h"
#include "schedule/pipeline_dependencies.h"
#include "schedule/schedule.h"

namespace orrery {

Picoseconds duration(const PipelineTimes& times, const Pipeline& pipeline, std::size_t device,
                     const PipelineOperation& op) {
  const auto stage = [&](std::size_t chunk) -> const StageTimes& {
    return times.stage[pipeline.stage_of(device, chunk)];
  };
  switch (op.action) {
    case PipelineAction::forward:
      return stage(op.chunk).forward;
    case PipelineAction::backward:
      return stage(op.chunk).backward;
    case PipelineAction::input_gradient:
      return stage(op.chunk).input_gradient;
    case PipelineAction::weight_gradient:
      return stage(op.chunk).weight_gradient;
    case PipelineAction::forward_and_backward:
      // Two different stages may meet: each brings half of what its own pair would take.
      return op.chunk == op.backward_chunk
                 ? stage(op.chunk).forward_and_backward
                 : std::max(stage(op.chunk).forward_and_backward,
                            stage(op.backward_chunk).forward_and_backward);
    case PipelineAction::offload:
      return stage(op.chunk).offload;
    case PipelineAction::reload:
      return stage(op.chunk).reload;
    case PipelineAction::output_layer:
      return times.vocabulary.output_layer;
    case PipelineAction::output_layer_gradient:
      return times.vocabulary.output_layer_gradient;
    case PipelineAction::input_layer:
      return times.vocabulary.input_layer;
    case PipelineAction::input_layer_gradient:
      return times.vocabulary.input_layer_gradient;
  }
  return Picoseconds(0);
}

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

class PipelineGraphBuilder {
 public:
  PipelineGraphBuilder(const Pipeline& pipeline, const PipelineTimes& times, Sends sends)
      : pipeline_(pipeline),
        times_(times),
        sends_(sends),
        events_(pipeline),
        arrival_(events_.events(), kNone) {
    const auto devices = static_cast<std::uint32_t>(pipeline.shape.devices);
    constexpr std::array kKinds = {StreamKind::compute, StreamKind::pp_forward,
                                   StreamKind::pp_backward, StreamKind::offload,
                                   StreamKind::reload};
    for (std::uint32_t d = 0; d < devices; ++d) {
      for (const StreamKind kind : kKinds) {
        streams_[static_cast<std::size_t>(kind)].push_back(builder_.add_stream({d, kind}));
      }
    }
    wire_ = builder_.add_stream({0, StreamKind::wire});
    for (std::size_t a = 0; a < kActions; ++a) {
      names_[a] = builder_.intern(letters(static_cast<PipelineAction>(a)));
    }
    send_ = builder_.intern("transfer");
    receive_ = builder_.intern("receive");
    latency_ = builder_.intern("latency");
    barrier_ = builder_.intern("vocabulary reduction");
    if (pipeline.vocabulary_barriers > 0) passes_.resize(4 * microbatches());
    for (const auto& order : pipeline.order) {
      for (const PipelineOperation& op : order) {
        if (op.action == PipelineAction::reload) reloads_ = true;
      }
    }
  }

  Result<PipelineGraph> build() {
    PipelineGraph out;
    ORRERY_TRY(out.operations, linear_order(pipeline_));
    out.nodes.reserve(out.operations.size());
    builder_.reserve(out.operations.size() * 2, out.operations.size() * 2);
    for (std::size_t i = 0; i < out.operations.size(); ++i) {
      out.nodes.push_back(add(out.operations[i], static_cast<std::uint32_t>(i)));
      if (builder_.size() > 4 * static_cast<std::size_t>(kMaxPipelineOperations)) {
        return fail(ErrorCode::unsupported, "the pipeline has more than " +
                                                std::to_string(builder_.size()) +
                                                " operations and transfers");
      }
    }
    out.graph = builder_.build();
    return out;
  }

 private:
  static constexpr std::size_t kActions = 11;

  [[nodiscard]] std::size_t microbatches() const {
    return static_cast<std::size_t>(pipeline_.shape.microbatches);
  }
  [[nodiscard]] StreamIndex stream(StreamKind kind, std::size_t device) const {
    return streams_[static_cast<std::size_t>(kind)][device];
  }
  NodeIndex on_wire(NameIndex name, Picoseconds time, std::uint32_t instance,
                    std::span<const NodeIndex> after) {
    return builder_.add(
        NodeSpec{NodeKind::point_to_point, Category::exposed_pp, name, wire_, time, 0, instance},
        after);
  }

  NodeIndex add(const DeviceOperation& op, std::uint32_t index) {
    const std::size_t d = op.device;
    waits_.clear();
    events_.waits(d, op.operation, [&](EventKind kind, std::size_t s, std::size_t j) {
      wait_for(kind, s, j, d, index);
    });
    const PipelineAction action = op.operation.action;
    if (reloads_ && action != PipelineAction::forward && action < PipelineAction::offload) {
      const std::size_t chunk = action == PipelineAction::forward_and_backward
                                    ? op.operation.backward_chunk
                                    : op.operation.chunk;
      const std::uint32_t j = action == PipelineAction::forward_and_backward
                                  ? op.operation.backward_microbatch
                                  : op.operation.microbatch;
      const std::uint32_t reload =
          arrival_[events_.index(EventKind::reload, pipeline_.stage_of(d, chunk), j)];
      if (reload != kNone) waits_.emplace_back(reload);
    }
    const bool copies = action == PipelineAction::offload || action == PipelineAction::reload;
    // A copy is issued when what stands before it in the order of its device is done.
    if (copies && !last_.empty() && last_[d] != kNone) waits_.emplace_back(last_[d]);
    const StreamKind kind = action == PipelineAction::offload  ? StreamKind::offload
                            : action == PipelineAction::reload ? StreamKind::reload
                                                               : StreamKind::compute;
    const NodeIndex node =
        builder_.add(NodeSpec{copies ? NodeKind::copy : NodeKind::kernel, Category::feed_forward,
                              names_[static_cast<std::size_t>(action)], stream(kind, d),
                              duration(times_, pipeline_, d, op.operation), 0, index},
                     std::span<const NodeIndex>(waits_));
    if (!copies) {
      if (last_.empty()) last_.assign(pipeline_.order.size(), kNone);
      last_[d] = node.value();
    }
    events_.completes(d, op.operation, [&](EventKind event, std::size_t s, std::size_t j) {
      complete(event, s, j, node, d, index);
    });
    return node;
  }

  // Gathers what must have arrived; on one device the stream's own order is enough.
  void wait_for(EventKind kind, std::size_t s, std::size_t j, std::size_t device,
                std::uint32_t index) {
    if (kind >= EventKind::output_layer) return waits_.push_back(reduced(kind, j, index));
    const bool vocabulary =
        pipeline_.vocabulary_barriers > 0 && ((kind == EventKind::forward && s + 1 == stages()) ||
                                              (kind == EventKind::backward && s == 0));
    const std::size_t from = pipeline_.seat(j, s).device;
    if (from == device && kind != EventKind::offload && !(vocabulary && s + 1 != stages())) return;
    const std::uint32_t arrived = arrival_[events_.index(kind, s, j)];
    if (sends_ == Sends::blocking && from != device && !vocabulary) {
      const Picoseconds time =
          times_.transfer_between(from, device) + times_.latency_between(from, device);
      if (time > Picoseconds(0)) {
        builder_.add(NodeSpec{NodeKind::point_to_point, Category::exposed_pp, receive_,
                              stream(StreamKind::compute, device), time, 0, index},
                     {NodeIndex(arrived)});
        return;
      }
    }
    waits_.emplace_back(arrived);
  }

  [[nodiscard]] std::size_t stages() const { return pipeline_.stages(); }

  void complete(EventKind kind, std::size_t s, std::size_t j, NodeIndex node, std::size_t device,
                std::uint32_t index) {
    if (kind >= EventKind::output_layer) {
      passes_[(static_cast<std::size_t>(kind) - 5) * microbatches() + j].push_back(node);
      return;
    }
    std::uint32_t& arrival = arrival_[events_.index(kind, s, j)];
    arrival = node.value();
    const bool up = kind == EventKind::forward;
    if (!up && kind != EventKind::backward) return;
    // The last stage's output and the first stage's gradient go to all devices.
    if (pipeline_.vocabulary_barriers > 0 && (up ? s + 1 == stages() : s == 0)) {
      if (up && times_.vocabulary.broadcast > Picoseconds(0)) {
        arrival = on_wire(barrier_, times_.vocabulary.broadcast, index, std::array{node}).value();
      }
      return;
    }
    if (up ? s + 1 == stages() : s == 0) return;
    const std::size_t to = pipeline_.seat(j, up ? s + 1 : s - 1).device;
    if (to == device) return;
    Picoseconds transfer = times_.transfer_between(device, to);
    Picoseconds latency = times_.latency_between(device, to);
    if (sends_ == Sends::blocking) {
      transfer += latency;
      latency = Picoseconds(0);
    }
    NodeIndex last = node;
    if (transfer > Picoseconds(0)) {
      const StreamKind link = sends_ == Sends::blocking ? StreamKind::compute
                              : up                      ? StreamKind::pp_forward
                                                        : StreamKind::pp_backward;
      last = builder_.add(NodeSpec{NodeKind::point_to_point, Category::exposed_pp, send_,
                                   stream(link, device), transfer, 0, index},
                          {last});
    }
    if (latency > Picoseconds(0)) last = on_wire(latency_, latency, index, std::array{last});
    arrival = last.value();
  }

  // The reduction over the passes of all devices, made when the first operation needs it.
  NodeIndex reduced(EventKind kind, std::size_t j, std::uint32_t index) {
    std::uint32_t& arrival = arrival_[events_.index(kind, 0, j)];
    if (arrival == kNone) {
      const VocabularyTimes& v = times_.vocabulary;
      const Picoseconds time = kind == EventKind::output_layer            ? v.first_barrier
                               : kind == EventKind::output_layer_gradient ? v.second_barrier
                                                                          : v.input_reduction;
      arrival = on_wire(barrier_, time, index,
                        passes_[(static_cast<std::size_t>(kind) - 5) * microbatches() + j])
                    .value();
    }
    return NodeIndex(arrival);
  }

  const Pipeline& pipeline_;
  const PipelineTimes& times_;
  Sends sends_;
  PipelineEvents events_;
  GraphBuilder builder_;
  std::array<std::vector<StreamIndex>, kStreamKinds> streams_;
  StreamIndex wire_{};
  std::array<NameIndex, kActions> names_{};
  NameIndex send_{}, receive_{}, latency_{}, barrier_{};
  std::vector<std::uint32_t> arrival_;  // of each event: the node after which it has arrived
  std::vector<std::uint32_t> last_;     // computing node of each device, while copies are in order
  std::vector<std::vector<NodeIndex>> passes_;
  std::vector<NodeIndex> waits_;
  bool reloads_ = false;
};

}  // namespace

Result<PipelineGraph> pipeline_graph(const Pipeline& pipeline, const PipelineTimes& times,
                                     Sends sends) {
  return PipelineGraphBuilder(pipeline, times, sends).build();
}

namespace {

// Held memory over time, with copies to host memory: +1 when a forward or reload begins, and so on.
double timed_peak(const PipelineExecution& run, const Pipeline& pipeline,
                  const PipelineTimes& times, std::uint32_t device) {
  struct Change {
    double at;
    double by;
    bool operator<(const Change& o) const { return at != o.at ? at < o.at : by < o.by; }
  };
  std::vector<Change> changes;
  const PipelineGraph& g = run.graph;
  for (std::size_t i = 0; i < g.operations.size(); ++i) {
    if (g.operations[i].device != device) continue;
    const PipelineOperation& op = g.operations[i].operation;
    const double end = run.timeline.end(g.nodes[i]).count();
    const double start = run.timeline.start(g.graph, g.nodes[i]).count();
    const auto memory = [&](std::size_t chunk) {
      return times.memory_of(pipeline.stage_of(device, chunk));
    };
    const StageMemory m = memory(op.chunk);
    switch (op.action) {
      case PipelineAction::forward:
      case PipelineAction::reload:
        changes.push_back({start, m.forward});
        break;
      case PipelineAction::backward:
      case PipelineAction::offload:
        changes.push_back({end, -m.forward});
        break;
      case PipelineAction::forward_and_backward:
        changes.push_back({start, m.forward});
        changes.push_back({end, -memory(op.backward_chunk).forward});
        break;
      case PipelineAction::input_gradient:
        changes.push_back({end, m.weight_gradient - m.forward});
        break;
      case PipelineAction::weight_gradient:
        changes.push_back({end, -m.weight_gradient});
        break;
      default:
        break;
    }
  }
  std::sort(changes.begin(), changes.end());
  double held = 0;
  double peak = 0;
  for (const Change& c : changes) peak = std::max(peak, held += c.by);
  return peak;
}

}  // namespace

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
  bool copies = false;
  Picoseconds busy;
  for (std::size_t i = 0; i < out.graph.operations.size(); ++i) {
    const PipelineAction action = out.graph.operations[i].operation.action;
    if (action == PipelineAction::offload || action == PipelineAction::reload) {
      copies = true;
      continue;
    }
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
        1 - std::max_element(m.busy.begin(), m.busy.end())->count() / m.longest_device_span.count();
  }
  for (std::size_t d = 0; d < devices; ++d) {
    m.peak_memory.push_back(copies ? timed_peak(out, pipeline, times, static_cast<std::uint32_t>(d))
                                   : peak_in_flight(pipeline, d, times.memory).memory);
  }
  return out;
}

}  // namespace orrery
