// The edges of a pipeline's graph: dependencies and transfers between devices.
//
// Code that adds the operations of a pipeline to a graph (as one node each, or as the blocks of a
// model) calls before() for the nodes that each operation must wait for, and after() with the node
// that ended the operation. The wiring adds the transfers, latencies, reductions of vocabulary
// parallelism and the waits for reloaded activations. Operations must come in a linear order.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "schedule/linear_order.h"
#include "schedule/pipeline_dependencies.h"
#include "schedule/pipeline_times.h"

namespace orrery {

// asynchronous: a transfer occupies its link while the devices continue. blocking: it occupies the
// sender's and then the receiver's computing stream, as in frameworks without non-blocking sends.
enum class Sends { asynchronous, blocking };

// Names of the streams of a device.
inline constexpr std::string_view kForwardSends = "pipeline sends, forward";
inline constexpr std::string_view kBackwardSends = "pipeline sends, backward";
inline constexpr std::string_view kOffloads = "copies to host memory";
inline constexpr std::string_view kReloads = "copies from host memory";
// Reductions of vocabulary parallelism, on which all devices meet and which no device waits for in
// order.
inline constexpr std::string_view kVocabularyReductions = "vocabulary reductions";

// By device.
struct PipelineStreams {
  std::vector<StreamIndex> compute, forward_sends, backward_sends, offloads, reloads;
};

// The communications between devices, for graphs that state their operations; empty if only times
// are known.
struct PipelineTraffic {
  CategoryIndex category{};
  std::vector<OperationParts> transfer;  // by boundary, like PipelineTimes::transfer
  OperationParts broadcast, first_barrier, second_barrier, input_reduction;  // VocabularyTimes
};

class PipelineWiring {
 public:
  // References must outlive the wiring. It reads transfer, latency and vocabulary of `times`.
  PipelineWiring(GraphBuilder& builder, const Pipeline& pipeline, const PipelineTimes& times,
                 Sends sends, const PipelineStreams& streams, const PipelineTraffic& traffic = {});

  // Appends to `waits` the nodes that must end before `op` begins, and adds nodes that could not be
  // created earlier (reductions; with blocking sends the receiver's part, on its computing stream).
  // New nodes get `instance`.
  void before(const DeviceOperation& op, std::uint32_t instance, std::vector<NodeIndex>& waits);

  // `node` ended `op`. Returns the last node on the device's computing stream: `node`, or the
  // blocking send after it.
  NodeIndex after(const DeviceOperation& op, NodeIndex node, std::uint32_t instance);

 private:
  NodeIndex on_wire(StreamIndex wire, OperationIndex operation, Picoseconds time,
                    std::uint32_t instance, std::span<const NodeIndex> after);
  // The operation of the boundary between two devices; `operations` has one for each, or one for
  // all.
  [[nodiscard]] OperationIndex of_boundary(const std::vector<OperationIndex>& operations,
                                           std::size_t from, std::size_t to) const {
    return operations.size() == 1 ? operations.front()
                                  : operations[times_.boundary_between(from, to)];
  }
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
  StreamIndex latencies_, reductions_;                                       // wires
  std::vector<OperationIndex> send_activations_, send_gradients_, receive_;  // by boundary
  OperationIndex latency_, broadcast_, first_barrier_, second_barrier_, input_reduction_;
  std::vector<std::uint32_t> arrival_;          // by event: the node after which it has arrived
  std::vector<std::vector<NodeIndex>> passes_;  // vocabulary passes of all devices, by event
  bool reloads_ = false;
};

}  // namespace orrery
