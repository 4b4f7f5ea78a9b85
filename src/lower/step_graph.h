// One training step as an execution graph: the lowering of a plan.
//
// One rank stands for each rank class (the ranks of one pipeline device do the same work). Folded,
// a pass through consecutive blocks is one node with the simulated time of those blocks; expanded,
// every operator of every block is a node. Both are emitted by the same code, and simulate to the
// same picosecond.
//
// The step, per device, in schedule order:
//   parameters gathered (ZeRO 1, 2: before the first forward of each block; ZeRO 3: shard_moves.h)
//   forward and backward passes, with activations sent on between devices
//   gradients reduced (ZeRO 0, 1: behind the last backward of each block; 2, 3: shard_moves.h)
//   gradient norm over all ranks, optimizer, and parameters gathered if that does not overlap
//
// A workload without a backward (model/workload.h) runs the forwards alone, in the schedule's
// order. A backward is one pass or, where the schedule splits it, two; gradients are reduced behind
// the weight gradient. A forward and a backward that the schedule pairs are one node, folded and
// expanded alike (paired_pass.h), unless parameters are gathered or gradients reduced in them.
// Not modelled: the first step's differences, data loading, checkpoints; encoder outputs of
// encoder-decoders travel with the boundary activations at no cost of their own.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "lower/step_category.h"
#include "lower/step_costs.h"

namespace orrery {

enum class Folding { folded, expanded };

// What a node of the step belongs to.
struct StepInstance {
  std::uint16_t device = 0;
  PipelineOperation operation;  // of a pass, or what a transfer carries
  std::uint16_t route = 0;      // of its microbatch
  enum class Part : std::uint8_t { pass, transfer, gather, reduce, optimizer } part = Part::pass;
};

struct StepGraph {
  Graph graph;
  std::vector<Breakdown> blocks;           // of folded blocks, by Operation::block
  std::vector<StepInstance> instances;     // by instance
  std::vector<NodeIndex> gradients_ready;  // by device: its last pass or reduction
};

inline constexpr std::size_t kMaxNodes = 50'000'000;

// Errors: the schedule deadlocks; an expanded graph of more than kMaxNodes.
Result<StepGraph> step_graph(const StepCosts& step, Folding folding);

}  // namespace orrery
