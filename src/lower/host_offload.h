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
//                        backward, two blocks ahead: saved / link each way; on nvme, saved / write
//                        behind the one and saved / read before the other (Fuyou, arXiv 2403.06504)
//   offload_share        of states and updates the part that lies outside; the device updates the
//                        others meanwhile (PatrickStar, arXiv 2108.05818, keeps chunks of states in
//                        device memory that nothing else needs)
//   update_stride k      of the parts that lie outside every k-th is fetched, updated on the device
//                        with the memory that activations have left, and sent back; parts are many,
//                        so that all of this runs beside the host's update of the others:
//                          max( (1 - 1/k) update,  (states / k + (1 - 1/k) weights) / link in,
//                               states / k / link out,  device update / k )
//                        (Deep Optimizer States, arXiv 2410.21316)
//   overlap.host_update  the host updates a block as its last gradients arrive
//
// All accelerators of a node share its processor's memory, its storage and what its links carry
// together (cluster/node.h, NodeHost), so each has an equal part. Copies, storage and processor are
// streams of their own, so that whatever has something to run beside it is hidden. Not modelled:
// pinned buffers, host memory traffic of copies, updates that lag a step behind (delayed
// parameter update).
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "lower/step_costs.h"

namespace orrery {

// What the host's update of these parameters reads and writes of host memory.
HostCopy host_update(const StepCosts& step, const RankParameters& trained);
// Of the states of a rank, the part that the device updates: it stays there, or is fetched.
double updated_on_device(const Plan& plan);
// Trained parameters of these that a rank owns, by the plan's ZeRO stage.
double owned(const StepCosts& step, const RankParameters& parameters);

class HostOffload {
 public:
  HostOffload(const StepCosts& step, GraphBuilder& builder)
      : step_(step), builder_(builder), updates_(static_cast<std::size_t>(step.shape.devices)) {}

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
  // The optimizer step of these parameters of a device, behind `after`.
  void update(std::uint32_t device, const RankParameters& trained, NodeIndex after,
              std::uint32_t instance);
  // Behind all updates of a device: what the next step waits for.
  NodeIndex updated(std::uint32_t device, std::uint32_t instance);

 private:
  NodeIndex copy(std::uint32_t device, StepStream stream, Category category, std::string_view name,
                 HostCopy what, std::optional<NodeIndex> after, std::uint32_t instance);

  const StepCosts& step_;
  GraphBuilder& builder_;
  std::vector<std::vector<NodeIndex>> updates_;  // by device
};

}  // namespace orrery
