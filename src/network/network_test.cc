#include "network/network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "catalog/catalog.h"
#include "cluster/told_apart.h"

namespace orrery {
namespace {

FabricLevel level(std::string name, std::int64_t accelerators, double gigabytes,
                  double microseconds, double oversubscription = 1,
                  std::optional<LevelTopology> topology = {}) {
  FabricLevel out;
  out.name = std::move(name);
  out.accelerators = accelerators;
  out.bandwidth = BytesPerSecond(gigabytes * 1e9);
  out.latency = Seconds(microseconds * 1e-6);
  out.oversubscription = oversubscription;
  out.topology = std::move(topology);
  return out;
}

Cluster cluster(std::vector<FabricLevel> levels, std::int64_t per_node = 1) {
  Cluster out = *parse_cluster("h100-sxm:8", Catalog::built_in());
  out.levels = std::move(levels);
  out.accelerators = out.levels.back().accelerators;
  out.accelerators_per_node = per_node;
  return out;
}

// Every path between every pair ends where it should and is shorter than twice the height. Spread over
// all of them, a flow puts on each link what it puts on the bundle's share of it.
void check_paths(const Network& net) {
  for (std::uint32_t a = 0; a < net.accelerators(); ++a) {
    for (std::uint32_t b = 0; b < net.accelerators(); ++b) {
      if (a == b) continue;
      const std::uint64_t all = net.paths(a, b);
      ASSERT_GE(all, net.shortest_paths(a, b));
      std::set<LinkPath> different;
      std::vector<double> over_paths(net.links().size());
      std::vector<double> over_bundles(net.links().size());
      for (std::uint64_t k = 0; k < all; ++k) {
        LinkPath path;
        net.append_path(a, b, k, path);
        ASSERT_FALSE(path.empty());
        EXPECT_EQ(net.links()[path.front()].from, a);
        EXPECT_EQ(net.links()[path.back()].to, b);
        for (std::size_t i = 1; i < path.size(); ++i) {
          EXPECT_EQ(net.links()[path[i]].from, net.links()[path[i - 1]].to);
        }
        different.insert(path);
        for (const std::uint32_t l : path) over_paths[l] += 1 / static_cast<double>(all);
      }
      const std::uint64_t shortest = net.shortest_paths(a, b);
      for (std::uint64_t k = 0; k < all; k += shortest) {
        LinkPath path;
        net.append_path(a, b, k, path);
        for (const std::uint32_t l : path) {
          over_bundles[net.bundle(l).first] +=
              static_cast<double>(shortest) / static_cast<double>(all) / net.bundle(l).links;
        }
      }
      for (std::uint32_t l = 0; l < net.links().size(); ++l) {
        EXPECT_NEAR(over_paths[l], over_bundles[net.bundle(l).first], 1e-9) << a << " to " << b;
      }
      EXPECT_EQ(different.size(), all) << a << " to " << b;
    }
  }
}

// A path's latency is that of the innermost level that joins both ends.
void check_latencies(const Network& net) {
  for (std::uint32_t b = 1; b < net.accelerators(); ++b) {
    LinkPath path;
    net.append_path(0, b, 0, path);
    Seconds latency;
    for (const std::uint32_t l : path) latency += net.links()[l].latency;
    EXPECT_NEAR(latency.value(), net.levels()[net.joining_level(0, b)].latency.value(), 1e-12) << b;
  }
}

TEST(Network, OneDomainIsAStar) {
  const auto net = network_of(cluster({level("nvlink", 8, 450, 1)}));
  ASSERT_TRUE(net) << net.error().message;
  EXPECT_EQ(net->vertices(), 9U);
  EXPECT_EQ(net->links().size(), 16U);
  check_paths(*net);
  check_latencies(*net);
  const NetworkFigures figures = figures_of(*net, "");
  EXPECT_DOUBLE_EQ(figures.bisection.value(), 4 * 450e9);
  EXPECT_EQ(figures.diameter, 2);
}

TEST(Network, UplinksCarryWhatOversubscriptionLeaves) {
  const auto net = network_of(cluster({level("nvlink", 4, 450, 1), level("rack", 8, 50, 4),
                                       level("spine", 32, 50, 8, 7, LevelTopology{.switches = 4})},
                                      4));
  ASSERT_TRUE(net) << net.error().message;
  check_paths(*net);
  check_latencies(*net);
  BytesPerSecond uplinks;
  for (const DirectedLink& l : net->links()) {
    if (l.level == 2 && l.from < l.to) uplinks += l.capacity;
  }
  EXPECT_NEAR(uplinks.value(), 4 * 8 * 50e9 / 7, 1);
  EXPECT_NEAR(figures_of(*net, "").bisection.value(), 2 * 8 * 50e9 / 7, 1);
  EXPECT_EQ(net->paths(0, 31), 4U);
}

TEST(Network, PlanesOfAClosKeepTheirSwitches) {
  const auto net = network_of(
      cluster({level("nvlink", 2, 450, 1), level("leaf", 4, 50, 4, 1, LevelTopology{.switches = 2}),
               level("spine", 16, 50, 8, 1, LevelTopology{.switches = 4})},
              2));
  ASSERT_TRUE(net) << net.error().message;
  check_paths(*net);
  check_latencies(*net);
  EXPECT_EQ(net->paths(0, 15), 4U);
  EXPECT_EQ(net->paths(0, 2), 2U);
}

TEST(Network, RailsMeetAtTheSpineOrInTheNode) {
  const LevelTopology rails{.switches = 4, .rails = true};
  const auto joined =
      network_of(cluster({level("nvlink", 4, 450, 1), level("leaf", 16, 50, 4, 1, rails),
                          level("spine", 64, 50, 8, 1, LevelTopology{.switches = 2})},
                         4));
  ASSERT_TRUE(joined) << joined.error().message;
  check_paths(*joined);
  LinkPath path;
  joined->append_path(0, 4, 0, path);  // the same rail
  EXPECT_EQ(path.size(), 2U);
  path.clear();
  joined->append_path(0, 5, 0, path);  // another: by a spine
  EXPECT_EQ(path.size(), 4U);

  const auto apart =
      network_of(cluster({level("nvlink", 4, 450, 1), level("plane", 64, 50, 4, 1, rails)}, 4));
  ASSERT_TRUE(apart) << apart.error().message;
  check_paths(*apart);
  path.clear();
  apart->append_path(0, 5, 0, path);  // by accelerator 1 of the own node
  ASSERT_EQ(path.size(), 4U);
  EXPECT_EQ(apart->links()[path[1]].to, 1U);
}

TEST(Network, GroupsOfADragonflyHaveDirectLinks) {
  const auto net = network_of(
      cluster({level("node", 2, 450, 1), level("group", 8, 25, 2),
               level("system", 40, 25, 3, 2, LevelTopology{.wiring = LevelWiring::mesh})},
              2));
  ASSERT_TRUE(net) << net.error().message;
  check_paths(*net);
  check_latencies(*net);
  EXPECT_EQ(net->shortest_paths(0, 39), 1U);
  EXPECT_EQ(net->paths(0, 39), 4U);  // directly, and by three other groups
  // 2 groups against 3, each pair with a quarter of what a group sends.
  EXPECT_NEAR(figures_of(*net, "").bisection.value(), 6 * 8 * 25e9 / 2 / 4, 1);
}

TEST(Network, TorusGoesAlongEachDimensionTheShortWay) {
  const LevelTopology torus{.wiring = LevelWiring::torus, .dimensions = {4, 4, 2}};
  const auto net = network_of(cluster({level("ici", 32, 240, 1, 1, torus)}));
  ASSERT_TRUE(net) << net.error().message;
  check_paths(*net);
  const NetworkFigures figures = figures_of(*net, "");
  EXPECT_EQ(figures.diameter, 2 + 2 + 1);
  // Eight rings of a dimension of 4 are cut twice; both ports of the dimension of 2 lead across.
  EXPECT_NEAR(figures.bisection.value(), 8 * 2 * 240e9 / 6, 1);
  BytesPerSecond out;
  for (const DirectedLink& l : net->links_from(0)) out += l.capacity;
  EXPECT_NEAR(out.value(), 240e9, 1);
}

// A torus is cut where that is least, in whatever order its dimensions stand.
TEST(Network, BisectionOfATorusIsThatOfItsLongestDimension) {
  for (const std::vector<std::int64_t>& dimensions :
       {std::vector<std::int64_t>{16, 4}, std::vector<std::int64_t>{4, 16}}) {
    const LevelTopology torus{.wiring = LevelWiring::torus, .dimensions = dimensions};
    const auto net = network_of(cluster({level("ici", 64, 200, 1, 1, torus)}));
    ASSERT_TRUE(net) << net.error().message;
    EXPECT_NEAR(net->bisection().rate.value(), 4 * 2 * 50e9, 1);
    EXPECT_EQ(net->bisection().accelerators, 32);
  }
}

// A unit that is not full has the links of a full one, but no more accelerators than it has.
TEST(Network, NoHalfSendsMoreThanItsCards) {
  const auto net = network_of(
      cluster({level("nvlink", 8, 450, 1), level("pod", 32, 50, 2, 1, LevelTopology{.switches = 4}),
               level("spine", 40, 50, 3, 1, LevelTopology{.switches = 4})},
              8));
  ASSERT_TRUE(net) << net.error().message;
  const NetworkFigures figures = figures_of(*net, "");
  EXPECT_NEAR(figures.bisection.value(), 8 * 50e9, 1);
  EXPECT_NEAR(figures.bisection_share, 1, 1e-9);
}

// What leaves a pod passes its switch, however fast the spine is.
TEST(Network, ASlowInnerLevelLimitsTheCards) {
  const auto net = network_of(
      cluster({level("nvlink", 8, 450, 1), level("pod", 32, 10, 2), level("spine", 64, 50, 3)}, 8));
  ASSERT_TRUE(net) << net.error().message;
  for (const DirectedLink& l : net->links()) {
    if (l.level != 1) continue;
    EXPECT_NEAR(l.capacity.value(), 10e9, 1);
  }
}

TEST(Network, RefusesMoreLinksThanAGraphHolds) {
  const auto net = network_of(cluster(
      {level("nvlink", 8, 450, 1), level("pod", 32, 50, 2, 1, LevelTopology{.switches = 4096}),
       level("spine", 64, 50, 3, 1, LevelTopology{.switches = 4095})},
      8));
  ASSERT_FALSE(net);
  EXPECT_NE(net.error().message.find("links between accelerators and switches are more than"),
            std::string::npos)
      << net.error().message;
}

TEST(Network, EveryClusterOfTheCatalogIsAGraph) {
  for (const std::string& name : Catalog::built_in().names("clusters")) {
    const auto described = parse_cluster(name, Catalog::built_in());
    ASSERT_TRUE(described) << name;
    const auto net = network_of(*described);
    ASSERT_TRUE(net) << name << ": " << net.error().message;
    const NetworkFigures figures = figures_of(*net, "");
    EXPECT_GT(figures.bisection.value(), 0) << name;
    EXPECT_LE(figures.bisection_share, 1 + 1e-9) << name;
    // Uplinks of all units of the outermost level carry its rate for all accelerators.
    if (described->levels.size() < 3) continue;
    BytesPerSecond sum;
    for (const DirectedLink& l : net->links()) {
      if (l.level + 1 == described->levels.size() && l.from < l.to) sum += l.capacity;
    }
    const FabricLevel& top = described->levels.back();
    const double shares = top.topology && top.topology->wiring == LevelWiring::mesh ? 2 : 1;
    EXPECT_NEAR(shares * sum.value() /
                    (delivery(top).rate.value() * static_cast<double>(described->accelerators)),
                1, 0.15)
        << name;
  }
}

// Whatever is accepted has a path for every choice between every two accelerators.
TEST(Network, RandomTopologiesAreConnected) {
  std::mt19937_64 engine(14);
  const auto one_of = [&](std::initializer_list<std::int64_t> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(engine() % values.size()));
  };
  int accepted = 0;
  for (int i = 0; i < 1500; ++i) {
    std::vector<FabricLevel> levels;
    std::int64_t size = one_of({1, 2, 4, 6});
    const std::int64_t node = size;
    const auto count = static_cast<std::size_t>(one_of({1, 2, 3, 4}));
    for (std::size_t l = 0; l < count; ++l) {
      LevelTopology topology;
      topology.switches = one_of({1, 1, 2, 3, 4});
      topology.rails = one_of({0, 0, 1}) == 1;
      if (one_of({0, 0, 0, 1}) == 1) topology = {.wiring = LevelWiring::mesh};
      if (l == 0 && one_of({0, 0, 1}) == 1) {
        topology = {.wiring = LevelWiring::torus, .dimensions = {size}};
      }
      levels.push_back(level("l" + std::to_string(l), size, 50, static_cast<double>(l + 1),
                             static_cast<double>(one_of({1, 1, 2})), topology));
      // The last unit of a level need not be full.
      const bool last = l + 2 == count;
      size = size * one_of({2, 3, 4}) + (last && l > 0 ? node * one_of({0, 1}) : 0);
      if (size > 60) break;
    }
    const auto net = network_of(cluster(levels, node));
    if (!net) continue;
    ++accepted;
    std::string shown;
    for (const FabricLevel& l : levels) {
      shown += std::to_string(l.accelerators) + (l.topology->rails ? " rails " : " ") +
               std::string(to_text(l.topology->wiring)) + " " +
               std::to_string(l.topology->switches) + "; ";
    }
    SCOPED_TRACE(shown);
    check_paths(*net);
    const NetworkFigures figures = figures_of(*net, "");
    if (net->accelerators() > 1) {
      EXPECT_GT(figures.bisection.value(), 0);
      EXPECT_LE(figures.bisection_share, 1 + 1e-9);
    }
    if (HasFailure()) FAIL() << "topology " << i;
  }
  EXPECT_GT(accepted, 300);
}

std::vector<double> capacities_of(const Network& net, std::uint32_t from, std::uint32_t to) {
  LinkPath path;
  net.append_path(from, to, 0, path);
  std::vector<double> out;
  for (const std::uint32_t l : path) out.push_back(net.links()[l].capacity.value());
  return out;
}

TEST(Network, EqualSitesToldApartAreOneNetwork) {
  for (const char* name : {"h100-sxm:16+h100-sxm:16@metro-pair", "l40s:8+l40s:8@metro-pair"}) {
    const Cluster even = *parse_cluster(name, Catalog::built_in());
    const auto whole = network_of(even);
    const auto apart = network_of(told_apart(even));
    ASSERT_TRUE(whole) << whole.error().message;
    ASSERT_TRUE(apart) << apart.error().message;
    EXPECT_EQ(apart->vertices(), whole->vertices());
    EXPECT_EQ(apart->links().size(), whole->links().size());
    check_paths(*apart);
    for (std::uint32_t a = 0; a < apart->accelerators(); ++a) {
      for (std::uint32_t b = 0; b < apart->accelerators(); ++b) {
        if (a == b) continue;
        EXPECT_EQ(capacities_of(*apart, a, b), capacities_of(*whole, a, b)) << a << " to " << b;
        EXPECT_EQ(apart->paths(a, b), whole->paths(a, b));
      }
    }
    const NetworkFigures one = figures_of(*whole, "");
    const NetworkFigures two = figures_of(*apart, "");
    EXPECT_EQ(two.bisection, one.bisection);
    EXPECT_EQ(two.bisection_share, one.bisection_share);
    EXPECT_EQ(two.diameter, one.diameter);
    EXPECT_DOUBLE_EQ(two.longest_latency.value(), one.longest_latency.value());
    EXPECT_EQ(two.levels.size(), 2 * one.levels.size());
  }
}

// Each site has its own links, and what crosses gets the slower card and half of either link's latency.
TEST(Network, SitesThatDifferKeepTheirLevels) {
  const Cluster sites =
      *parse_cluster("h100-sxm:16+a100-80gb-sxm:8+l40s:4@metro-pair", Catalog::built_in());
  const auto net = network_of(sites);
  ASSERT_TRUE(net) << net.error().message;
  check_paths(*net);
  EXPECT_EQ(net->site_of(15), 0U);
  EXPECT_EQ(net->site_of(16), 1U);
  EXPECT_EQ(net->site_of(27), 2U);
  for (const std::uint32_t b : {16U, 24U}) {
    const std::size_t other = net->site_of(b);
    const FabricLevel& near = levels_of(sites, 0).back();
    const FabricLevel& far = levels_of(sites, other).back();
    LinkPath path;
    net->append_path(0, b, 0, path);
    Seconds latency;
    for (const std::uint32_t l : path) latency += net->links()[l].latency;
    EXPECT_DOUBLE_EQ(latency.value(), (near.latency / 2 + far.latency / 2).value());
    const std::vector<double> capacities = capacities_of(*net, 0, b);
    EXPECT_NEAR(std::ranges::min(capacities),
                std::min(near.bandwidth * near.efficiency, far.bandwidth * far.efficiency).value(),
                1);
    EXPECT_EQ(net->levels()[net->joining_level(0, b)].name, "metro-pair");
    EXPECT_EQ(net->levels()[net->joining_level(b, 0)], far);
  }
  // 16 accelerators in one half, 12 in the other, joined by the one link of the first site.
  const NetworkFigures figures = figures_of(*net, "");
  EXPECT_NEAR(figures.bisection.value(), 400e9 / 8, 1);
  EXPECT_EQ(figures.bisection_accelerators, 12);
  EXPECT_EQ(figures.levels.front().site, "h100-sxm:16");
  EXPECT_EQ(figures.levels.back().site, "l40s:4");
}

TEST(Network, RefusesATopologyOfTheLinkBetweenSitesThatDiffer) {
  Cluster sites = *parse_cluster("h100-sxm:8+a100-80gb-sxm:8@metro-pair", Catalog::built_in());
  sites.levels.back().topology = LevelTopology{.switches = 2};
  const auto net = network_of(sites);
  ASSERT_FALSE(net);
  EXPECT_EQ(net.error().message, "the link between sites that differ has a topology");
  EXPECT_FALSE(net.error().hint.empty());
}

struct Refused {
  std::vector<FabricLevel> levels;
  std::string message;
};

TEST(Network, RefusesWhatCannotBeWired) {
  using Topology = LevelTopology;
  const FabricLevel node = level("node", 4, 450, 1);
  const std::vector<Refused> cases = {
      {{level("ici", 32, 240, 1, 1, Topology{.wiring = LevelWiring::torus, .dimensions = {4, 4}})},
       "the dimensions hold 16 of 32 accelerators"},
      {{node, level("x", 16, 50, 2, 1, Topology{.wiring = LevelWiring::torus, .dimensions = {4}})},
       "a torus of units"},
      {{level("node", 3, 450, 1),
        level("plane", 12, 50, 2, 1, Topology{.switches = 4, .rails = true})},
       "the network is disconnected: 4 rails that only the scale-up links join, which reach 3 "
       "accelerators"},
      {{node, level("leaf", 8, 50, 2),
        level("spine", 16, 50, 2, 1, Topology{.switches = 4, .rails = true})},
       "rails of a level whose units have none"},
      {{node, level("leaf", 8, 50, 2, 1, Topology{.switches = 4, .rails = true}),
        level("spine", 16, 50, 2, 1, Topology{.switches = 6, .rails = true})},
       "6 switches for 4 rails"},
      {{node, level("a", 8, 50, 2, 1, Topology{.wiring = LevelWiring::mesh}),
        level("b", 16, 50, 3)},
       "a mesh of units below another level"},
      {{level("node", 4, 450, 1, 1, Topology{.rails = true})}, "rails of the scale-up level"},
      {{node, level("leaf", 10, 50, 2), level("spine", 40, 50, 3)},
       "units of 10 accelerators cut those of 4 below"},
      {{node, level("leaf", 8, 0, 2)}, "the bandwidth of a level must be greater than 0"},
      {{node, level("leaf", 8, 50, 2, 0.5)}, "an oversubscription outside 1 to 1000000"},
      {{node, level("leaf", 8, 50, 2, 1, Topology{.switches = 0})}, "0 switches"},
      {{node, level("leaf", 8, 50, 2, 1, Topology{.wiring = LevelWiring::mesh, .switches = 2})},
       "a mesh has no switches of its own"},
      {{level("ici", 8, 50, 2, 1, Topology{.wiring = LevelWiring::torus})},
       "a torus without dimensions"},
      {{level("ici", 8, 50, 2, 1, Topology{.wiring = LevelWiring::torus, .dimensions = {-8}})},
       "impossible dimensions of a torus"},
  };
  for (const Refused& c : cases) {
    const auto net = network_of(cluster(c.levels));
    ASSERT_FALSE(net) << c.message;
    EXPECT_EQ(net.error().message, c.message);
    EXPECT_FALSE(net.error().hint.empty()) << c.message;
  }
  Cluster large = cluster({node});
  large.accelerators = large.levels[0].accelerators = 2'000'000;
  EXPECT_EQ(network_of(large).error().message,
            "2000000 accelerators are more than a network graph holds");
}

}  // namespace
}  // namespace orrery
