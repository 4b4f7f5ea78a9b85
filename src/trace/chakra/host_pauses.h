// What a host spends outside operators, and what it only waits: for simulators that replay a trace.
//
// A Chakra trace chains the operators of a thread by their own times. Two things make such a chain
// longer or shorter than the thread was:
//
//   pauses     the program's own time between two operators of a thread, before an operator:
//              start - max(end of the operators before, end of the awaited work, end of the
//              operator of another thread that its group comes after), not below 0
//   waiting    what an operator only waits, which the dependencies say once more: for a device in a
//              blocking call, min(end of the work, end of the call) - start of the call; and for
//              another thread, from the end of the operator before to the end of the other's that
//              its group comes after (backward passes run on a thread of their own)
//
// ProfilerStep#N encloses all others and counts as no operator. Source: host_order.h and
// synchronization_edges.h. Times in nanoseconds. O(n log n).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/chakra/host_order.h"
#include "trace/chakra/synchronization_edges.h"
#include "trace/recorded_trace.h"

namespace orrery {

struct HostPauses {
  std::vector<std::int64_t> before_ns;   // of each event: the pause before it
  std::vector<std::int64_t> waiting_ns;  // of each event: of its own time, only waiting
};

// `edges` are those that are written.
HostPauses host_pauses(const RecordedTrace& recorded, const HostOrder& order,
                       std::span<const SynchronizationEdge> edges);

}  // namespace orrery
