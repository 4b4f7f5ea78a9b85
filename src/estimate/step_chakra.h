// The step of an estimate as Chakra execution traces, one for each rank of the job.
//
// The expanded graph has one rank class a pipeline device; a rank has the nodes of its device, and
// its own groups and peers:
//
//   kernels, copies, barriers   COMP with their simulated time
//   collectives                 COMM_COLL in the group of their mesh axis (StepGroup of
//                               lower/rank_layout.h), under a number unique over the job
//                               (trace/chakra/communicators.h), axis by axis
//   transfers between stages    COMM_SEND on the sender; on the receiver a COMM_RECV before what
//                               waits for it; both with the number of the transfer as comm_tag
//   order of a stream           data dependencies, since ASTRA-sim has no streams; `stream` says
//                               which (lower/step_stream.h), -1 none
//
// The metadata say that the start times are simulated (ChakraTrace::has_simulated_times).
//
// Ranks are laid out in the plan's placement order (lower/rank_layout.h). Start and end are rounded
// to microseconds apart, so that durations do not drift.
//
// Collectives and bytes are those of the graph's operations (graph/operation.h). An operation that
// is several communications, such as gradients of dense and of expert parameters, is as many
// COMM_COLL nodes, one after another. Sizes are those the rank puts in: of an all-gather the shard.
//
// Whatever else a device waits for on another is a transfer that takes no time: under blocking
// sends the passes, whose sending and receiving hold the computing streams as COMP nodes. Replaying
// the files of all ranks gives the step's time to the microsecond. O(nodes) a rank.
#pragma once

#include <cstdint>
#include <memory>

#include "estimate/predicted_step.h"
#include "trace/chakra/chakra_trace.h"
#include "trace/chakra/communicators.h"

namespace orrery {

class StepChakra {
 public:
  // `expanded` is the graph of `step`; both must outlive it.
  StepChakra(const PredictedStep& step, const SimulatedStep& expanded);

  StepChakra(StepChakra&&) noexcept;
  StepChakra& operator=(StepChakra&&) noexcept;
  StepChakra(const StepChakra&) = delete;
  StepChakra& operator=(const StepChakra&) = delete;
  ~StepChakra();

  [[nodiscard]] std::int64_t ranks() const;
  // The groups that anything communicates in.
  [[nodiscard]] const Communicators& communicators() const;
  // About how many nodes the trace of a rank has.
  [[nodiscard]] std::size_t nodes_of_a_rank() const;
  // 0 <= rank < ranks().
  [[nodiscard]] ChakraTrace trace(std::int64_t rank);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace orrery
