// The graph of a recorded run, in a form that can be edited: what ran where, for how long, and what
// it had to wait for.
//
// Nodes lie on in-order lanes (a thread of a process, a stream of a device) or on none (latencies,
// rendezvous). The graph consists of durations, the order on each lane, and edges. No node knows
// when it ran in the recording, so all times in `replayed_run` follow from these alone.
//
//   host        a thread runs, or is idle between two operators, up to the next boundary of its
//               recording (start or end of an operator, annotation or call)
//   call        a call of the runtime, without the time it waited for the device. A launch call
//               whose work starts before it returns is two nodes: until the launch, and after it
//   latency     from a launch call to its work, from an event to the stream that waited for it,
//               from a thread to the one it woke; on no lane
//   dispatch    what a device takes between two pieces of work of a stream that are both ready
//   work        a kernel, copy or fill
//   arrival     a rank is ready for a communication; no time
//   rendezvous  all its ranks are ready; no time, on no lane
//   transfer    a communication from the rendezvous on (trace/collective_instances.h)
//
// A what-if changes durations (`nodes`), order (`lanes`) or dependencies (`edges`); nodes that are
// in no lane and no edge have no effect.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "outcome/enum_names.h"
#include "simulate/simulate.h"
#include "timeline/critical_path.h"
#include "trace/recorded_trace.h"

namespace orrery {

enum class RunNodeKind : std::uint8_t {
  host,
  call,
  latency,
  dispatch,
  work,
  arrival,
  rendezvous,
  transfer
};

inline constexpr std::uint32_t kNoLane = 0xffffffff;

struct RunNode {
  RunNodeKind kind = RunNodeKind::host;
  std::uint32_t trace = 0;         // of the run
  std::uint32_t event = kNoEvent;  // of that trace: the work, the call, the innermost operator
  std::uint32_t lane = kNoLane;    // into RunGraph::lanes
  std::int64_t duration_ns = 0;
};

struct RunLane {
  std::uint32_t trace = 0;
  std::uint32_t lane = 0;  // into the trace's lanes
  bool device = false;
  std::vector<std::uint32_t> nodes;  // in order
};

// `to` starts no earlier than `from` ends.
struct RunEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
  bool across_streams = false;  // one stream of a device waits for another
};

// An interval of a rank's recording: from the end of one node to the end of another. kNoEvent as
// `from`: from the start of the run.
struct RunStep {
  std::uint32_t trace = 0;
  std::string name;  // "ProfilerStep#4"; "recording" where no steps are marked
  std::uint32_t from = kNoEvent;
  std::uint32_t to = kNoEvent;
  std::int64_t start_ns = 0;  // recorded, on the trace's own clock
  std::int64_t end_ns = 0;
  std::uint32_t stage = 0;  // of a pipeline that an edit made of the rank
};

// Device work of the recording and the nodes it became: a communication arrives with `first` and
// ends with `last`, everything else is one node.
struct RunWork {
  std::uint32_t trace = 0;
  std::uint32_t event = 0;
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::uint32_t stage = 0;  // as of RunStep
};

struct RunGraph {
  std::vector<RunNode> nodes;
  std::vector<RunLane> lanes;
  std::vector<RunEdge> edges;
  std::vector<RunStep> steps;  // by trace, then by start
  std::vector<RunWork> works;  // by trace, then by stream and start
  // By trace: what to add to the device's clock so that it agrees with the host's
  // (replay/device_work.h); empty: nothing.
  std::vector<std::int64_t> device_clock_ns;

  [[nodiscard]] std::int64_t device_clock(std::uint32_t trace) const {
    return trace < device_clock_ns.size() ? device_clock_ns[trace] : 0;
  }
  // Of every node the work that it is part of, or kNoEvent.
  [[nodiscard]] std::vector<std::uint32_t> works_of_nodes() const;

  std::uint32_t add(const RunNode& node) {
    nodes.push_back(node);
    const auto index = static_cast<std::uint32_t>(nodes.size() - 1);
    if (node.lane != kNoLane) lanes[node.lane].nodes.push_back(index);
    return index;
  }
};

// When every node ran. `dropped_edges` would have closed a cycle, which only contradictory
// recordings have.
struct ReplayedRun {
  std::vector<std::int64_t> start_ns;  // of every node of the RunGraph, from the start of the run
  std::vector<std::int64_t> end_ns;
  std::size_t dropped_edges = 0;
};

// The graph in the simulator's form: its node i is node `order[i]` of the run graph. Linear.
struct LoweredRun {
  Graph graph;
  std::vector<std::uint32_t> order;
  std::size_t dropped_edges = 0;
};
LoweredRun lowered_run(const RunGraph& run);

// Start and end of every node, by simulate/simulate.h. Deterministic; linear.
ReplayedRun replayed_run(const RunGraph& run);

// By nodes of the run graph. Among what ended together, the order on a lane comes before edges.
CriticalChains critical_chains(const RunGraph& run, const ReplayedRun& replayed);

}  // namespace orrery
