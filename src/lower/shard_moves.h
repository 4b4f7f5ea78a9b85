// When the weights and gradients that data-parallel ranks share in pieces are gathered and reduced.
//
// Without a pipeline, or with one chunk of the plan a device, every pass gathers sharded weights
// (ZeRO 3) and reduces sharded gradients (ZeRO 2 and 3): a device that kept its only chunk whole
// would save nothing. With several chunks a device keeps whole what it passes: weights are gathered
// as it turns to a chunk, forward and backward, and gradients, added up meanwhile, are reduced as
// it turns away. So m microbatches in groups of g cost 2 m / g gathers and m / g reductions of a
// chunk, breadth-first 2 and 1 (arXiv 2211.05953 s.3.2; with groups, arXiv 2407.21783 s.3.3.2). Of
// two chunks, the one passed forward and the one passed backward, all weights are whole anyway, and
// are gathered once. Some software keeps all chunks of a pipeline whole from their first pass to
// their last (plan/software.h, PipelineShards): 1 and 1.
#pragma once

#include <span>
#include <vector>

#include "lower/pass_partner.h"
#include "lower/step_pass.h"
#include "plan/plan.h"
#include "plan/software.h"
#include "schedule/linear_order.h"
#include "schedule/schedule.h"

namespace orrery {

enum class ShardMove { each_pass, each_turn, each_step };
struct ShardMoves {
  ShardMove weights = ShardMove::each_pass;    // under ZeRO 3
  ShardMove gradients = ShardMove::each_pass;  // under ZeRO 2 and 3
};

ShardMoves shard_moves(const Plan& plan, const SoftwareProfile& software);

// What an operation is to the chunk it works on. Of a pair of passes the first two are said of the
// forward, the others of the backward.
struct ChunkUse {
  bool opens = false;       // the first forward of the step
  bool turns_to = false;    // the forward before on this device was of another chunk
  bool turns_back = false;  // the backward before was
  bool turns_away = false;  // its gradients are whole, and the next are of another chunk
  bool closes = false;      // the last gradients of the step
  Partner partner = Partner::other_microbatch;  // in schedules of forwards and whole backwards
};

// Of each operation of `order`. Linear.
std::vector<ChunkUse> chunk_uses(const Pipeline& pipeline, std::span<const DeviceOperation> order);

// At least so often in a step a device turns to each of its chunks.
int fewest_turns(const Schedule& schedule, const ScheduleRequest& request);

// Whether a pass of a chunk gathers its weights, and whether it reduces its gradients, beside what
// follows or before it.
enum class Reduce { none, beside, blocking };
bool gathers_weights(const Plan& plan, const ShardMoves& moves, Pass direction,
                     const ChunkUse& use);
Reduce reduces_gradients(const Plan& plan, const ShardMoves& moves, Pass direction,
                         const ChunkUse& use);

}  // namespace orrery
