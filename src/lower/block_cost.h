// One block of a model under one plan: simulated once, operation by operation, on its streams.
//
// A block's forward and backward are small graphs of kernels on the computing stream and
// collectives on one stream per mesh axis. What waits for what is stated, so overlap is simulated,
// never assumed by a factor:
//   column product  (sequence parallel) all-gather, then product; backward: input gradient beside
//                   the second all-gather, weight gradient beside the reduce-scatter of the input
//                   gradient (arXiv 2205.05198 s.4.2.2, arXiv 1909.08053 s.3)
//   row product     product, then reduce-scatter or all-reduce; backward: all-gather first
//   attention       keys and values gathered before it, or passed round a ring beside it (B3, B14),
//                   or all-to-alls before and behind it (lower/head_exchange.h)
//   experts         all-to-all between permutation and products, both ways (E1)
// All streams of a block end before its last node does; blocks follow each other in whole.
//
// A split backward (zero-bubble schedules, arXiv 2401.10241) is two passes instead of one: the
// input gradients with everything that is computed again, then, whenever the schedule likes, the
// weight gradients of the matrix products. Other weight gradients (norms, embedding) stay with the
// input gradients, where autograd leaves them. Both passes compute what the fused backward does;
// they lose the overlap of reductions of input gradients with weight gradients, and win that of a
// gathered input with the product before it.
#pragma once

#include "cost/memory/rank_parameters.h"
#include "lower/block_memory.h"
#include "lower/cost_context.h"
#include "lower/document_rows.h"
#include "lower/pass_builder.h"
#include "lower/rank_layout.h"
#include "model/model.h"
#include "plan/plan.h"

namespace orrery {

struct BlockCost {
  BlockPass forward;
  BlockPass backward;         // input and weight gradient, and what is computed again
  BlockPass input_gradient;   // first half of a split backward; empty unless asked for
  BlockPass weight_gradient;  // second half
  RankParameters trained;
  RankParameters frozen;
  RankTables tables;
  int weight_tensors = 0;   // of products and embeddings
  int trained_tensors = 0;  // of them
  BlockMemory memory;
  // What one microbatch still keeps between the halves of a split backward: inputs of the matrix
  // products and gradients of their outputs. May exceed `saved` under recomputation.
  Bytes saved_for_weight_gradient;
  Flops recomputed;  // FLOPs of what is computed again
};

// Everything a block's cost depends on.
struct BlockSetting {
  Binding binding;
  double hidden = 0;  // width of the residual stream
  const Plan& plan;
  const Training& training;
  const RankLayout& layout;
  const CostContext& costs;
  const DocumentRows* documents = nullptr;  // that rows are made of; none: every row is one
  RowDivision rows = {};                    // how ranks wait for each other where they are
  bool layer = true;                        // not the embedding or the head
  double expert_imbalance_of_half = 1;      // Binding::expert_imbalance of half a microbatch
  double kept_tokens = 1;                   // part of the routed ones that no expert drops
};

// Whether a schedule runs a backward as one pass or as two.
enum class Backward { fused, split };

BlockCost block_cost(const Block& block, const BlockSetting& setting, Recompute recompute,
                     Backward backward = Backward::fused);

}  // namespace orrery
