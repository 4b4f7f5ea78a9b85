// How the threads of a host follow each other: own times of operators, and what a thread waits for.
//
// The own time of an operator is its duration less the union of the later operators of its thread
// that lie inside it. An operator that begins its thread, or begins more than a millisecond after
// the one before it ended, begins a group; every operator of the group comes after the operator of
// another thread that started last before the group did.
//
// Source: chakra_trace_link of mlcommons/chakra; measured against the golden conversion of
// validation/traces/megatron-lm-fork, which it reproduces. O(n log n).
#pragma once

#include <cstdint>
#include <vector>

#include "trace/recorded_trace.h"

namespace orrery {

struct HostOrder {
  std::vector<std::int64_t> own_ns;        // of each event; 0 for what is no operator
  std::vector<std::uint32_t> after_event;  // of another thread; kNoDetails
};

// ProfilerStep#N is no operator here: it encloses all others.
HostOrder host_order(const RecordedTrace& recorded);

}  // namespace orrery
