// One collective on one cluster by every algorithm and at three fidelities:
//
//   closed form   cost/collective: t = latency + bytes / rate by level; for the algorithms that it
//                 has
//   flows         the program of the algorithm on the network's graph, each flow spread over all of
//                 its paths
//   hashed        the same with one path per flow, chosen by a hash (ECMP)
//   planned       the same with paths that avoid each other (C4)
//
// All take the same constants: links of the graph are those of the levels as the communication
// library reaches them with the protocol it would choose (`library_levels`), and what the closed
// form adds to the carrying of bytes (`off_links`) is added to the flows, which then have no
// latency of their own. So they differ in who shares which link. Where sites differ, each has its
// own links and rates; the library chooses, and the closed form is, as in the site where it takes
// longest. Algorithms without a closed form take the latency of a ring's step for every send.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "cost/collective/collective.h"
#include "cost/collective/collective_parameters.h"
#include "cost/collective/communication_path.h"
#include "network/algorithms.h"
#include "network/network.h"

namespace orrery {

// Levels whose latency is that of a ring's step, or none, and whose efficiency is what the
// library's rings, trees, reduction in switches or direct exchange make of it on this path with
// this protocol; and, where a level states its transport, what that leaves if all accelerators
// cross at once and as many of them send to one as the algorithm has it.
enum class StepLatency : std::uint8_t { of_ring, none };
std::vector<FabricLevel> library_levels(std::vector<FabricLevel> levels,
                                        const CollectiveParameters& parameters, CollectiveKind kind,
                                        ProgramAlgorithm algorithm, Protocol protocol,
                                        StepLatency latency, const CommunicationPath& path);

// The first `ranks` accelerators as programs see them: one entry for each level that joins more of
// them than the level inside. Errors: they do not fill the units of a level evenly.
Result<ProgramShape> shape_of_first(std::uint32_t ranks, std::span<const FabricLevel> levels);

// A group across sites that differ, with so many of its ranks in each: as all of them see it, or by
// the largest units that fill the nodes of each. In a site without a network of its own each
// accelerator has a part of the link, so that as many as possible must send: beside one, by the
// largest units that fill each site.
GroupShape across_sites(std::span<const GroupShape> seen, std::span<const std::int64_t> of_sites);

// Ranks that are simulated at most.
inline constexpr std::int64_t kMostSimulatedRanks = 8192;
// With more ranks, only the all-to-all by level is simulated: the others have a flow for each pair.
inline constexpr std::int64_t kMostExchangeRanks = 64;

// The algorithms of the cost model as programs.
ProgramAlgorithm program_algorithm(CollectiveAlgorithm algorithm);

// What the cost model's algorithm takes; none: it has none, or does not offer the collective.
std::optional<Seconds> closed_form(ProgramAlgorithm algorithm, CollectiveKind kind, Bytes payload,
                                   const CommunicationPath& path, Protocol protocol,
                                   const CollectiveParameters& parameters);

// What of the closed form is not the carrying of bytes over links: what it takes however few there
// are, 2 t(n) - t(2 n), and the copy of the rank's own part. None where there is no closed form.
std::optional<Seconds> off_links(ProgramAlgorithm algorithm, CollectiveKind kind, Bytes payload,
                                 const CommunicationPath& path, Protocol protocol,
                                 const CollectiveParameters& parameters);

struct AlgorithmTimes {
  ProgramAlgorithm algorithm = ProgramAlgorithm::ring;
  std::optional<Seconds> closed_form;
  Seconds flows, hashed, planned;
  std::string busiest;       // level whose link has most to carry, with spread flows
  double busiest_share = 0;  // of the time in which that link is busy
};

struct CollectiveComparison {
  std::string cluster;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::int64_t ranks = 0;
  Bytes payload;
  double bus_factor = 1;  // bus bandwidth = factor x payload / time
  CollectiveChoice library;
  // The algorithm that the library chooses; for an all-to-all `direct` or `pxn`. It need not be
  // among `algorithms`.
  ProgramAlgorithm library_algorithm = ProgramAlgorithm::ring;
  std::vector<AlgorithmTimes> algorithms;  // the fastest by flows first
};

// The difference beyond which the closed form and the flows are said to disagree.
inline constexpr double kAgree = 0.1;

struct CollectiveQuestion {
  CollectiveKind kind = CollectiveKind::all_reduce;
  Bytes payload;
  std::int64_t ranks = 0;                // 0: those of the program, else all accelerators
  std::optional<ProgramAlgorithm> only;  // empty: every algorithm that offers the collective
  std::optional<Program> imported;       // beside it or them, as `imported`
  std::uint32_t streams = 1;             // of two accelerators, each hashed to a path of its own
};

// `progress` is told the share that is done. Errors: more ranks than there are or than are
// simulated; ranks that do not fill the units of a level evenly; an algorithm that does not offer
// the collective, or `imported` without a program; a program of another collective or number of
// ranks; too many flows at once.
Result<CollectiveComparison> compare_collective(const Cluster& cluster, const Catalog& catalog,
                                                const CollectiveQuestion& question,
                                                const std::function<void(double)>& progress = {});

}  // namespace orrery
