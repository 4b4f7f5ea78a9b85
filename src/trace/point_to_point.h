// The messages of two ranks that a communication kernel carries.
//
// A lone send or receive is one kernel, and its arguments name the other rank. Sends and receives
// that are issued together (batch_isend_irecv of a pipeline, an all-to-all written as sends and
// receives) become one kernel when the batch ends: it has no arguments, or those of the last. What
// it carries are then all sends and receives that its thread issued since it last launched a
// communication (`record_param_comms`, which the profiler writes for each).
//
// Source: PyTorch's ProcessGroupNCCL (batches are launched when they end) and its profiler
// ("Src Rank" and "Dst Rank" are ranks of the job). Not modelled: recordings without these
// operators or their arguments (before 2024); one batch that becomes several kernels, of which the
// first carries all. O(events log events), thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/recorded_trace.h"

namespace orrery {

struct PointToPointMessage {
  enum class Direction : std::uint8_t { send, receive };
  std::uint32_t kernel = 0;  // event
  Direction direction = Direction::send;
  std::int64_t peer = 0;            // rank of the job
  std::uint32_t communication = 0;  // into the communications of the trace: group and volume
};

// By kernel, in the order of issue. None of a trace without rank, nor where the peer is not known.
std::vector<PointToPointMessage> point_to_point_messages(const RecordedTrace& trace);

}  // namespace orrery
