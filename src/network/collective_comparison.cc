#include "network/collective_comparison.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "cost/collective/all_to_all.h"
#include "cost/collective/hierarchical.h"
#include "cost/collective/in_switch.h"
#include "cost/collective/parallel_trees.h"
#include "cost/collective/point_to_point.h"
#include "cost/collective/ring.h"
#include "cost/collective/tree.h"
#include "network/program_run.h"
#include "network/synthesis.h"

namespace orrery {
namespace {

double bus_factor(CollectiveKind kind, double ranks) {
  switch (kind) {
    case CollectiveKind::all_reduce:
      return 2 * (ranks - 1) / ranks;
    case CollectiveKind::broadcast:
      return 1;
    default:
      return (ranks - 1) / ranks;
  }
}

// Ranks of other nodes that send to one rank at once.
double senders_at_once(ProgramAlgorithm algorithm, CollectiveKind kind,
                       const CommunicationPath& path) {
  const double node_ranks = path.node_ranks;
  if (kind != CollectiveKind::all_to_all) return 1;
  if (algorithm == ProgramAlgorithm::direct) return path.ranks - node_ranks;
  return algorithm == ProgramAlgorithm::pairwise ? 1 : path.ranks / node_ranks - 1;
}

// What the protocol and the algorithm leave of the rate of every link.
double library_share(ProgramAlgorithm algorithm, Protocol protocol, int nodes,
                     const CollectiveParameters& parameters) {
  switch (algorithm) {
    case ProgramAlgorithm::tree:
    case ProgramAlgorithm::double_tree:
      return tree_protocol_share(protocol, nodes);
    case ProgramAlgorithm::parallel_trees:
      return parameters.parallel_trees.share;
    default:
      break;
  }
  return protocol == Protocol::low_latency       ? parameters.low_latency_share
         : protocol == Protocol::low_latency_128 ? parameters.low_latency_128_share
                                                 : 1;
}

}  // namespace

std::optional<Seconds> closed_form(ProgramAlgorithm algorithm, CollectiveKind kind, Bytes payload,
                                   const CommunicationPath& path, Protocol protocol,
                                   const CollectiveParameters& parameters) {
  const auto time = [&]() -> std::optional<Seconds> {
    switch (algorithm) {
      case ProgramAlgorithm::ring:
        return ring_time(kind, payload, path, protocol, parameters);
      case ProgramAlgorithm::double_tree:
        return tree_time(kind, payload, path, protocol, parameters);
      case ProgramAlgorithm::hierarchical:
        if (kind == CollectiveKind::all_to_all) return std::nullopt;
        return hierarchical_time(kind, payload, path, protocol, parameters,
                                 {.phases = Phases::pipelined});
      case ProgramAlgorithm::in_switch:
        return in_switch_time(kind, payload, path, Protocol::simple, parameters);
      case ProgramAlgorithm::parallel_trees:
        return parallel_trees_time(kind, payload, path, Protocol::simple, parameters);
      case ProgramAlgorithm::direct:
        return all_to_all_times(kind, payload, path, protocol, parameters).direct;
      case ProgramAlgorithm::pxn:
        return all_to_all_times(kind, payload, path, protocol, parameters).aggregated;
      default:
        return std::nullopt;
    }
  }();
  return time && time->value() < 1e9 ? time : std::nullopt;
}

std::optional<Seconds> off_links(ProgramAlgorithm algorithm, CollectiveKind kind, Bytes payload,
                                 const CommunicationPath& path, Protocol protocol,
                                 const CollectiveParameters& parameters) {
  const auto once = closed_form(algorithm, kind, payload, path, protocol, parameters);
  const auto twice = closed_form(algorithm, kind, payload * 2, path, protocol, parameters);
  if (!once || !twice) return std::nullopt;
  Seconds out = std::max(Seconds(0), *once * 2.0 - *twice);
  const bool copies = algorithm == ProgramAlgorithm::ring ||
                      algorithm == ProgramAlgorithm::parallel_trees ||
                      algorithm == ProgramAlgorithm::direct || algorithm == ProgramAlgorithm::pxn;
  if (copies && kind != CollectiveKind::broadcast && parameters.local_copy > BytesPerSecond(0)) {
    out += payload / static_cast<double>(path.ranks) / parameters.local_copy;
  }
  return out;
}

std::vector<FabricLevel> library_levels(std::vector<FabricLevel> levels,
                                        const CollectiveParameters& parameters, CollectiveKind kind,
                                        ProgramAlgorithm algorithm, Protocol protocol,
                                        StepLatency latency, const CommunicationPath& path) {
  const double share = library_share(algorithm, protocol, path.nodes, parameters);
  const double senders = senders_at_once(algorithm, kind, path);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    Crossing crossing;
    crossing.link = link_kind(levels[l], l);
    crossing.latency = levels[l].latency;
    if (levels[l].transport) {
      const Delivery delivered = delivery(levels[l], 1, senders);
      levels[l].transport.reset();
      levels[l].efficiency *= delivered.rate / delivery(levels[l]).rate;
      crossing.latency += delivered.repeats;
    }
    levels[l].latency = latency == StepLatency::none
                            ? Seconds(0)
                            : step_latency(parameters.ring, crossing, protocol);
    const bool network = crossing.link == LinkKind::network;
    if (kind == CollectiveKind::all_to_all) {
      crossing.rate = levels[l].bandwidth * levels[l].efficiency;
      levels[l].efficiency = pairwise_rate(crossing, protocol, parameters) / levels[l].bandwidth;
    } else {
      levels[l].efficiency *= share * (network ? 1 : parameters.ring_share);
      if (algorithm == ProgramAlgorithm::in_switch && !network) {
        levels[l].efficiency *= parameters.in_switch.efficiency;
      }
    }
  }
  return levels;
}

Result<ProgramShape> shape_of_first(std::uint32_t ranks, std::span<const FabricLevel> levels) {
  ProgramShape out;
  std::uint32_t inside = 1;
  const auto fills = [&](std::uint32_t size) -> Result<void> {
    if (size % inside == 0) return {};
    return bad_input(std::to_string(ranks) + " ranks leave a unit of " + std::to_string(inside) +
                         " accelerators partly empty",
                     "ranks", "a multiple of " + std::to_string(inside));
  };
  for (const FabricLevel& level : levels) {
    const auto here = static_cast<std::uint32_t>(std::min<std::int64_t>(ranks, level.accelerators));
    if (here == inside && &level != &levels.front()) continue;
    ORRERY_RETURN_IF_ERROR(fills(here));
    out.members.push_back(here);
    inside = here;
  }
  ORRERY_RETURN_IF_ERROR(fills(ranks));
  return out;
}

ProgramAlgorithm program_algorithm(CollectiveAlgorithm algorithm) {
  switch (algorithm) {
    case CollectiveAlgorithm::ring:
      return ProgramAlgorithm::ring;
    case CollectiveAlgorithm::tree:
      return ProgramAlgorithm::double_tree;
    case CollectiveAlgorithm::hierarchical:
      return ProgramAlgorithm::hierarchical;
    case CollectiveAlgorithm::in_switch:
      return ProgramAlgorithm::in_switch;
    case CollectiveAlgorithm::parallel_trees:
      return ProgramAlgorithm::parallel_trees;
    case CollectiveAlgorithm::pairwise:
      break;
  }
  return ProgramAlgorithm::direct;
}

GroupShape across_sites(std::span<const GroupShape> seen, std::span<const std::int64_t> of_sites) {
  const bool alike = std::ranges::all_of(
      seen, [&](const GroupShape& s) { return s.members == seen.front().members; });
  if (alike) return seen.front();
  const bool all_have_networks =
      std::ranges::all_of(seen, [](const GroupShape& s) { return s.members.size() > 2; });
  std::int64_t unit = 0;
  for (std::size_t s = 0; s < seen.size(); ++s) {
    unit = std::gcd(unit, of_sites[s]);
    if (all_have_networks) unit = std::gcd(unit, seen[s].members.front());
  }
  return {.size = seen.front().size, .members = {static_cast<int>(unit), seen.front().size}};
}

namespace {

// A group of the first ranks as one of the sites sees it.
struct SeenFrom {
  std::size_t site = 0;
  CollectiveParameters parameters;
  GroupShape group;
  CommunicationPath path;
  CollectiveChoice library;
};

// From each site that has some of the ranks.
Result<std::vector<SeenFrom>> seen_from_sites(const Cluster& cluster, const Catalog& catalog,
                                              const CollectiveQuestion& question,
                                              std::int64_t ranks) {
  const bool differ = site_count(cluster) > 1;
  const std::int64_t in_first = accelerators_of(cluster, 0);
  if (ranks > in_first && ranks < cluster.accelerators) {
    return bad_input(std::to_string(ranks) + " ranks fill a part of the sites of " + cluster.name,
                     "ranks",
                     "all " + std::to_string(cluster.accelerators) + ", or at most " +
                         std::to_string(in_first) + ", which the first site has");
  }
  std::vector<SeenFrom> out;
  for (std::size_t s = 0; s < (ranks > in_first ? site_count(cluster) : 1); ++s) {
    const Cluster view = differ ? at_site(cluster, s) : cluster;
    const std::vector<FabricLevel>& levels = levels_of(cluster, s);
    SeenFrom& seen = out.emplace_back();
    seen.site = s;
    ORRERY_TRY(seen.parameters,
               load_collective_parameters(catalog, view.accelerator.architecture, view.host_path));
    std::vector<std::int64_t> domains;
    for (const FabricLevel& level : levels) domains.push_back(level.accelerators);
    seen.group = group_shape(static_cast<int>(ranks), 1, domains);
    seen.path = communication_path(seen.group, levels, seen.parameters);
    seen.library = collective(question.kind, question.payload, seen.group, levels, seen.parameters);
  }
  return out;
}

Result<ProgramShape> shape_across(std::uint32_t ranks, const Cluster& cluster,
                                  const std::vector<SeenFrom>& sites) {
  std::vector<GroupShape> seen;
  std::vector<std::int64_t> of_sites;
  for (const SeenFrom& site : sites) {
    seen.push_back(site.group);
    of_sites.push_back(sites.size() > 1 ? accelerators_of(cluster, site.site) : ranks);
  }
  const GroupShape across = across_sites(seen, of_sites);
  if (across.members == seen.front().members) return shape_of_first(ranks, cluster.levels);
  return ProgramShape{.members = {static_cast<std::uint32_t>(across.members.front()), ranks}};
}

bool have_alike_switches(const std::vector<SeenFrom>& sites) {
  return std::ranges::all_of(sites, [&](const SeenFrom& site) {
    return site.path.reduces_in_switch && site.path.node_ranks == sites.front().path.node_ranks;
  });
}

}  // namespace

Result<CollectiveComparison> compare_collective(const Cluster& cluster, const Catalog& catalog,
                                                const CollectiveQuestion& question,
                                                const std::function<void(double)>& progress) {
  const auto& [kind, payload, stated_ranks, only, imported, streams] = question;
  const std::int64_t ranks = stated_ranks > 0 ? stated_ranks
                             : imported       ? std::int64_t{imported->ranks}
                                              : cluster.accelerators;
  if (ranks < 2 || ranks > cluster.accelerators) {
    return bad_input(std::to_string(ranks) + " ranks on the " +
                         std::to_string(cluster.accelerators) + " accelerators of " + cluster.name,
                     "ranks", "from 2 to " + std::to_string(cluster.accelerators));
  }
  if (ranks > kMostSimulatedRanks) {
    return bad_input(std::to_string(ranks) + " ranks are too many to simulate their flows", "ranks",
                     "at most " + std::to_string(kMostSimulatedRanks) +
                         "; orrery estimate prices larger groups by closed forms");
  }
  if (only == ProgramAlgorithm::imported && !imported) {
    return bad_input("imported is the algorithm of a file, and none is named", "algorithm",
                     "name an algorithm file of MSCCL with --program FILE.xml");
  }
  if (imported && (imported->kind != kind || imported->ranks != ranks)) {
    return bad_input("the program is an " + std::string(to_text(imported->kind)) + " of " +
                         std::to_string(imported->ranks) + " ranks, not an " +
                         std::string(to_text(kind)) + " of " + std::to_string(ranks),
                     "--program", "name its collective, and its ranks with --ranks");
  }
  const auto members = static_cast<std::uint32_t>(ranks);
  ORRERY_TRY(const std::vector<SeenFrom> sites, seen_from_sites(cluster, catalog, question, ranks));
  // All wait for the site where it takes longest.
  const SeenFrom& slowest =
      *std::ranges::max_element(sites, {}, [](const SeenFrom& site) { return site.library.time; });
  const CollectiveParameters& parameters = slowest.parameters;
  ORRERY_TRY(const ProgramShape shape, shape_across(members, cluster, sites));
  const auto reach = [&](Cluster& reached, ProgramAlgorithm algorithm, StepLatency latency) {
    for (std::size_t s = 0; s < sites.size(); ++s) {
      levels_of(reached, s) =
          library_levels(levels_of(cluster, s), sites[s].parameters, kind, algorithm,
                         slowest.library.protocol, latency, slowest.path);
    }
  };

  CollectiveComparison out;
  out.cluster = cluster.name;
  out.kind = kind;
  out.ranks = ranks;
  out.payload = payload;
  out.bus_factor = bus_factor(kind, static_cast<double>(ranks));
  out.library = slowest.library;
  out.library_algorithm = program_algorithm(out.library.algorithm);
  const CommunicationPath& path = slowest.path;
  if (kind == CollectiveKind::all_to_all) {
    const AllToAllTimes times =
        all_to_all_times(kind, payload, path, out.library.protocol, parameters);
    out.library_algorithm =
        times.direct <= times.aggregated ? ProgramAlgorithm::direct : ProgramAlgorithm::pxn;
  }
  Cluster reached = cluster;
  std::vector<std::vector<std::uint32_t>> placement(1);
  placement[0].resize(members);
  std::iota(placement[0].begin(), placement[0].end(), 0U);

  for (std::size_t i = 0; i < enumerators<ProgramAlgorithm>(); ++i) {
    const auto algorithm = static_cast<ProgramAlgorithm>(i);
    if (progress) progress(static_cast<double>(i) / enumerators<ProgramAlgorithm>());
    if (only && algorithm != *only && algorithm != ProgramAlgorithm::imported) continue;
    if (algorithm == ProgramAlgorithm::in_switch && !have_alike_switches(sites)) continue;
    if (algorithm == ProgramAlgorithm::parallel_trees && path.node_ranks > 1) continue;
    if (kind == CollectiveKind::all_to_all && members > kMostExchangeRanks &&
        algorithm != ProgramAlgorithm::hierarchical && algorithm != ProgramAlgorithm::imported) {
      continue;
    }
    ProgramShape shaped = shape;
    reach(reached, algorithm, StepLatency::of_ring);
    const std::vector<FabricLevel>& narrowest = levels_of(reached, slowest.site);
    const FabricLevel& last =
        sites.size() > 1 ? narrowest.back() : narrowest[shaped.members.size() - 1];
    const double stages =
        algorithm == ProgramAlgorithm::chain ? static_cast<double>(ranks - 1) : 24;
    if (algorithm == ProgramAlgorithm::in_switch) shaped.pieces = 512;
    if (algorithm != ProgramAlgorithm::hierarchical && algorithm != ProgramAlgorithm::in_switch) {
      shaped.pieces = best_pieces(payload, stages, last.latency, delivery(last).rate);
    }
    auto program = program_of(algorithm, kind, shaped);
    if (algorithm == ProgramAlgorithm::synthesized) {
      ORRERY_TRY(const Network network, network_of(reached));
      program = synthesized_program(kind, network, members);
    }
    if (algorithm == ProgramAlgorithm::imported) program = imported;
    if (!program) continue;
    AlgorithmTimes times;
    times.algorithm = algorithm;
    const Protocol protocol = out.library.protocol;
    times.closed_form = closed_form(algorithm, kind, payload, path, protocol, parameters);
    const Seconds base = off_links(algorithm, kind, payload, path, protocol, parameters)
                             .value_or(parameters.ring.base.of(protocol));
    if (times.closed_form) reach(reached, algorithm, StepLatency::none);
    ORRERY_TRY(const Network network, network_of(reached));
    constexpr std::array kRoutings = {Routing::spray, Routing::ecmp, Routing::planned};
    const std::array<Seconds*, 3> into = {&times.flows, &times.hashed, &times.planned};
    for (std::size_t r = 0; r < kRoutings.size(); ++r) {
      ORRERY_TRY(const ProgramRun done,
                 run(*program, payload, network, placement, kRoutings[r], streams));
      *into[r] = base + done.time;
      if (kRoutings[r] != Routing::spray) continue;
      for (std::size_t l = 0; l < done.on_links.size(); ++l) {
        const DirectedLink& link = network.links()[l];
        const double share = done.on_links[l] / link.capacity / done.time;
        if (share <= times.busiest_share * (1 + 1e-9)) continue;
        times.busiest_share = share;
        times.busiest = network.levels()[link.level].name;
      }
    }
    out.algorithms.push_back(std::move(times));
  }
  if (out.algorithms.empty() ||
      (only && std::ranges::find(out.algorithms, *only, &AlgorithmTimes::algorithm) ==
                   out.algorithms.end())) {
    return bad_input(only ? std::string(to_text(*only)) + " offers no " +
                                std::string(to_text(kind)) + " on " + std::to_string(ranks) +
                                " ranks of " + cluster.name
                          : std::to_string(ranks) + " ranks are too many",
                     only ? "algorithm" : "ranks", "leave out --algorithm to see those that do");
  }
  std::ranges::stable_sort(out.algorithms, {}, &AlgorithmTimes::flows);
  return out;
}

}  // namespace orrery
