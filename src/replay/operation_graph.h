// The dependencies of the operations of a hybrid-parallel step: the model of ByteDance's study of
// stragglers, as a graph of graph/graph.h.
//
// Built from the first step of data-parallel rank 0 (without operations that end before they begin,
// if there is one), whose order all steps and ranks share:
//
//   - A stage's forward and backward passes run in the order in which they began, and so do its
//     sends and its receives of one direction. The k-th send waits for the k-th pass of its
//     direction, the k-th pass for its receive, and that receive for the pass before; the first
//     backward transfer waits for the second pass before the first backward.
//   - The first forward of a chunk waits for the chunk's params-all-gather.
//   - last pass -> gc -> layernorm -> embedding -> grads-reduce-scatter -> clip -> optimizer. Where
//     a separate-grads-all-reduce exists, reduce-scatters follow the last backward of their chunk,
//     and last reduce-scatter + gc -> layernorm -> embedding -> separate -> clip -> optimizer.
//
// Rendezvous: a send and its receive; embedding gradients of first and last stage; clipping of all
// stages; and over data-parallel ranks parameters, gradients, the separate all-reduce and clipping.
// Transfers that move nothing (a receive that begins 50 us after the last pass did, a send that
// ends 50 us before the first pass) are left out.
//
// Source: "Understanding Stragglers in Large Model Training Using What-if Analysis" (ByteDance) and
// its artifact, github.com/ByteDance-Seed/StragglerAnalysis, commit 8efcd7f.
//
// Several model chunks per stage (interleaved schedules): transfers name neither chunk nor
// micro-batch, but a stage sends and receives in the order of its passes. All passes send but the
// last chunk's forward on the last stage and the first chunk's backward on the first; all receive
// but the first chunk's forward on the first stage and the last chunk's backward on the last. So
// the k-th send belongs to the k-th pass that sends, and to the receive of the next stage's pass of
// its micro-batch; after the last stage comes the first one, with the next chunk. A timeline whose
// numbers of transfers do not fit is refused. Checked on constructed jobs, because the published
// ones have one chunk.
#pragma once

#include <cstdint>
#include <vector>

#include "outcome/result.h"
#include "replay/run_graph.h"
#include "trace/operation_timeline/operation_timeline.h"

namespace orrery {

// One operation of every step and data-parallel rank.
struct OperationSlot {
  OperationType type = OperationType::forward_compute;
  std::int32_t stage = 0;
  std::int32_t sequence = 0;
  std::vector<std::uint32_t> after;  // slots
  // Slots that start their transfers together, including this one; only itself if it is not a
  // communication.
  std::vector<std::uint32_t> group;
  bool across_ranks = false;  // and with those of the other data-parallel ranks
};

struct OperationGraph {
  std::vector<OperationSlot> slots;
  std::int32_t data_parallel_ranks = 0;
  // Nodes of the lowered graph, by rank * slots + slot: the delay before it starts, and its
  // duration (of a communication: from the rendezvous on).
  std::vector<std::uint32_t> delay_node;
  std::vector<std::uint32_t> duration_node;
  LoweredRun run;
};

Result<OperationGraph> operation_graph(const OperationTimeline& timeline);

}  // namespace orrery
