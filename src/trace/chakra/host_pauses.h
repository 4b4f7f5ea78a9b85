// What a host spends outside operators, and what it only waits: for simulators that replay a trace.
//
// A Chakra trace chains the operators of a thread in the order of their starts, each with one time.
// So that every operator of the chain begins when it did,
//
//   spent      is the time from its start to its end or to the start of the next operator of its
//              thread, which may lie inside it: what it does before it calls another one; less what
//              it only waits there, which the dependencies say once more. Work that it launched may
//              have run beside it, as a copy does beside the call that feeds it: from 20 us before
//              its end on, the rest is a pause, so that the work need not wait for it
//   before     is the pause before an operator, in which the program or an enclosing operator was
//              busy: start - max(end of the time of the operator before, end of the awaited work,
//              end of the operator of another thread that its group comes after), not below 0.
//              Pauses of less than 5 us inside an operator are time of the operator before
//   waiting    for a device in a blocking call is min(end of the work, end of the call) - start of
//              the call, where the work ends as device_order.h has it
//
// ProfilerStep#N encloses all others and counts as no operator. Source: host_order.h and
// synchronization_edges.h. Times in nanoseconds. O(n log n).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/chakra/device_order.h"
#include "trace/chakra/host_order.h"
#include "trace/chakra/synchronization_edges.h"
#include "trace/recorded_trace.h"

namespace orrery {

struct HostPauses {
  // Of each event; 0 of what is no operator.
  std::vector<std::int64_t> before_ns;
  std::vector<std::int64_t> spent_ns;
};

// `edges` are those that are written.
HostPauses host_pauses(const RecordedTrace& recorded, const HostOrder& order,
                       const DeviceOrder& devices, std::span<const SynchronizationEdge> edges);

}  // namespace orrery
