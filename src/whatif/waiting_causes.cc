#include "whatif/waiting_causes.h"

#include <algorithm>
#include <map>

#include "trace/recorded_time.h"

namespace orrery {
namespace {

// Communications that meet in one rendezvous.
struct Meeting {
  std::vector<std::uint32_t> arrived;  // works
  std::vector<std::uint32_t> waiting;  // works, of these; a buffered send waits for nobody
};

}  // namespace

std::vector<RankWaiting> waiting_causes(const RunGraph& graph, const ReplayedRun& times,
                                        std::size_t traces) {
  std::vector<std::uint32_t> arrives(graph.nodes.size(), kNoEvent);  // works, by their first node
  std::vector<std::uint32_t> leaves(graph.nodes.size(), kNoEvent);
  for (std::uint32_t w = 0; w < graph.works.size(); ++w) {
    if (graph.works[w].first == graph.works[w].last) continue;
    arrives[graph.works[w].first] = w;
    leaves[graph.works[w].last] = w;
  }
  std::map<std::uint32_t, Meeting> meetings;
  for (const RunEdge& edge : graph.edges) {
    if (graph.nodes[edge.to].kind == RunNodeKind::rendezvous && arrives[edge.from] != kNoEvent) {
      meetings[edge.to].arrived.push_back(arrives[edge.from]);
    } else if (graph.nodes[edge.from].kind == RunNodeKind::rendezvous &&
               leaves[edge.to] != kNoEvent) {
      meetings[edge.from].waiting.push_back(leaves[edge.to]);
    }
  }
  const auto arrival_ns = [&](std::uint32_t w) { return times.end_ns[graph.works[w].first]; };
  std::vector<RankWaiting> out(traces);
  for (const auto& [rendezvous, meeting] : meetings) {
    if (meeting.arrived.size() < 2) continue;
    const std::uint32_t last =
        *std::ranges::max_element(meeting.arrived, [&](std::uint32_t a, std::uint32_t b) {
          if (arrival_ns(a) != arrival_ns(b)) return arrival_ns(a) < arrival_ns(b);
          return graph.works[a].trace > graph.works[b].trace;
        });
    const std::uint32_t by = graph.works[last].trace;
    ++out[by].arrived_last;
    for (const std::uint32_t w : meeting.waiting) {
      const std::int64_t ns = std::max<std::int64_t>(0, arrival_ns(last) - arrival_ns(w));
      const Seconds waited = seconds_of_ns(ns);
      out[graph.works[w].trace].waited += waited;
      out[by].caused += waited;
    }
  }
  return out;
}

}  // namespace orrery
