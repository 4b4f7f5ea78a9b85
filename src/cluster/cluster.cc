#include "cluster/cluster.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace orrery {

Fields<Site> fields_of(const Site*) {
  return Fields<Site>("site")
      .required<&Site::name>("identifier")
      .required<&Site::accelerator>("what computes there, in full")
      .required<&Site::accelerators_per_node>("in one server")
      .required<&Site::levels>("from the inside out; the last is the link and holds all sites")
      .optional<&Site::host>("what is around the accelerators of a server")
      .optional<&Site::host_path>("how its PCIe cards meet where no switch joins them all");
}

Fields<Cluster> fields_of(const Cluster*) {
  return Fields<Cluster>("cluster")
      .required<&Cluster::name>("identifier")
      .required<&Cluster::accelerator>("what computes, in full")
      .required<&Cluster::accelerators>("in all")
      .required<&Cluster::accelerators_per_node>("in one server")
      .required<&Cluster::levels>("from the inside out; the last holds all")
      .optional<&Cluster::host_path>("how its PCIe cards meet where no switch joins them all")
      .optional<&Cluster::host>("processor, memory and storage of one server")
      .optional<&Cluster::assumed>("what the description left open")
      .optional<&Cluster::provenance>("where the figures come from")
      .optional<&Cluster::further_sites>(
          "where sites differ: those behind the first, which the fields above describe");
}

namespace {

Failure refuse(std::string message, std::string where, std::string hint = "") {
  return bad_input(std::move(message), std::move(where), std::move(hint));
}

std::string text(std::int64_t n) { return std::to_string(n); }

// What all `accelerators` of a site send over its link at once.
BytesPerSecond rate_of_link(const FabricLevel& link, std::int64_t accelerators) {
  return link.bandwidth *
         (link.efficiency * static_cast<double>(accelerators) / link.oversubscription);
}

Result<void> check_count(std::int64_t accelerators, std::int64_t per_node) {
  if (accelerators < 1) {
    return refuse("the number of accelerators is " + text(accelerators), "accelerators",
                  "at least 1");
  }
  if (accelerators > kMaxAccelerators) {
    return refuse(text(accelerators) + " accelerators are more than Orrery supports",
                  "accelerators", "at most " + text(kMaxAccelerators));
  }
  if (accelerators > per_node && accelerators % per_node != 0) {
    const std::int64_t below = accelerators / per_node * per_node;
    return refuse(text(accelerators) + " accelerators do not fill nodes of " + text(per_node),
                  "accelerators", text(below) + " or " + text(below + per_node) + " do");
  }
  return {};
}

Result<void> check(const FabricLevel& level) {
  const auto field = [](const char* name) { return std::string(name); };
  if (!(level.bandwidth.value() > 0)) {
    return refuse("the bandwidth of a level must be greater than 0", field("bandwidth"),
                  "a rate such as 450 GB/s");
  }
  if (!(level.latency.value() >= 0 && level.latency <= Seconds(60))) {
    return refuse("a latency of " + to_text(level.latency) + " is not plausible", field("latency"),
                  "between 0 and 60 s");
  }
  if (!(level.oversubscription >= 1 && level.oversubscription <= 1e6)) {
    return refuse("an oversubscription outside 1 to 1000000", field("oversubscription"),
                  "1 is full bisection, 7 one seventh of the bandwidth");
  }
  if (!(level.efficiency > 0 && level.efficiency <= 1)) {
    return refuse("an efficiency outside (0, 1]", field("efficiency"),
                  "the share of the nominal bandwidth that large transfers reach");
  }
  if (level.transport) ORRERY_RETURN_IF_ERROR(at("transport", check(*level.transport)));
  if (level.topology) return at("topology", check(*level.topology));
  return {};
}

// Of one site, or of a cluster whose sites are alike: `size` accelerators in whole nodes.
Result<void> check_one(const Cluster& cluster, std::int64_t size) {
  if (cluster.accelerators_per_node < 1) {
    return refuse("a node without accelerators", "accelerators_per_node", "at least 1");
  }
  ORRERY_RETURN_IF_ERROR(check_count(size, cluster.accelerators_per_node));
  ORRERY_RETURN_IF_ERROR(at("accelerator", check(cluster.accelerator)));
  ORRERY_RETURN_IF_ERROR(check(cluster.host));
  if (cluster.levels.empty()) return refuse("no fabric level", "levels", "at least one");
  if (cluster.levels.size() > kMaxFabricLevels) {
    return refuse(text(static_cast<std::int64_t>(cluster.levels.size())) + " fabric levels",
                  "levels", "at most " + text(static_cast<std::int64_t>(kMaxFabricLevels)));
  }
  std::int64_t inside = 0;
  for (std::size_t i = 0; i < cluster.levels.size(); ++i) {
    const FabricLevel& level = cluster.levels[i];
    const std::string place = "levels[" + std::to_string(i) + "]";
    ORRERY_RETURN_IF_ERROR(at(place, check(level)));
    if (level.accelerators <= inside) {
      return refuse("level '" + level.name + "' holds " + text(level.accelerators) +
                        " accelerators, not more than the " + text(inside) + " of what it joins",
                    place + ": accelerators", "levels go from the inside out");
    }
    inside = level.accelerators;
  }
  if (cluster.host_path) {
    const FabricLevel& first = cluster.levels.front();
    if (!fabric_of(first).starts_with("pcie")) {
      return refuse("the accelerators of a node are joined by '" + std::string(fabric_of(first)) +
                        "', not over the host",
                    "host_path", "leave it out where the first level is not PCIe");
    }
    ORRERY_RETURN_IF_ERROR(check(*cluster.host_path));
  }
  if (inside != cluster.accelerators) {
    return refuse("the last level holds " + text(inside) + " of " + text(cluster.accelerators) +
                      " accelerators",
                  "levels", "the last level joins all of them");
  }
  return {};
}

}  // namespace

Result<void> check(const Cluster& cluster) {
  if (cluster.further_sites.empty()) return check_one(cluster, cluster.accelerators);
  if (cluster.further_sites.size() >= kMaxDifferingSites) {
    return refuse(text(static_cast<std::int64_t>(site_count(cluster))) + " sites that differ",
                  "further_sites", "at most " + text(kMaxDifferingSites));
  }
  if (cluster.accelerators > kMaxAccelerators) {
    return refuse(text(cluster.accelerators) + " accelerators are more than Orrery supports",
                  "accelerators", "at most " + text(kMaxAccelerators));
  }
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < site_count(cluster); ++i) {
    const Cluster site = at_site(cluster, i);
    const std::string place = i == 0 ? "" : "further_sites[" + std::to_string(i - 1) + "]";
    if (site.levels.size() < 2) {
      return refuse("a site needs a level of its own and the link", place + ": levels",
                    "the link is the last of them");
    }
    ORRERY_RETURN_IF_ERROR(at(place, check_one(site, accelerators_of(cluster, i))));
    sum += accelerators_of(cluster, i);
  }
  if (sum != cluster.accelerators) {
    return refuse(
        "the sites have " + text(sum) + " of " + text(cluster.accelerators) + " accelerators",
        "further_sites", "the level below the link holds all accelerators of a site");
  }
  return {};
}

Cluster at_site(const Cluster& cluster, std::size_t site) {
  Cluster out = cluster;
  out.further_sites.clear();
  if (site == 0) return out;
  const Site& s = cluster.further_sites[site - 1];
  out.accelerator = s.accelerator;
  out.accelerators_per_node = s.accelerators_per_node;
  out.levels = s.levels;
  out.host = s.host;
  out.host_path = s.host_path;
  return out;
}

std::int64_t accelerators_of(const Cluster& cluster, std::size_t site) {
  if (cluster.further_sites.empty()) return cluster.accelerators;
  const auto& levels = levels_of(cluster, site);
  return levels[levels.size() - 2].accelerators;
}

const std::vector<FabricLevel>& levels_of(const Cluster& cluster, std::size_t site) {
  return site == 0 ? cluster.levels : cluster.further_sites[site - 1].levels;
}

std::vector<FabricLevel>& levels_of(Cluster& cluster, std::size_t site) {
  return site == 0 ? cluster.levels : cluster.further_sites[site - 1].levels;
}

Cluster with_levels(Cluster cluster, const ChangedLevels& changed) {
  for (std::size_t s = 0; s < site_count(cluster); ++s) {
    levels_of(cluster, s) = changed(s, levels_of(cluster, s));
  }
  return cluster;
}

std::string name_of(const Cluster& cluster, std::size_t site) {
  return site > 0 ? cluster.further_sites[site - 1].name
                  : cluster.accelerator.name + ":" + text(accelerators_of(cluster, 0));
}

Result<void> check_alike(const Cluster& cluster, std::string_view what) {
  if (cluster.further_sites.empty()) return {};
  std::size_t other = 1;
  while (other + 1 < site_count(cluster) && at_site(cluster, other) == at_site(cluster, 0)) ++other;
  const bool same_name = name_of(cluster, other) == name_of(cluster, 0);
  const auto site = [&](std::size_t s) {
    const BytesPerSecond rate =
        rate_of_link(levels_of(cluster, s).back(), accelerators_of(cluster, s));
    return name_of(cluster, s) +
           (same_name ? ", which sends " + to_text(rate) + " to other sites" : "");
  };
  return unsupported(std::string(what) + " is not modelled where sites differ (" + site(0) +
                         (same_name ? "; " : " and ") + site(other) + ")",
                     "cluster",
                     "a cluster whose sites are alike; estimate, search and forecast take others");
}

namespace {

// The most of `accelerators` that lie in one unit of `unit_size` accelerators of the site that begins
// at `first`.
std::int64_t in_fullest_unit(std::span<const std::uint32_t> accelerators, std::int64_t first,
                             std::int64_t unit_size) {
  std::int64_t most = 0;
  std::int64_t here = 0;
  std::int64_t unit = -1;
  for (const std::uint32_t a : accelerators) {
    const std::int64_t unit_of_a = (a - first) / unit_size;
    here = unit_of_a == unit ? here + 1 : 1;
    unit = unit_of_a;
    most = std::max(most, here);
  }
  return most;
}

// What `accelerators`, all of which lie in the site that begins at `first`, have of that site; a part
// of the cluster has `all` of them, in this site and in others.
Result<Cluster> part_of_site(Cluster site, std::int64_t first,
                             std::span<const std::uint32_t> accelerators, std::int64_t all) {
  ORRERY_RETURN_IF_ERROR(check_count(std::ssize(accelerators), site.accelerators_per_node));
  std::vector<FabricLevel> kept;
  std::int64_t inside = 0;
  for (FabricLevel& level : site.levels) {
    const bool holds_all = level.accelerators == site.accelerators;
    level.accelerators = holds_all ? all : in_fullest_unit(accelerators, first, level.accelerators);
    if (level.accelerators == inside) continue;
    inside = level.accelerators;
    kept.push_back(std::move(level));
  }
  site.levels = std::move(kept);
  site.accelerators = all;
  site.accelerators_per_node = std::min(site.accelerators_per_node, std::ssize(accelerators));
  return site;
}

// Whether a part has the link between sites to itself, or beside the rest of the cluster.
enum class LinkShare : std::uint8_t { alone, beside_the_rest };

// The link of a site (cluster/sites.h) of which `here` of `whole` accelerators are left, which alone
// send over it.
void divide_link(std::vector<FabricLevel>& levels, std::int64_t here, std::int64_t whole) {
  FabricLevel& link = levels.back();
  const bool has_network = levels.size() > 2;
  if (has_network) {
    link.oversubscription = std::max(
        1.0, link.oversubscription * static_cast<double>(here) / static_cast<double>(whole));
    return;
  }
  link.bandwidth = rate_of_link(link, whole) / static_cast<double>(here);
  link.efficiency = 1;
  link.oversubscription = 1;
}

Result<Cluster> part_of(const Cluster& cluster, std::span<const std::uint32_t> accelerators,
                        LinkShare share) {
  const std::int64_t all = std::ssize(accelerators);
  if (all == cluster.accelerators) return cluster;
  ORRERY_RETURN_IF_ERROR(check_count(all, 1));
  const bool differ = !cluster.further_sites.empty();
  std::optional<Cluster> out;
  std::string names;
  std::int64_t first = 0;
  for (std::size_t s = 0; s < site_count(cluster); ++s) {
    const std::int64_t end = first + accelerators_of(cluster, s);
    const auto here = accelerators.first(static_cast<std::size_t>(
        std::ranges::lower_bound(accelerators, end) - accelerators.begin()));
    accelerators = accelerators.subspan(here.size());
    if (!here.empty()) {
      Result<Cluster> of_site = part_of_site(at_site(cluster, s), first, here, all);
      if (differ) of_site = at(name_of(cluster, s), std::move(of_site));
      ORRERY_TRY(Cluster part, std::move(of_site));
      const bool has_link = differ && std::ssize(here) < all;
      if (has_link && share == LinkShare::alone && std::ssize(here) < end - first) {
        divide_link(part.levels, std::ssize(here), end - first);
      }
      const std::string name = part.accelerator.name + ":" + text(std::ssize(here));
      names += (names.empty() ? "" : "+") + name;
      if (!out) {
        out = std::move(part);
      } else {
        out->further_sites.push_back({.name = name,
                                      .accelerator = std::move(part.accelerator),
                                      .accelerators_per_node = part.accelerators_per_node,
                                      .levels = std::move(part.levels),
                                      .host = part.host,
                                      .host_path = part.host_path});
      }
    }
    first = end;
  }
  if (differ) {
    out->name = site_count(*out) > 1 ? names + "@" + out->levels.back().name : names;
    return std::move(*out);
  }
  if (const std::string whole = ":" + text(cluster.accelerators); out->name.ends_with(whole)) {
    out->name.resize(out->name.size() - whole.size());
  }
  out->name += ":" + text(all);
  return std::move(*out);
}

}  // namespace

Result<Cluster> part_of(const Cluster& cluster, std::span<const std::uint32_t> accelerators) {
  return part_of(cluster, accelerators, LinkShare::beside_the_rest);
}

Result<Cluster> part_of(const Cluster& cluster, std::int64_t accelerators) {
  ORRERY_RETURN_IF_ERROR(check_count(accelerators, 1));
  if (accelerators > cluster.accelerators) {
    return refuse(text(accelerators) + " accelerators is more than the " +
                      text(cluster.accelerators) + " of " + cluster.name,
                  "accelerators", "at most " + text(cluster.accelerators));
  }
  std::vector<std::uint32_t> first(static_cast<std::size_t>(accelerators));
  std::iota(first.begin(), first.end(), 0U);
  return part_of(cluster, first, LinkShare::alone);
}

}  // namespace orrery
