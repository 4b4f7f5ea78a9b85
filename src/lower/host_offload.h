// What of a training step lies outside the accelerators: states, weights and activations in host
// memory or on the node's storage, and the optimizer step on the processor of the host.
//
//   offload_optimizer    master weights and moments, and their update. Gradients go to the host as
//                        they are reduced; after the gradient norm the processor updates what its
//                        rank owns, and 16-bit weights return:
//                          copy = owned g / link,  update = owned (bytes of an update) / memory
//                        on nvme the states are read and written beside it, group by group:
//                          states = owned (4 + moments) (1 / read + 1 / write)
//                        and the step ends when the slowest of the three does (ZeRO-Offload, arXiv
//                        2101.06840 s.4; ZeRO-Infinity, arXiv 2104.07857 s.5)
//   offload_parameters   under ZeRO 3: each rank brings its own shard of a block's weights over its
//                        own link, before they are gathered, forward and backward
//                          fetch = owned w / read (from nvme), then owned w / link
//   offload_activations  what a block keeps leaves after its forward and returns before its
//                        backward, two blocks ahead: saved / link each way
//
// All accelerators of a node share its processor's memory, its storage and what its links carry
// together (cluster/node.h, NodeHost), so each has an equal part. Copies, storage and processor are
// streams of their own, so that whatever has something to run beside it is hidden. Not modelled:
// pinned buffers, host memory traffic of copies, updates that lag a step behind (delayed
// parameter update), parts of the states that stay on the device.
#pragma once

#include <optional>

#include "graph/graph.h"
#include "lower/step_costs.h"

namespace orrery {

// The optimizer step of a device on its host: what it reads and writes of host memory.
HostCopy host_update(const StepCosts& step, int device);
// Trained parameters of these that a rank owns, by the plan's ZeRO stage.
double owned(const StepCosts& step, const RankParameters& parameters);

class HostOffload {
 public:
  HostOffload(const StepCosts& step, GraphBuilder& builder) : step_(step), builder_(builder) {}

  // Brings what the rank owns of a block's weights; `after` itself where they stay on the device.
  std::optional<NodeIndex> fetch_weights(std::uint32_t device, const BlockCost& block,
                                         std::optional<NodeIndex> after, std::uint32_t instance);
  // Sends what the rank owns of these parameters' gradients; `after` where they stay.
  NodeIndex send_gradients(std::uint32_t device, const RankParameters& trained, NodeIndex after,
                           std::uint32_t instance);
  void send_activations(std::uint32_t device, const BlockCost& block, NodeIndex after,
                        std::uint32_t instance);
  // Nothing if the block keeps nothing.
  std::optional<NodeIndex> fetch_activations(std::uint32_t device, const BlockCost& block,
                                             std::optional<NodeIndex> after,
                                             std::uint32_t instance);
  // The optimizer step of a device, behind `after`; what the next step waits for.
  NodeIndex update(std::uint32_t device, NodeIndex after, std::uint32_t instance);

 private:
  NodeIndex copy(std::uint32_t device, StepStream stream, Category category, std::string_view name,
                 HostCopy what, std::optional<NodeIndex> after, std::uint32_t instance);

  const StepCosts& step_;
  GraphBuilder& builder_;
};

}  // namespace orrery
