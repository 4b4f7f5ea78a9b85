#include "check/collective_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "cost/collective/collective.h"
#include "cost/collective/communication_path.h"

namespace orrery {
namespace {

// What a group of ranks runs on.
struct System {
  GroupShape group;
  std::vector<FabricLevel> levels;
  CollectiveParameters parameters;
};

Result<GroupShape> group_of(const CollectiveResults& results, const Cluster& cluster,
                            std::int64_t ranks, std::int64_t nodes) {
  if (ranks > cluster.accelerators) {
    return bad_input(fmt::format("{} ranks were measured, and {} has {} accelerators", ranks,
                                 cluster.name, cluster.accelerators),
                     "--on", "name the cluster on which the test ran");
  }
  if (ranks < 2) {
    return results.ranks > 0
               ? bad_input(
                     "the results name one rank alone, in one line \"# Rank\"; a collective "
                     "has two or more",
                     "",
                     "keep the lines \"# Rank\" of all ranks, or leave out all of them: "
                     "every accelerator of --on is then taken to take part")
               : bad_input(cluster.name + " has one accelerator; a collective has two or more",
                           "--on", "name the cluster on which the test ran");
  }
  if (ranks % nodes != 0 || ranks / nodes > cluster.accelerators_per_node) {
    return bad_input(fmt::format("{} ranks on {} hosts, and a node of {} has {} accelerators",
                                 ranks, nodes, cluster.name, cluster.accelerators_per_node),
                     "--on", "name the cluster on which the test ran");
  }
  if (results.nodes > 0 && nodes > cluster.accelerators / cluster.accelerators_per_node) {
    return bad_input(fmt::format("{} hosts were measured, and {} has {} nodes", nodes, cluster.name,
                                 cluster.accelerators / cluster.accelerators_per_node),
                     "--on", "name the cluster on which the test ran");
  }
  GroupShape out{.size = static_cast<int>(ranks), .members = {}};
  const std::int64_t of_node = ranks / nodes;
  for (const FabricLevel& level : cluster.levels) {
    const std::int64_t held = level.accelerators >= cluster.accelerators_per_node
                                  ? level.accelerators / cluster.accelerators_per_node * of_node
                                  : std::min(level.accelerators, of_node);
    out.members.push_back(static_cast<int>(std::min(held, ranks)));
  }
  return out;
}

CollectiveChoice expected(CollectiveKind kind, Bytes payload, const System& system) {
  return collective(kind, payload, system.group, system.levels, system.parameters);
}

// Median of |ln(measured / expected)|.
double median_error(const CollectiveResults& results, const System& system) {
  std::vector<double> errors;
  errors.reserve(results.sizes.size());
  for (const MeasuredSize& s : results.sizes) {
    errors.push_back(std::abs(std::log(s.time / expected(results.kind, s.payload, system).time)));
  }
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::ranges::nth_element(errors, middle);
  return *middle;
}

// The share in [least, most] that leaves the least error, to 1 %.
double best_share(double least, double most, const std::function<double(double)>& error) {
  constexpr double kGolden = 0.6180339887498949;
  double low = std::log(least);
  double high = std::log(most);
  while (high - low > 0.01) {
    const double a = high - kGolden * (high - low);
    const double b = low + kGolden * (high - low);
    if (error(std::exp(a)) <= error(std::exp(b))) {
      high = b;
    } else {
      low = a;
    }
  }
  return std::exp((low + high) / 2);
}

void scale_levels(System& system, bool network, double share) {
  for (std::size_t l = 0; l < system.levels.size(); ++l) {
    if ((link_kind(system.levels[l], l) == LinkKind::network) != network) continue;
    system.levels[l].bandwidth *= share;
  }
}

// "as if 1 of the 8 cards of a node were in use"; empty if the share is not that of whole cards.
std::string in_cards(double share, std::int64_t cards) {
  for (std::int64_t used = 1; used < cards; used *= 2) {
    if (std::abs(std::log(share * static_cast<double>(cards) / static_cast<double>(used))) < 0.12) {
      return fmt::format(", as if {} of the {} cards of a node were in use", used, cards);
    }
  }
  return "";
}

std::vector<LikelyCause> causes_of(const CollectiveResults& results, const System& healthy,
                                   const Cluster& cluster, double error) {
  std::vector<LikelyCause> out;
  const auto add = [&](std::string what, std::string look, const System& ill) {
    const double left = median_error(results, ill);
    if (left <= kExplains * error) out.push_back({std::move(what), std::move(look), left});
  };
  const auto with_share = [&](bool network, double share) {
    System ill = healthy;
    scale_levels(ill, network, share);
    return ill;
  };
  const CommunicationPath path =
      communication_path(healthy.group, healthy.levels, healthy.parameters);
  if (path.nodes > 1) {
    const double share =
        best_share(0.01, 1, [&](double s) { return median_error(results, with_share(true, s)); });
    add(fmt::format("the network gives {:.0f} % of its bandwidth{}", 100 * share,
                    in_cards(share, cluster.accelerators_per_node)),
        "cards that are down or not chosen (NCCL_IB_HCA), adaptive routing, PFC and ECN of the "
        "switches, GPUDirect RDMA",
        with_share(true, share));
    const auto slower = [&](double times) {
      System ill = healthy;
      for (std::size_t l = 0; l < ill.levels.size(); ++l) {
        if (link_kind(ill.levels[l], l) == LinkKind::network) ill.levels[l].latency *= times;
      }
      return ill;
    };
    const double times =
        best_share(1, 1000, [&](double t) { return median_error(results, slower(t)); });
    add(fmt::format("a message over the network takes {:.0f} times as long", times),
        "TCP sockets in place of RDMA (NCCL_DEBUG=INFO says NET/Socket), a distant switch",
        slower(times));
  }
  if (path.node_ranks > 1) {
    const double share =
        best_share(0.01, 1, [&](double s) { return median_error(results, with_share(false, s)); });
    add(fmt::format("links inside the nodes give {:.0f} % of their bandwidth", 100 * share),
        "nvidia-smi nvlink --status, fabric manager, peer access through PCIe (NCCL_P2P_DISABLE)",
        with_share(false, share));
  }
  if (path.reduces_in_switch) {
    System ill = healthy;
    for (FabricLevel& level : ill.levels) level.in_switch_reduction = false;
    add("switches do not reduce", "NCCL_NVLS_ENABLE, fabric manager, NCCL_ALGO", ill);
  }
  // Causes that leave as little as each other stay in the order in which they are tried.
  std::ranges::stable_sort(out, {}, [](const LikelyCause& c) { return std::round(100 * c.error); });
  return out;
}

const CollectiveErrorClass& errors_of(const CollectiveErrors& errors, bool several_nodes,
                                      Bytes payload) {
  const auto fits = [&](const CollectiveErrorClass& c) {
    return c.several_nodes == several_nodes && (!c.up_to || payload <= *c.up_to);
  };
  return *std::ranges::find_if(errors.classes, fits);
}

// Every payload has a class.
Result<CollectiveErrors> load_collective_errors(const Catalog& catalog) {
  ORRERY_TRY(const Document document, catalog.find("step", "collective-errors"));
  ORRERY_TRY(CollectiveErrors errors, read<CollectiveErrors>(document));
  for (const bool several : {false, true}) {
    const bool any = std::ranges::any_of(errors.classes, [&](const CollectiveErrorClass& c) {
      return c.several_nodes == several && !c.up_to;
    });
    if (!any) return bad_input("a class without up_to is missing", document.name);
  }
  for (const CollectiveErrorClass& c : errors.classes) {
    if (!(c.low > 0 && c.low <= 1 && c.high >= 1)) {
      return bad_input("an interval that does not hold 1", document.name);
    }
  }
  return errors;
}

double bus_factor(CollectiveKind kind, std::int64_t ranks) {
  if (kind == CollectiveKind::broadcast) return 1;
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  return kind == CollectiveKind::all_reduce ? 2 * others : others;
}

}  // namespace

Fields<CollectiveErrorClass> fields_of(const CollectiveErrorClass*) {
  return Fields<CollectiveErrorClass>("class of errors")
      .required<&CollectiveErrorClass::several_nodes>("the group leaves a scale-up domain")
      .optional<&CollectiveErrorClass::up_to>("largest payload; absent: any")
      .required<&CollectiveErrorClass::low>("5 % quantile of measured / expected")
      .required<&CollectiveErrorClass::high>("95 % quantile")
      .required<&CollectiveErrorClass::rows>("that they are from");
}

Fields<CollectiveErrors> fields_of(const CollectiveErrors*) {
  return Fields<CollectiveErrors>("errors of collectives")
      .required<&CollectiveErrors::source>("of the errors")
      .required<&CollectiveErrors::classes>("by group and payload, ascending");
}

bool CollectiveCheck::sick() const {
  return std::ranges::any_of(sizes, [](const CheckedSize& s) {
    return s.verdict == SizeVerdict::slow || s.verdict == SizeVerdict::wrong_values;
  });
}

Result<CollectiveCheck> check(const CollectiveResults& results, const Cluster& cluster,
                              const Catalog& catalog) {
  ORRERY_RETURN_IF_ERROR(check_alike(cluster, "what a network should give"));
  const std::int64_t ranks = results.ranks > 0 ? results.ranks : cluster.accelerators;
  const std::int64_t of_node = cluster.accelerators_per_node;
  const std::int64_t nodes = results.nodes > 0 ? results.nodes : (ranks + of_node - 1) / of_node;
  ORRERY_TRY(const GroupShape group, group_of(results, cluster, ranks, nodes));
  ORRERY_TRY(
      CollectiveParameters parameters,
      load_collective_parameters(catalog, cluster.accelerator.architecture, cluster.host_path));
  ORRERY_TRY(const CollectiveErrors errors, load_collective_errors(catalog));
  const System healthy{group, cluster.levels, std::move(parameters)};
  const bool several =
      communication_path(healthy.group, healthy.levels, healthy.parameters).nodes > 1;
  CollectiveCheck out{.kind = results.kind,
                      .ranks = ranks,
                      .nodes = nodes,
                      .bus_factor = bus_factor(results.kind, ranks),
                      .error = median_error(results, healthy)};
  for (const MeasuredSize& size : results.sizes) {
    const CollectiveChoice choice = expected(results.kind, size.payload, healthy);
    const CollectiveErrorClass& interval = errors_of(errors, several, size.payload);
    CheckedSize checked{.measured = size,
                        .expected = choice.time,
                        .low = choice.time * interval.low,
                        .high = choice.time * interval.high,
                        .algorithm = choice.algorithm,
                        .protocol = choice.protocol};
    checked.verdict = size.wrong > 0             ? SizeVerdict::wrong_values
                      : size.time > checked.high ? SizeVerdict::slow
                      : size.time < checked.low  ? SizeVerdict::fast
                                                 : SizeVerdict::as_expected;
    out.sizes.push_back(checked);
  }
  const bool slow = std::ranges::any_of(
      out.sizes, [](const CheckedSize& s) { return s.verdict == SizeVerdict::slow; });
  if (slow) out.causes = causes_of(results, healthy, cluster, out.error);
  return out;
}

}  // namespace orrery
