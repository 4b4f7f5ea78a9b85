// Chakra traces of one or more ranks as one execution graph.
//
// A node of the graph is a node of a trace, or a collective of several ranks: one rendezvous, which
// nobody leaves before the last has come (trace/chakra/chakra_meetings.h). A send takes the time of
// the transfer and waits for no receiver; its receive ends when the send has ended. A node waits
// for the data and control dependencies of its nodes, and for the lanes it occupies, one in each
// rank:
//
//   host            of the thread `tid`
//   device          of the stream `stream`; without one, computing on one lane and communication on
//                   another, one operation at a time, as ASTRA-sim has it
//   none            receives without a stream, metadata, copies from and to remote memory
//
// A lane serves in the order in which its operations could start if no lane were ever busy, lower
// identifiers first among equals: their order in time where a trace holds all dependencies.
//
// Durations are the recorded ones; of a communication the shortest of its ranks, since the others
// contain waiting (trace/collective_instances.h); "Not recorded" is a duration of 0 in a trace
// without start times. With prices, all communication is priced, and computing that has no
// duration.
//
// Two initial conditions are recorded start times, where a trace has them: operators of the host
// that wait for nothing, and receives whose sender was not given.
//
// Source: astra-sim, Workload.cc and HardwareResource.cc. Not modelled: ASTRA-sim's single lane for
// all threads of a host, queues of several collectives on one network. O(n log n).
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "outcome/result.h"
#include "timeline/timeline_span.h"
#include "trace/chakra/chakra_check.h"
#include "trace/chakra/chakra_meetings.h"

namespace orrery {

class ChakraPrices;  // replay/chakra_prices.h

inline constexpr std::uint32_t kNoMembers = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint32_t kNoStream = std::numeric_limits<std::uint32_t>::max();

struct ChakraGraph {
  Graph graph;  // instance: into `members_of`; kNoMembers where time passes before the first
  // The trace nodes that a node of the graph stands for, and the stream each occupies or kNoStream.
  struct Member {
    ChakraMember node;
    std::uint32_t stream = kNoStream;
  };
  std::vector<Member> members;
  std::vector<std::uint32_t> offsets = {0};  // by instance, into `members`
  std::vector<std::string> streams;          // "compute", "stream 7", of each stream of the graph

  std::size_t rendezvous = 0;          // communications of two or more ranks that were given
  std::size_t alone = 0;               // of which no other rank was given
  std::size_t priced = 0;              // nodes with a duration of the cost model
  std::size_t without_duration = 0;    // computing that takes no time: none is known
  std::vector<std::string> undefined;  // ChakraMeetings

  [[nodiscard]] std::span<const Member> members_of(NodeIndex n) const {
    const std::uint32_t p = graph.instance(n);
    if (p == kNoMembers) return {};
    return std::span(members).subspan(offsets[p], offsets[p + 1] - offsets[p]);
  }
};

struct ChakraGraphOptions {
  AbsentDependencies absent = AbsentDependencies::report;
  ControlDependencies control = ControlDependencies::heed;
  ChakraPrices* prices = nullptr;
};

// Errors: as chakra_order and chakra_meetings; ranks that wait for each other in a circle; a
// communication without a duration where there are no prices; times beyond the simulator's clock.
Result<ChakraGraph> chakra_graph(const ChakraRun& run, const ChakraGraphOptions& options = {});

// The send that a receive waits for, whose time is the receive's; every other node itself.
NodeIndex transfer_of(const Graph& graph, NodeIndex n);

// What simulating it gives, for viewers: operations that take time, by rank, stream and start.
std::vector<TimelineSpan> chakra_spans(const ChakraRun& run, const ChakraGraph& graph);

}  // namespace orrery
