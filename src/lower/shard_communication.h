// Data-parallel communication of the blocks of a step, priced once each, as operations of its graph.
// Costs are those of the device (StepCosts::at).
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "lower/step_category.h"
#include "lower/step_costs.h"

namespace orrery {

struct PricedOperation {
  Picoseconds time;
  OperationIndex operation{};
};

// The reduction of the gradients of these parameters, which begins after a node.
struct Reduction {
  PricedOperation what;
  std::optional<NodeIndex> after;
  RankParameters trained;
};

// Of one distinct block.
struct ShardCommunication {
  PricedOperation gather, gather_again, reduce;             // forward, backward, gradients
  PricedOperation gather_twice;                             // of tensors let go behind each use
  PricedOperation copy_gathered, copy_again, copy_reduced;  // beside them, on the computing stream
  bool known = false;
};

class ShardCommunications {
 public:
  ShardCommunications(const StepCosts& step, GraphBuilder& builder)
      : builder_(builder),
        distinct_(step.cache->model().blocks.size()),
        blocks_(distinct_ * std::max<std::size_t>(1, step.sites.size())) {}

  OperationIndex operation(NodeKind kind, Category category, std::string_view name,
                           OperationParts parts = {});
  // Of parts that have a price.
  PricedOperation priced(const StepCosts& costs, NodeKind kind, Category category,
                         std::string_view name, OperationParts parts);
  PricedOperation gather(const StepCosts& costs, OperationParts parts);
  PricedOperation reduction(const StepCosts& costs, OperationParts parts);

  // `cost` is that of the layer's block in that site, recomputed or not.
  const ShardCommunication& of_layer(std::size_t site, std::size_t block, const StepCosts& costs,
                                     const BlockCost& cost) {
    return of(blocks_[site * distinct_ + block], costs, cost);
  }
  const ShardCommunication& of_embedding(const StepCosts& costs) {
    return of(embedding_, costs, costs.kept->embedding);
  }
  const ShardCommunication& of_head(const StepCosts& costs) {
    return of(head_, costs, costs.kept->head);
  }

 private:
  const ShardCommunication& of(ShardCommunication& known, const StepCosts& costs,
                               const BlockCost& cost);
  PricedOperation buffer_copy(const StepCosts& costs, std::string_view name, Bytes moved);

  GraphBuilder& builder_;
  std::size_t distinct_;  // blocks of the model
  std::vector<ShardCommunication> blocks_;
  ShardCommunication embedding_, head_;
};

// Gradients that wait until a bucket of them is full and are reduced at once, in the order in which
// the backward makes them: PyTorch's DistributedDataParallel, whose first bucket is of 1 MiB so that
// communication begins early, and Megatron-Core. Source: pytorch/pytorch
// torch/csrc/distributed/c10d/reducer.cpp and torch/nn/parallel/distributed.py (arXiv 2006.15704
// s.3.2). A bucket is full behind a block: one that is larger is reduced in so many parts behind it,
// and none begins inside it.
class GradientBucket {
 public:
  GradientBucket(const StepCosts& step, ShardCommunications& communication)
      : step_(step), communication_(communication) {}

  // The reduction of a bucket that these gradients fill, and that begins after `behind`, the node that
  // computes them; nothing if it is not full. With `all`, for the last of a pass, of what there is.
  std::optional<Reduction> add(const StepCosts& costs, const RankParameters& trained, bool all,
                               std::optional<NodeIndex> behind);

 private:
  const StepCosts& step_;
  ShardCommunications& communication_;
  RankParameters collected_;
  bool first_ = true;
};

}  // namespace orrery
