// Data-parallel communication of the blocks of a step, priced once each, as operations of its graph.
#pragma once

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
      : step_(step), builder_(builder), blocks_(step.cache->model().blocks.size()) {}

  OperationIndex operation(NodeKind kind, Category category, std::string_view name,
                           OperationParts parts = {});
  // Of parts that have a price.
  PricedOperation priced(NodeKind kind, Category category, std::string_view name,
                         OperationParts parts);
  PricedOperation gather(OperationParts parts);
  PricedOperation reduction(OperationParts parts);

  // `cost` is that of the layer's block, recomputed or not.
  const ShardCommunication& of_layer(std::size_t block, const BlockCost& cost) {
    return of(blocks_[block], cost);
  }
  const ShardCommunication& of_embedding() { return of(embedding_, step_.kept->embedding); }
  const ShardCommunication& of_head() { return of(head_, step_.kept->head); }

 private:
  const ShardCommunication& of(ShardCommunication& known, const BlockCost& cost);
  PricedOperation buffer_copy(std::string_view name, Bytes moved);

  const StepCosts& step_;
  GraphBuilder& builder_;
  std::vector<ShardCommunication> blocks_;
  ShardCommunication embedding_, head_;
};

}  // namespace orrery
