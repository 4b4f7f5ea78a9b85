// What the threads of an edited run did: every operator and call once, from its first piece to its
// last.
//
// In a graph the host's time lies in pieces, each of the innermost operator
// (replay/host_segments.h). An operator's span covers its own pieces and those of what it called,
// by the nesting of the recording; what was removed or takes no time is not there, though what
// surrounds something that still takes time is. Edits may repeat pieces (layers, microbatches): an
// operator begins anew where its first child follows a later one of its children, or a second work
// is launched by one call. Where what repeats is a single piece without children, copies next to
// each other are one. O(events + nodes x depth).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replay/run_graph.h"
#include "trace/recorded_trace.h"

namespace orrery {

struct HostSpan {
  std::uint32_t event = 0;        // of the trace: an operator or a call
  std::uint32_t lane = 0;         // into RunGraph::lanes
  std::uint32_t work = kNoEvent;  // into RunGraph::works: what a call launched
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
};

// By lane, enclosing before enclosed. `launched`: of every node the work it launched, or kNoEvent.
std::vector<HostSpan> host_spans(std::span<const RecordedTrace> traces, const RunGraph& graph,
                                 const ReplayedRun& times,
                                 const std::vector<std::uint32_t>& launched);

}  // namespace orrery
