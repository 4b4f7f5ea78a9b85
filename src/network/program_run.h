// The time of a program on a network, by flows: every send is a flow that begins when its round does,
// takes the latency of its path, and then shares links with all others (network/max_min.h). A round
// ends with its last flow.
//
// Several groups may run the same program side by side, with `placements[g][r]` the accelerator of
// rank r of group g; their rounds begin together. A program whose rounds follow one another is
// simulated once for each different round, and multiplied by its repetitions; sends of a repeated
// round take the mean of their latencies, because a part passes all of them in turn. Where rounds run
// side by side, all repetitions of one are simulated as one longer flow for each send.
//
// Left out: the work of reductions; rounds of a group that get ahead of the same round of others.
#pragma once

#include <span>
#include <vector>

#include "network/network.h"
#include "network/program.h"

namespace orrery {

struct ProgramRun {
  Seconds time;
  std::vector<Bytes> on_links;  // by link of the network
  std::uint64_t flows = 0;      // that were simulated
};

// Uses of a flow between two vertices, an accelerator and its scale-up switch among them. A spread
// flow uses the first link of each bundle on its way, with its share of one link. Flows that
// are alike in ends take the same path for the same `number`. `loads` are those of planned flows
// before, by link, in use of their capacity; it may be empty for other routings.
void route(const Network& network, std::uint32_t from, std::uint32_t to, Routing routing,
           std::uint64_t number, std::vector<double>& loads, std::vector<struct ResourceUse>& uses,
           Seconds& latency);

// `streams`: connections between two accelerators, each with its part of every send and, where paths
// are hashed, with one of its own; spread and planned flows gain nothing by more. Errors: more flows at
// once than kMostFlows, of all rounds that run side by side; a program with switches on a network that
// has none.
inline constexpr std::size_t kMostFlows = 8'000'000;
Result<ProgramRun> run(const Program& program, Bytes payload, const Network& network,
                       std::span<const std::vector<std::uint32_t>> placements, Routing routing,
                       std::uint32_t streams = 1);

}  // namespace orrery
