// The edges of a pipeline's graph: dependencies and transfers between devices.
//
// Code that emits the operations of a pipeline (as one node each, or as the blocks of a model) asks
// the wiring before each operation which nodes it must wait for, and tells it afterwards which node
// ended the operation. The wiring adds the transfers, latencies, reductions of vocabulary
// parallelism and the waits for reloaded activations. Operations must come in a linear order.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "schedule/linear_order.h"
#include "schedule/pipeline_dependencies.h"
#include "schedule/pipeline_times.h"

namespace orrery {

// asynchronous: a transfer occupies its link while the devices continue. blocking: it occupies the
// sender's and then the receiver's computing stream, as in frameworks without non-blocking sends.
enum class Sends { asynchronous, blocking };

// Streams of every device, by device and kind; kinds that are not used may be left out.
using PipelineStreams = std::array<std::vector<StreamIndex>, kStreamKinds>;

class PipelineWiring {
 public:
  // References must outlive the wiring. Of `times` it reads transfer, latency and vocabulary.
  PipelineWiring(GraphBuilder& builder, const Pipeline& pipeline, const PipelineTimes& times,
                 Sends sends, const PipelineStreams& streams);

  // Appends to `waits` the nodes that must end before `op` begins, and adds nodes that could not be
  // created earlier (reductions; with blocking sends the receiver's part, on its computing stream).
  // New nodes get `instance`.
  void before(const DeviceOperation& op, std::uint32_t instance, std::vector<NodeIndex>& waits);

  // `node` ended `op`. Returns the last node now on the device's computing stream: `node`, or the
  // blocking send behind it.
  NodeIndex after(const DeviceOperation& op, NodeIndex node, std::uint32_t instance);

 private:
  [[nodiscard]] StreamIndex stream(StreamKind kind, std::size_t device) const {
    return streams_[static_cast<std::size_t>(kind)][device];
  }
  NodeIndex on_wire(NameIndex name, Picoseconds time, std::uint32_t instance,
                    std::span<const NodeIndex> after);
  void wait_for(PipelineEventKind kind, std::size_t s, std::size_t j, std::size_t device,
                std::uint32_t instance, std::vector<NodeIndex>& waits);
  void wait_for_reload(const DeviceOperation& op, std::vector<NodeIndex>& waits);
  NodeIndex reduced(PipelineEventKind kind, std::size_t j, std::uint32_t instance);
  NodeIndex complete(PipelineEventKind kind, std::size_t s, std::size_t j, NodeIndex node,
                     std::size_t device, std::uint32_t instance);
  [[nodiscard]] std::size_t microbatches() const {
    return static_cast<std::size_t>(pipeline_.shape.microbatches);
  }
  [[nodiscard]] std::vector<NodeIndex>& passes(PipelineEventKind kind, std::size_t j) {
    return passes_[(static_cast<std::size_t>(kind) -
                    static_cast<std::size_t>(PipelineEventKind::output_layer)) *
                       microbatches() +
                   j];
  }

  GraphBuilder& builder_;
  const Pipeline& pipeline_;
  const PipelineTimes& times_;
  Sends sends_;
  const PipelineStreams& streams_;
  PipelineEvents events_;
  StreamIndex wire_;
  NameIndex send_activations_, send_gradients_, receive_, latency_, reduction_;
  std::vector<std::uint32_t> arrival_;  // of each event: the node after which it has arrived
  std::vector<std::vector<NodeIndex>> passes_;  // vocabulary passes of all devices, by event
  bool reloads_ = false;
};

}  // namespace orrery
