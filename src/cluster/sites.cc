#include "cluster/sites.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cluster/link.h"

namespace orrery {
namespace {

// Neither a short form nor a catalog entry may have sites too: a text of many '@', or an entry that
// names itself, must not recurse.
Result<Cluster> one_site(const std::string& text, const std::string& place,
                         const Catalog& catalog) {
  const std::string head = text.substr(0, text.rfind(':'));
  bool has_sites = text.find_first_of("+@") != std::string::npos;
  if (catalog.contains("clusters", head)) {
    ORRERY_TRY(const Document document, catalog.find("clusters", head));
    has_sites = has_sites || document.root.find("sites") != nullptr;
  }
  if (has_sites) return unsupported("a site cannot have sites of its own", place);
  auto site = parse_cluster_name(text, catalog);
  if (!site) return fail(at(place, site.error()));
  return site;
}

bool alike(const Cluster& a, const Cluster& b) {
  return a.accelerator == b.accelerator && a.accelerators == b.accelerators &&
         a.accelerators_per_node == b.accelerators_per_node && a.levels == b.levels &&
         a.host == b.host && a.host_path == b.host_path;
}

Result<void> check_link(BytesPerSecond bandwidth, const std::string& field) {
  if (bandwidth > BytesPerSecond(0)) return {};
  return bad_input("the bandwidth between the sites must be greater than 0", field,
                   "such as \"3.2 Tb/s\"");
}

}  // namespace

Result<Cluster> build_sites(const ClusterDescription& d, const Catalog& catalog) {
  if (!d.node.empty() || !d.accelerator.empty() || !d.fabric.empty() || !d.levels.empty() ||
      d.accelerators != 0 || d.host_path) {
    return bad_input("sites are clusters of their own", "sites",
                     "leave out node, accelerator, accelerators, fabric, host_path and levels");
  }
  if (d.sites.size() > 1000) {
    return bad_input(std::to_string(d.sites.size()) + " sites", "sites", "at most 1000");
  }
  const std::vector<BytesPerSecond>& own_links = d.link_bandwidths;
  if (!own_links.empty() && d.link_bandwidth) {
    return bad_input("link_bandwidth and link_bandwidths are both given", "link_bandwidths",
                     "keep one of them");
  }
  if (!own_links.empty() && own_links.size() != d.sites.size()) {
    return bad_input("link_bandwidths has " + std::to_string(own_links.size()) + " values for " +
                         std::to_string(d.sites.size()) + " sites",
                     "link_bandwidths", "give one for each site, or one link_bandwidth for all");
  }
  for (std::size_t i = 0; i < own_links.size(); ++i) {
    ORRERY_RETURN_IF_ERROR(check_link(own_links[i], "link_bandwidths[" + std::to_string(i) + "]"));
  }
  std::vector<Cluster> sites;  // one for each text or link that differs from the one before
  std::vector<std::size_t> kind_of_site;
  std::vector<std::optional<BytesPerSecond>> bandwidths;  // of the sites, where each has its own
  for (std::size_t i = 0; i < d.sites.size(); ++i) {
    if (i == 0 || d.sites[i] != d.sites[i - 1] ||
        (!own_links.empty() && own_links[i] != own_links[i - 1])) {
      ORRERY_TRY(Cluster site, one_site(d.sites[i], "sites[" + std::to_string(i) + "]", catalog));
      sites.push_back(std::move(site));
      bandwidths.push_back(own_links.empty() ? std::nullopt : std::optional(own_links[i]));
    }
    kind_of_site.push_back(sites.size() - 1);
    if (sites.size() > kMaxDifferingSites) {
      return bad_input("more than " + std::to_string(kMaxDifferingSites) + " sites that differ",
                       "sites", "write equal sites next to each other");
    }
  }
  Link link;
  if (!d.link.empty()) {
    ORRERY_TRY(link, load_link(catalog, d.link));
  }
  Transport transport = d.transport.value_or(Transport{});
  if (transport.packet_drop_rate == 0) {
    transport.packet_drop_rate = link.packet_drop_rate.value_or(0);
  }
  ORRERY_RETURN_IF_ERROR(at("transport", check(transport)));
  const std::optional<Seconds> round_trip =
      d.link_round_trip_time ? d.link_round_trip_time : link.round_trip_time;
  for (std::optional<BytesPerSecond>& bandwidth : bandwidths) {
    if (!bandwidth) bandwidth = d.link_bandwidth ? d.link_bandwidth : link.bandwidth;
    if (!bandwidth) {
      return bad_input("the bandwidth between the sites is not known", "link_bandwidth",
                       "give `link_bandwidth`, such as \"3.2 Tb/s\"");
    }
    ORRERY_RETURN_IF_ERROR(check_link(*bandwidth, "link_bandwidth"));
  }
  if (!round_trip) {
    return bad_input("the latency between the sites is not known", "link_round_trip_time",
                     "give `link` or `link_round_trip_time`");
  }
  std::int64_t all = 0;
  for (const std::size_t site : kind_of_site) all += sites[site].accelerators;
  Cluster cluster = sites.front();
  cluster.name = d.name;
  cluster.provenance = d.provenance;
  cluster.accelerators = all;
  if (kind_of_site.size() == 1) return cluster;

  for (std::size_t i = 0; i < sites.size(); ++i) {
    Cluster& site = sites[i];
    const BytesPerSecond bandwidth = *bandwidths[i];
    const std::int64_t size = site.accelerators;
    const FabricLevel& inside = site.levels.back();
    const bool has_network = site.levels.size() > 1;
    FabricLevel top;
    top.name = d.link.empty() ? "link" : d.link;
    top.accelerators = all;
    top.bandwidth = has_network ? inside.bandwidth : bandwidth / static_cast<double>(size);
    top.efficiency = has_network ? inside.efficiency : 1;
    top.oversubscription =
        std::max(1.0, top.bandwidth * (top.efficiency * static_cast<double>(size)) / bandwidth);
    top.latency = *round_trip / 2;
    if (transport.packet_drop_rate > 0 || transport.window || transport.buffer) {
      top.transport = transport;
    }
    site.levels.push_back(std::move(top));
  }
  cluster.levels = sites.front().levels;
  if (std::ranges::any_of(sites, [&](const Cluster& s) { return !alike(s, sites.front()); })) {
    if (kind_of_site.size() > kMaxDifferingSites) {
      return bad_input(std::to_string(kind_of_site.size()) + " sites that differ", "sites",
                       "at most " + std::to_string(kMaxDifferingSites));
    }
    for (std::size_t i = 1; i < kind_of_site.size(); ++i) {
      const Cluster& s = sites[kind_of_site[i]];
      cluster.further_sites.push_back(
          {.name = s.accelerator.name + ":" + std::to_string(s.accelerators),
           .accelerator = s.accelerator,
           .accelerators_per_node = s.accelerators_per_node,
           .levels = s.levels,
           .host = s.host,
           .host_path = s.host_path});
    }
    for (const Cluster& site : sites) {
      for (const std::string& assumed : site.assumed) {
        if (std::ranges::find(cluster.assumed, assumed) == cluster.assumed.end()) {
          cluster.assumed.push_back(assumed);
        }
      }
    }
  }
  if (!d.transport) {
    cluster.assumed.push_back(
        transport.packet_drop_rate > 0
            ? "transport between the sites: lost packets alone are repeated, no limit of the window"
            : "loss and repeated packets between the sites: none");
  }
  return cluster;
}

Result<Cluster> parse_sites(std::string_view text, const Catalog& catalog) {
  ClusterDescription description;
  const auto sign = text.rfind('@');
  if (sign == std::string_view::npos) {
    return bad_input("the link between the sites is missing", "",
                     "write its name after the sites, such as " + std::string(text.substr(0, 100)) +
                         "@metro-pair");
  }
  description.name = text;
  description.link = text.substr(sign + 1);
  std::string_view sites = text.substr(0, sign);
  for (;;) {
    const auto plus = sites.find('+');
    description.sites.emplace_back(sites.substr(0, plus));
    if (plus == std::string_view::npos) break;
    sites.remove_prefix(plus + 1);
  }
  ORRERY_TRY(Cluster cluster, build_sites(description, catalog));
  ORRERY_RETURN_IF_ERROR(check(cluster));
  return cluster;
}

}  // namespace orrery
