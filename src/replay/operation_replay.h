// Replays a job's operation timeline as recorded, without launch delays, and without stragglers,
// and says which ranks, stages and types of operation make the difference.
//
//   duration      of a pass, gc, optimizer: end - start
//   transfer      of a communication: end - latest start among its participants; -10 ms and less,
//                 which result from clocks that disagree, count as 0
//   launch delay  start - latest end of what it waits for; of what waits for nothing - step's start
//
//   base          durations, transfers and launch delays as recorded
//   no delay      launch delays 0
//   ideal         launch delays 0; every duration the mean of its type, every transfer the
//                 median of its type, over all steps, data-parallel ranks and stages
//
//   slowdown         = mean(no delay) / mean(ideal)
//   launch slowdown  = mean(base) / mean(no delay)
//   slowdown of x    = mean(no delay where x alone is as recorded, all else ideal) / mean(ideal)
//
// for x a data-parallel rank, a stage, a worker (both), or a type of operation.
//
// Source: as replay/operation_graph.h. Steps that lack an operation are left out and counted.
// O(steps x operations x parts).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "outcome/result.h"
#include "replay/operation_graph.h"

namespace orrery {

// One step as recorded. By rank * slots + slot, in whole picoseconds.
struct OperationStep {
  std::int32_t step = 0;
  double recorded = 0;           // from the first start to the last end
  std::vector<double> duration;  // of a communication its transfer
  std::vector<double> delay;     // before it started
};
// The steps that have all operations of the first.
std::vector<OperationStep> recorded_operations(const OperationTimeline& timeline,
                                               const OperationGraph& graph);

struct ReplayedOperationStep {
  std::int32_t step = 0;
  Seconds recorded;  // from the first start to the last end
  Seconds base;
  Seconds no_delay;
  Seconds ideal;
};

// The slowdown caused by one part of the job with all else ideal; 1: none.
struct PartSlowdown {
  std::string part;  // "1", "rank 0, stage 3", "forward-compute", "forward-pp-comm"
  double slowdown = 1;
};

struct OperationReplay {
  std::vector<ReplayedOperationStep> steps;  // ascending
  double slowdown = 1;
  double launch_slowdown = 1;
  std::vector<PartSlowdown> by_data_parallel_rank;  // worst first, here and below
  std::vector<PartSlowdown> by_stage;
  std::vector<PartSlowdown> by_worker;
  std::vector<PartSlowdown> by_type;
  std::size_t incomplete_steps = 0;
  std::size_t negative_durations = 0;  // of the timeline
};

Result<OperationReplay> replay_operations(const OperationTimeline& timeline);

}  // namespace orrery
