#include "cluster/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <tuple>

#include "cluster/cluster_description.h"

namespace orrery {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Cluster parse(const std::string& text) {
  auto cluster = parse_cluster(text, Catalog::built_in());
  EXPECT_TRUE(cluster) << (cluster ? "" : cluster.error().text());
  return cluster.value_or(Cluster{});
}

std::string error_of(const std::string& text) {
  const auto cluster = parse_cluster(text, Catalog::built_in());
  return cluster ? "accepted" : cluster.error().text();
}

Result<Cluster> from_yaml(const std::string& text) {
  auto document = parse_yaml(text, "test.yaml");
  if (!document) return fail(document.error());
  return read_cluster(*document, Catalog::built_in());
}

std::string yaml_error(const std::string& text) {
  const auto cluster = from_yaml(text);
  return cluster ? "accepted" : cluster.error().text();
}

TEST(ShortForm, GivesTheUsualServerAndAFullBisectionNetwork) {
  const Cluster c = parse("h100-sxm:1024");
  EXPECT_EQ(c.name, "h100-sxm:1024");
  EXPECT_EQ(c.accelerators, 1024);
  EXPECT_EQ(c.accelerators_per_node, 8);
  ASSERT_THAT(c.levels, SizeIs(2));
  EXPECT_EQ(c.levels[0].name, "nvlink-4");
  EXPECT_EQ(c.levels[0].accelerators, 8);
  EXPECT_EQ(c.levels[0].bandwidth, BytesPerSecond(450e9));
  EXPECT_TRUE(c.levels[0].in_switch_reduction);
  EXPECT_EQ(c.levels[1].name, "infiniband-ndr");
  EXPECT_EQ(c.levels[1].accelerators, 1024);
  EXPECT_EQ(c.levels[1].bandwidth, BytesPerSecond(50e9));  // one 400 Gb/s card per GPU
  EXPECT_EQ(c.levels[1].oversubscription, 1);
  EXPECT_FALSE(c.levels[1].in_switch_reduction);
}

// 64-port switches: 32 nodes on one leaf a rail, 2048 accelerators on two tiers, 65536 on three;
// every further tier is crossed twice.
TEST(ShortForm, LatencyGrowsByTwoSwitchesATier) {
  const auto latency = [](const char* text) { return parse(text).levels.back().latency; };
  const Seconds one = latency("h100-sxm:256");
  const Seconds step = Seconds(2 * 0.2e-6);  // catalog/fabrics/infiniband-ndr.yaml: switch_latency
  EXPECT_EQ(one, Seconds(1.3e-6));           // the same: small_message_latency
  EXPECT_DOUBLE_EQ((latency("h100-sxm:264") - one).value(), step.value());
  EXPECT_DOUBLE_EQ((latency("h100-sxm:2048") - one).value(), step.value());
  EXPECT_DOUBLE_EQ((latency("h100-sxm:2056") - one).value(), 2 * step.value());
  EXPECT_DOUBLE_EQ((latency("h100-sxm:65536") - one).value(), 2 * step.value());
  EXPECT_DOUBLE_EQ((latency("h100-sxm:65544") - one).value(), 3 * step.value());
}

TEST(ShortForm, ClipsLevelsToSmallClusters) {
  for (const int n : {1, 3, 8}) {
    const Cluster c = parse("h100-sxm:" + std::to_string(n));
    ASSERT_THAT(c.levels, SizeIs(1));
    EXPECT_EQ(c.levels[0].accelerators, n);
    EXPECT_EQ(c.accelerators_per_node, n);
  }
}

TEST(ShortForm, KnowsDomainsOfSeveralNodes) {
  const Cluster rack = parse("gb200:72");
  EXPECT_EQ(rack.accelerators_per_node, 4);
  ASSERT_THAT(rack.levels, SizeIs(1));
  EXPECT_EQ(rack.levels[0].accelerators, 72);

  const Cluster racks = parse("gb200-nvl72:576");
  ASSERT_THAT(racks.levels, SizeIs(2));
  EXPECT_EQ(racks.levels[0].accelerators, 72);

  const Cluster even = parse("gb200:256");  // 4 racks of 64, as people run them
  EXPECT_EQ(even.levels[0].accelerators, 64);
  EXPECT_THAT(even.assumed, Contains(HasSubstr("72 is filled with 64")));
}

TEST(ShortForm, InSwitchReductionBeginsWithHopper) {
  EXPECT_FALSE(parse("a100-80gb-sxm:16").levels[0].in_switch_reduction);
  EXPECT_TRUE(parse("h200-sxm:16").levels[0].in_switch_reduction);
  EXPECT_TRUE(parse("gb300:72").levels[0].in_switch_reduction);
  EXPECT_FALSE(parse("mi300x:16").levels[0].in_switch_reduction);
}

TEST(ShortForm, CardsWithoutScaleUpLinksMeetOverPcie) {
  const Cluster c = parse("l40s:16");
  EXPECT_EQ(c.levels[0].name, "pcie-4-x16");
  EXPECT_EQ(c.levels[0].accelerators, 8);
  EXPECT_EQ(c.levels[0].bandwidth, BytesPerSecond(32e9));
}

TEST(ShortForm, SaysWhatItAssumed) {
  EXPECT_THAT(parse("h100-sxm:1024").assumed, Contains(HasSubstr("full bisection")));
  EXPECT_THAT(parse("mi300x:64").assumed, Contains(HasSubstr("latency of infinity-fabric-mesh")));
  EXPECT_THAT(parse("rtx-4090:16").assumed, Contains(HasSubstr("generic-pcie-8")));
  EXPECT_THAT(parse("a800-80gb-sxm:16").assumed, Contains(HasSubstr("dgx-a100")));
  EXPECT_EQ(parse("a800-80gb-sxm:16").levels[0].bandwidth, BytesPerSecond(200e9));
  EXPECT_THAT(parse("meta-h100-24k-roce").assumed, IsEmpty());
}

TEST(ShortForm, AcceptsNodesAliasesAndBinaryCounts) {
  EXPECT_EQ(parse("aws-p5:512").levels[1].name, "efa-v2");
  EXPECT_EQ(parse("h100:16").name, "h100-sxm:16");
  EXPECT_EQ(parse("H100_SXM:16").name, "h100-sxm:16");
  EXPECT_EQ(parse("h100:16Ki").accelerators, 16384);
}

TEST(ShortForm, RefusesCountsInWords) {
  EXPECT_THAT(error_of("h100-sxm:1001"),
              HasSubstr("1001 accelerators do not fill nodes of 8 (1000 or 1008 do)"));
  EXPECT_THAT(error_of("h100-sxm:0"), HasSubstr("not a whole number above zero"));
  EXPECT_THAT(error_of("h100-sxm:-8"), HasSubstr("not a whole number above zero"));
  EXPECT_THAT(error_of("h100-sxm:1.5"), HasSubstr("not a whole number above zero"));
  EXPECT_THAT(error_of("h100-sxm:nan"), HasSubstr("not finite"));
  EXPECT_THAT(error_of("h100-sxm:inf"), HasSubstr("not finite"));
  EXPECT_THAT(error_of("h100-sxm:1e18"), HasSubstr("at most 10000000"));
  EXPECT_THAT(error_of("h100-sxm:1e999"), HasSubstr("out of range"));
  EXPECT_THAT(error_of("h100-sxm:"), HasSubstr("does not begin with a number"));
  EXPECT_THAT(error_of("h100-sxm:many"), HasSubstr("does not begin with a number"));
  EXPECT_THAT(error_of("h100-sxm"), HasSubstr("the number of accelerators of h100-sxm is missing "
                                              "(write it after a colon, such as h100-sxm:64)"));
}

TEST(ShortForm, SuggestsTheNearestName) {
  EXPECT_THAT(error_of("h10-sxm:8"), HasSubstr("did you mean 'h100-sxm'?"));
  EXPECT_THAT(error_of("meta-h100-24k-rocee"), HasSubstr("did you mean 'meta-h100-24k-roce'?"));
  EXPECT_THAT(error_of(""), HasSubstr("known: "));
  EXPECT_THAT(error_of(":8"), HasSubstr("known: "));
}

// Gangidi et al., SIGCOMM 2024: racks of two servers, pods of 3072 at full bisection, 1:7 above.
TEST(NamedCluster, HasThePublishedLevels) {
  const Cluster c = parse("meta-h100-24k-roce");
  EXPECT_EQ(c.accelerators, 24576);
  ASSERT_THAT(c.levels, SizeIs(4));
  EXPECT_EQ(c.levels[1].accelerators, 16);
  EXPECT_EQ(c.levels[2].accelerators, 3072);
  EXPECT_EQ(c.levels[2].oversubscription, 1);
  EXPECT_EQ(c.levels[3].accelerators, 24576);
  EXPECT_EQ(c.levels[3].oversubscription, 7);
  for (std::size_t i = 1; i < c.levels.size(); ++i) {
    EXPECT_GT(c.levels[i].latency, c.levels[i - 1].latency);
  }
}

TEST(NamedCluster, MayBeUsedInPart) {
  const Cluster most = parse("meta-h100-24k-roce:16384");
  EXPECT_EQ(most.name, "meta-h100-24k-roce:16384");
  EXPECT_EQ(most.levels.back().accelerators, 16384);
  EXPECT_EQ(most.levels.back().oversubscription, 7);

  const Cluster pod = parse("meta-h100-24k-roce:3072");
  ASSERT_THAT(pod.levels, SizeIs(3));  // inside one pod the 1:7 level is not crossed
  EXPECT_EQ(pod.levels.back().oversubscription, 1);

  EXPECT_THAT(parse("meta-h100-24k-roce:8").levels, SizeIs(1));
  EXPECT_THAT(error_of("meta-h100-24k-roce:24584"), HasSubstr("more than the 24576"));
  EXPECT_THAT(error_of("meta-h100-24k-roce:100"), HasSubstr("96 or 104 do"));
}

TEST(NamedCluster, UsesTheFiguresItsEntryGives) {
  const Cluster c = parse("calculon-a100-4096");
  ASSERT_THAT(c.levels, SizeIs(2));
  EXPECT_EQ(c.levels[0].efficiency, 0.65);
  EXPECT_EQ(c.levels[0].latency, Seconds(10e-6));
  EXPECT_EQ(c.levels[1].efficiency, 0.9);
  EXPECT_EQ(parse("bloom-jean-zay").levels[1].bandwidth, BytesPerSecond(6.25e9));
}

TEST(ClusterFile, RefersToTheCatalogAndOverridesIt) {
  const auto c = from_yaml(R"(
name: mine
node: dgx-h100
fabric: roce-400g
accelerators: 512
levels:
  - {name: leaf, accelerators: 128, oversubscription: 1}
  - {name: spine, accelerators: 512, oversubscription: 2, latency: 9 us, bandwidth: 200 Gb/s}
)");
  ASSERT_TRUE(c) << c.error().text();
  ASSERT_THAT(c->levels, SizeIs(3));
  EXPECT_EQ(c->levels[0].bandwidth, BytesPerSecond(450e9));
  EXPECT_EQ(c->levels[1].bandwidth, BytesPerSecond(50e9));
  EXPECT_EQ(c->levels[1].efficiency, 0.93);  // catalog/fabrics/roce-400g.yaml
  EXPECT_EQ(c->levels[2].bandwidth, BytesPerSecond(25e9));
  EXPECT_EQ(c->levels[2].latency, Seconds(9e-6));
  EXPECT_EQ(c->levels[2].oversubscription, 2);
}

// A specification is taken for its cluster; one that names another is not followed.
TEST(ClusterFile, MayBeASpecification) {
  const std::string path = testing::TempDir() + "specification.yaml";
  const auto write = [&](const std::string& cluster) {
    std::ofstream(path) << "model: llama-3-8b\ncluster: " << cluster << "\n";
  };
  write("h100-sxm:64");
  EXPECT_EQ(parse(path), parse("h100-sxm:64"));
  EXPECT_EQ(parse(path + ":32"), parse("h100-sxm:32"));
  write("{name: h100-sxm, gpus: 16}");
  EXPECT_EQ(parse(path), parse("h100-sxm:16"));
  write(path);
  EXPECT_THAT(error_of(path), HasSubstr("unknown field 'model' in cluster"));
  std::filesystem::remove(path);
}

TEST(ClusterFile, NamesOfLevelsDoNotChangeWhatTheyAre) {
  const auto plain = parse("h100-sxm:512");
  const auto described = from_yaml(R"(
name: mine
node: dgx-h100
accelerators: 512
levels:
  - {name: spine, accelerators: 512}
)");
  ASSERT_TRUE(described) << described.error().text();
  EXPECT_EQ(technology_of(plain.levels[1]), "infiniband");
  EXPECT_EQ(fabric_of(described->levels[1]), plain.levels[1].name);
  FabricLevel renamed = described->levels[1];
  renamed.name = plain.levels[1].name;
  renamed.fabric.clear();
  EXPECT_EQ(renamed, plain.levels[1]);
  FabricLevel level;
  for (const auto& [name, technology] :
       {std::pair("infiniband-hdr", "infiniband"), std::pair("omni-path-100g", "omni-path"),
        std::pair("efa-v2", "efa"), std::pair("network", "network"),
        std::pair("tcpxo-200g", "tcpxo")}) {
    level.name = name;
    EXPECT_EQ(technology_of(level), technology);
  }
}

TEST(ClusterFile, StatesThePathOfPcieCardsThroughTheHost) {
  const auto read = [](const std::string& path, const std::string& accelerator = "l40s") {
    return from_yaml("{name: c, accelerator: " + accelerator +
                     ", accelerators: 16, host_path: " + path + "}");
  };
  const auto stated = read("{direct_ranks: 4, socket_ranks: 4, socket: 12 GB/s, node: 5 GB/s}");
  ASSERT_TRUE(stated) << stated.error().text();
  EXPECT_EQ(stated->host_path, (HostPath{4, 4, BytesPerSecond(12e9), BytesPerSecond(5e9)}));
  EXPECT_EQ(part_of(*stated, 8)->host_path, stated->host_path);
  EXPECT_EQ(parse_cluster("l40s:16", Catalog::built_in())->host_path, std::nullopt);

  const auto again = from_yaml(to_yaml(Codec<Cluster>::write(*stated)));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, *stated);

  EXPECT_EQ(
      read("{direct_ranks: 4, socket_ranks: 2, socket: 12 GB/s, node: 5 GB/s}").error().text(),
      "test.yaml: host_path: a path through the host needs 0 < direct_ranks <= socket_ranks "
      "(direct_ranks: 0 where all reach each other directly)");
  EXPECT_EQ(read("{direct_ranks: 2, socket_ranks: 4}").error().text(),
            "test.yaml: host_path: a path through the host needs its rates (socket: 6.57 GB/s, "
            "node: 1.65 GB/s)");
  EXPECT_EQ(
      read("{direct_ranks: 2, socket_ranks: 4, socket: 1 GB/s, node: 5 GB/s}").error().text(),
      "test.yaml: host_path: across sockets no path is faster than on one (node at most socket)");
  EXPECT_EQ(
      read("{direct_ranks: 0}", "h100-sxm").error().text(),
      "test.yaml: host_path: the accelerators of a node are joined by 'nvlink-4', not over the "
      "host (leave it out where the first level is not PCIe)");
}

TEST(ClusterFile, JoinsSitesByALink) {
  const auto c = from_yaml(R"(
name: two-sites
sites: [h100-sxm:1024, h100-sxm:1024]
link: metro-pair
link_bandwidth: 3.2 Tb/s
)");
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_EQ(c->accelerators, 2048);
  ASSERT_THAT(c->levels, SizeIs(3));
  const FabricLevel& top = c->levels.back();
  EXPECT_EQ(top.name, "metro-pair");
  EXPECT_EQ(top.accelerators, 2048);
  // No faster than into the network of a site; all of a site divide the link.
  EXPECT_EQ(top.bandwidth, c->levels[1].bandwidth);
  EXPECT_DOUBLE_EQ(delivery(top).rate.value(), 3.2e12 / 8 / 1024 * (1 - 1e-8));
  EXPECT_DOUBLE_EQ(delivery(top, 1e-3).rate.value(),
                   top.bandwidth.value() * top.efficiency * (1 - 1e-8));
  EXPECT_DOUBLE_EQ(top.latency.value(), 0.2e-3);  // half of catalog/links/metro-pair.yaml
}

TEST(ShortForm, JoinsSitesByALink) {
  const Cluster c = parse("h100-sxm:1024+h100-sxm:1024@metro-pair");
  EXPECT_EQ(c.accelerators, 2048);
  EXPECT_EQ(c.levels.back().name, "metro-pair");
  EXPECT_EQ(c.levels.back().transport->packet_drop_rate, 1e-8);
  EXPECT_THAT(error_of("h100-sxm:8+h100-sxm:8"), HasSubstr("@metro-pair"));
  EXPECT_THAT(error_of("h100-sxm:8+@metro-pair"), HasSubstr("sites[1]"));
  EXPECT_THAT(error_of("h100-sxm:8+h100-sxm:8@metro-pai"), HasSubstr("'metro-pair'"));
  EXPECT_THAT(error_of("h100-sxm:8@metro-pair+h100-sxm:8@metro-pair"),
              HasSubstr("sites[0]: a site cannot have sites of its own"));
  EXPECT_THAT(error_of(std::string(60000, '@')), HasSubstr("a site cannot have sites of its own"));
}

TEST(ClusterFile, GivesSitesLinksOfTheirOwn) {
  const auto c = from_yaml(
      "name: peers\nsites: [\"h100-sxm:8\", \"h100-sxm:8\", \"h100-sxm:8\"]\n"
      "link_bandwidths: [80 Gb/s, 80 Gb/s, 8 Gb/s]\nlink_round_trip_time: 1 ms\n");
  ASSERT_TRUE(c) << c.error().text();
  ASSERT_EQ(site_count(*c), 3U);
  const auto rate = [&](std::size_t site) { return delivery(levels_of(*c, site).back()).rate; };
  EXPECT_DOUBLE_EQ(rate(0).value(), 10e9 / 8);
  EXPECT_DOUBLE_EQ(rate(1).value(), 10e9 / 8);
  EXPECT_DOUBLE_EQ(rate(2).value(), 1e9 / 8);
  EXPECT_EQ(
      yaml_error("name: peers\nsites: [\"h100-sxm:8\", \"h100-sxm:8\"]\n"
                 "link_bandwidths: [80 Gb/s]\nlink_round_trip_time: 1 ms\n"),
      "test.yaml: link_bandwidths: link_bandwidths has 1 values for 2 sites (give one for each "
      "site, or one link_bandwidth for all)");
  EXPECT_EQ(
      yaml_error("name: peers\nsites: [\"h100-sxm:8\", \"h100-sxm:8\"]\n"
                 "link_bandwidths: [80 Gb/s, 8 Gb/s]\nlink_bandwidth: 8 Gb/s\n"),
      "test.yaml: link_bandwidths: link_bandwidth and link_bandwidths are both given (keep one "
      "of them)");
  EXPECT_THAT(yaml_error("name: peers\nsites: [\"h100-sxm:8\", \"h100-sxm:8\"]\n"
                         "link_bandwidths: [80 Gb/s, 0 Gb/s]\nlink_round_trip_time: 1 ms\n"),
              HasSubstr("link_bandwidths[1]: the bandwidth between the sites must be greater"));
  EXPECT_THAT(check_alike(*part_of(*c, 24), "a replay").error().text(),
              HasSubstr("h100-sxm:8, which sends 10.0 GB/s to other sites; h100-sxm:8, which sends "
                        "1.00 GB/s to other sites"));
}

// A lossy fabric inside a site: what go-back-n leaves of 50 GB/s with 20 us there and back.
TEST(ClusterFile, SaysHowMessagesTravelOnALevel) {
  const auto c = from_yaml(
      "name: lossy\nnode: dgx-h100\naccelerators: 64\nlevels:\n"
      "  - {name: leaf, accelerators: 64, efficiency: 1, latency: 10 us,\n"
      "     transport: {packet_drop_rate: 1e-4, recovery: go-back-n}}\n"
      "provenance: {source: test}\n");
  ASSERT_TRUE(c) << c.error().text();
  const double packets = 50e9 * 20e-6 / 4096;
  EXPECT_DOUBLE_EQ(delivery(c->levels[1]).rate.value(),
                   50e9 * (1 - 1e-4) / (1 - 1e-4 + 1e-4 * packets));
  EXPECT_THAT(yaml_error("name: lossy\nnode: dgx-h100\naccelerators: 64\nlevels:\n"
                         "  - {name: leaf, accelerators: 64, transport: {packet_drop_rate: 1}}\n"
                         "provenance: {source: test}\n"),
              HasSubstr("a packet drop rate outside 0 to 0.5"));
}

// 256 H100s in nodes of 8 and 32 L40S in theirs; every site sees the link beside its own levels.
TEST(ClusterFile, KeepsSitesThatDiffer) {
  const auto c = from_yaml(
      "name: mixed\nsites: [h100-sxm:256, h100-sxm:256, l40s:32]\nlink: metro-pair\n"
      "link_bandwidth: 3.2 Tb/s\n");
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_EQ(c->accelerators, 544);
  ASSERT_EQ(site_count(*c), 3U);
  EXPECT_EQ(name_of(*c, 0), "h100-sxm:256");
  EXPECT_EQ(name_of(*c, 2), "l40s:32");
  EXPECT_EQ(accelerators_of(*c, 1), 256);
  EXPECT_EQ(accelerators_of(*c, 2), 32);
  EXPECT_EQ(at_site(*c, 1).levels, at_site(*c, 0).levels);
  const Cluster last = at_site(*c, 2);
  EXPECT_EQ(last.accelerator.name, "l40s");
  EXPECT_EQ(last.accelerators, 544);
  EXPECT_TRUE(last.further_sites.empty());
  const FabricLevel& link = last.levels.back();
  EXPECT_EQ(link.name, "metro-pair");
  EXPECT_EQ(link.accelerators, 544);
  const double own = link.bandwidth.value() * link.efficiency;
  EXPECT_DOUBLE_EQ(link.oversubscription, std::max(1.0, own * 32 / (3.2e12 / 8)));
  // What orrery writes of it is read as the same cluster.
  const auto again = read_cluster(Document{"again", non_default_fields(*c)}, Catalog::built_in());
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, *c);
  EXPECT_EQ(part_of(*c, 256)->name, "h100-sxm:256");
  EXPECT_EQ(accelerators_of(*part_of(*c, 256), 0), 256);
}

// The first accelerators of sites, with nobody beside them, are those sites written out.
TEST(ClusterFile, HasItsLinkToItselfWhereACountIsBehindIt) {
  for (const auto& [whole, count, part] : {std::tuple("h100-sxm:8+a100-80gb-sxm:16@metro-pair", 16,
                                                      "h100-sxm:8+a100-80gb-sxm:8@metro-pair"),
                                           std::tuple("h100-sxm:8+a100-80gb-sxm:64@metro-pair", 40,
                                                      "h100-sxm:8+a100-80gb-sxm:32@metro-pair")}) {
    const Cluster counted = *part_of(parse(whole), count);
    const Cluster written = parse(part);
    EXPECT_EQ(counted.name, written.name);
    ASSERT_EQ(site_count(counted), site_count(written));
    for (std::size_t s = 0; s < site_count(written); ++s) {
      const FabricLevel& link = levels_of(written, s).back();
      ASSERT_EQ(levels_of(counted, s).size(), levels_of(written, s).size());
      const FabricLevel& left = levels_of(counted, s).back();
      EXPECT_NEAR(left.bandwidth / link.bandwidth, 1, 1e-12);
      EXPECT_EQ(left.efficiency, link.efficiency);
      EXPECT_NEAR(left.oversubscription / link.oversubscription, 1, 1e-12);
    }
  }
}

std::vector<std::uint32_t> numbers(std::uint32_t first, std::uint32_t end) {
  std::vector<std::uint32_t> out(end - first);
  std::iota(out.begin(), out.end(), first);
  return out;
}

// A part inside a site is that site's, without the link; one over several has its part of each, and
// levels that join no more than those inside them are gone.
TEST(Cluster, ConsistsOfPartsOfItsSites) {
  const Cluster whole = parse("h100-sxm:64+a100-80gb-sxm:64+l40s:16@metro-pair");
  const auto inside = part_of(whole, numbers(64, 96));
  ASSERT_TRUE(inside);
  const Cluster by_itself = parse("a100-80gb-sxm:32");
  EXPECT_EQ(inside->name, "a100-80gb-sxm:32");
  EXPECT_EQ(inside->levels, by_itself.levels);
  EXPECT_EQ(inside->accelerator, by_itself.accelerator);
  EXPECT_TRUE(inside->further_sites.empty());
  EXPECT_TRUE(check(*inside));

  const auto over = part_of(whole, numbers(56, 132));
  ASSERT_TRUE(over);
  EXPECT_TRUE(check(*over));
  EXPECT_EQ(over->name, "h100-sxm:8+a100-80gb-sxm:64+l40s:4@metro-pair");
  ASSERT_EQ(site_count(*over), 3U);
  EXPECT_EQ(accelerators_of(*over, 0), 8);
  EXPECT_EQ(levels_of(*over, 0).size(), 2U);  // one node and the link
  EXPECT_EQ(levels_of(*over, 1).size(), 3U);
  EXPECT_EQ(levels_of(*over, 2).back().accelerators, 76);
  EXPECT_EQ(at_site(*over, 2).accelerators_per_node, 4);
  for (std::size_t s = 0; s < 3; ++s) {
    EXPECT_EQ(delivery(levels_of(*over, s).back()).rate, delivery(levels_of(whole, s).back()).rate);
  }
  EXPECT_EQ(*part_of(whole, numbers(0, 144)), whole);
  EXPECT_THAT(part_of(whole, numbers(56, 76)).error().text(),
              HasSubstr("12 accelerators do not fill nodes of 8"));
}

// Of nodes in several pods, as many are in one pod as in the fullest.
TEST(Cluster, HasInEveryUnitAsManyOfAPartAsTheFullest) {
  const Cluster whole =
      parse(std::string(ORRERY_SOURCE_DIR) + "/examples/oversubscribed-pods.yaml");
  std::vector<std::uint32_t> spread;  // two nodes of the first pod, one of the second
  for (const std::uint32_t first : {0U, 16U, 64U}) {
    for (std::uint32_t a = 0; a < 8; ++a) spread.push_back(first + a);
  }
  const auto part = part_of(whole, spread);
  ASSERT_TRUE(part);
  EXPECT_TRUE(check(*part));
  ASSERT_EQ(part->levels.size(), 3U);
  EXPECT_EQ(part->levels[0].accelerators, 8);
  EXPECT_EQ(part->levels[1].accelerators, 16);
  EXPECT_EQ(part->levels[2].accelerators, 24);
  spread = {0, 1, 2, 3, 4, 5, 6, 7, 64, 65, 66, 67, 68, 69, 70, 71};
  EXPECT_EQ(part_of(whole, spread)->levels[1].name, "spine");  // no pod has two of these nodes
}

TEST(ClusterFile, ChecksSitesThatDiffer) {
  Cluster c = parse("h100-sxm:16+a100-80gb-sxm:16@metro-pair");
  const auto problem = [](const Cluster& broken) { return check(broken).error().text(); };
  Cluster broken = c;
  broken.further_sites[0].levels.pop_back();
  EXPECT_THAT(problem(broken), HasSubstr("further_sites[0]: levels"));
  broken = c;
  broken.further_sites.push_back(c.further_sites[0]);
  EXPECT_THAT(problem(broken), HasSubstr("the sites have 48 of 32 accelerators"));
  broken = c;
  broken.further_sites.resize(kMaxDifferingSites, c.further_sites[0]);
  EXPECT_THAT(problem(broken), HasSubstr("65 sites that differ"));
  EXPECT_TRUE(check(c));
}

TEST(ClusterFile, RefusesSitesThatAreNotModelled) {
  EXPECT_THAT(yaml_error("name: x\nsites: [h100-sxm:8, h100-sxm:8]\nlink: cloud-inter-zone\n"),
              HasSubstr("link_bandwidth"));
  EXPECT_THAT(yaml_error("name: x\nsites: [h100-sxm:8, h100-sxm:8]\nlink_bandwidth: 1 GB/s\n"),
              HasSubstr("link_round_trip_time"));
  EXPECT_THAT(yaml_error("name: x\nsites: [h100-sxm:8, h100-sxm:8]\nlink: metro-par\n"),
              HasSubstr("did you mean 'metro-pair'?"));
  EXPECT_THAT(yaml_error("name: x\nsites: [h100-sxm:8, h100-sxm:8]\nlink: metro-pair\n"
                         "transport: {packet_drop_rate: 1}\n"),
              HasSubstr("transport: packet_drop_rate: a packet drop rate outside 0 to 0.5"));
  EXPECT_THAT(yaml_error("name: x\nsites: [/etc/passwd]\nlink: metro-pair\n"),
              HasSubstr("is a file; here only a name will do"));
  EXPECT_THAT(yaml_error("name: x\nnode: dgx-h100\nsites: [h100-sxm:8]\nlink: metro-pair\n"),
              HasSubstr("sites are clusters of their own"));
}

TEST(ClusterFile, SaysWhereAndWhatIsWrong) {
  const std::string head = "name: x\nnode: dgx-h100\naccelerators: 64\n";
  EXPECT_EQ(yaml_error(head + "fabrik: roce-400g\n"),
            "test.yaml: line 4: unknown field 'fabrik' in cluster (did you mean 'fabric'?)");
  EXPECT_THAT(yaml_error(head + "fabric: roce-40g\n"), HasSubstr("did you mean 'roce-400g'?"));
  EXPECT_THAT(yaml_error("name: x\nnode: dgx-h10\naccelerators: 64\n"),
              HasSubstr("did you mean 'dgx-h100'?"));
  EXPECT_THAT(yaml_error("name: x\naccelerators: 64\n"), HasSubstr("missing field 'node'"));
  EXPECT_THAT(yaml_error("name: x\nnode: dgx-h100\n"), HasSubstr("0 accelerators"));
  EXPECT_THAT(yaml_error("name: x\nnode: dgx-h100\naccelerators: 1e15\n"),
              HasSubstr("from 1 to 10000000"));
  EXPECT_THAT(yaml_error("name: x\nnode: generic-pcie-8\naccelerators: 64\n"),
              HasSubstr("takes any accelerator"));
  EXPECT_THAT(yaml_error(head + "link: metro-pair\n"),
              HasSubstr("a link needs sites that it joins (give `sites`, or leave out `link`)"));
  EXPECT_THAT(yaml_error(head + "levels: [{name: pod, accelerators: 32}]\n"),
              HasSubstr("the last level holds 32 of 64 accelerators"));
  EXPECT_THAT(yaml_error(head + "levels: [{name: pod, accelerators: 64}, "
                                "{name: rack, accelerators: 16}]\n"),
              HasSubstr("levels go from the inside out"));
  EXPECT_THAT(yaml_error(head + "levels: [{name: pod, accelerators: 64, efficiency: 2}]\n"),
              HasSubstr("efficiency"));
  EXPECT_THAT(yaml_error(head + "levels: [{name: pod, accelerators: 64, bandwidth: 50}]\n"),
              HasSubstr("line 4, bandwidth: '50' has no unit"));
  EXPECT_THAT(yaml_error(head + "levels: [{name: pod, accelerators: 64, latency: -1 us}]\n"),
              HasSubstr("not plausible"));
  EXPECT_THAT(yaml_error(head + "levels: [{name: pod, accelerators: 64, oversubscription: 0}]\n"),
              HasSubstr("oversubscription"));
}

TEST(ClusterFile, IsReadFromDiskInWholeOrPart) {
  const std::string path = ORRERY_SOURCE_DIR "/catalog/clusters/meta-h100-24k-roce.yaml";
  EXPECT_EQ(parse(path), parse("meta-h100-24k-roce"));
  EXPECT_EQ(parse(path + ":16384"), parse("meta-h100-24k-roce:16384"));
  EXPECT_THAT(error_of("/does/not/exist.yaml"), HasSubstr("No such file"));
  EXPECT_THAT(error_of("/does/not/exist.yaml:8"), HasSubstr("No such file"));
  EXPECT_THAT(error_of("8xH100"), HasSubstr("(write H100:8)"));
  EXPECT_THAT(error_of("h100-sxmx16"), HasSubstr("(write h100-sxm:16)"));
  EXPECT_THAT(error_of(ORRERY_SOURCE_DIR "/catalog"), HasSubstr("is a directory"));
}

TEST(ClusterText, ReadsBackWhatItWrote) {
  for (const char* name : {"h100-sxm:1024", "gb200:256", "mi300x:64", "tpu-v4:6144", "l40s:16",
                           "meta-h100-24k-roce:16384", "frontier"}) {
    const Cluster c = parse(name);
    const auto yaml = from_yaml(to_yaml(Codec<Cluster>::write(c)));
    ASSERT_TRUE(yaml) << yaml.error().text();
    EXPECT_EQ(*yaml, c);
    const auto document = parse_json(to_json(Codec<Cluster>::write(c)), "test.json");
    ASSERT_TRUE(document);
    const auto json = read_cluster(*document, Catalog::built_in());
    ASSERT_TRUE(json) << json.error().text();
    EXPECT_EQ(*json, c);
  }
}

TEST(ClusterCheck, RefusesWhatNoClusterHas) {
  const Cluster good = parse("h100-sxm:64");
  EXPECT_TRUE(check(good));
  const auto refused = [&](auto change) {
    Cluster bad = good;
    change(bad);
    const auto checked = check(bad);
    return checked ? std::string("accepted") : checked.error().text();
  };
  EXPECT_THAT(refused([](Cluster& c) { c.accelerators = 0; }),
              HasSubstr("the number of accelerators is 0"));
  EXPECT_THAT(refused([](Cluster& c) { c.accelerators_per_node = 0; }),
              HasSubstr("a node without accelerators"));
  EXPECT_THAT(refused([](Cluster& c) { c.accelerators_per_node = 7; }), HasSubstr("63 or 70 do"));
  EXPECT_THAT(refused([](Cluster& c) { c.levels.clear(); }), HasSubstr("no fabric level"));
  EXPECT_THAT(refused([](Cluster& c) { c.levels.resize(17); }), HasSubstr("at most 16"));
  EXPECT_THAT(refused([](Cluster& c) { c.levels[1].bandwidth = BytesPerSecond(0); }),
              HasSubstr("levels[1]: bandwidth: the bandwidth of a level must be greater than 0"));
  EXPECT_THAT(refused([](Cluster& c) { c.levels[0].latency = Seconds(100); }),
              HasSubstr("levels[0]: latency"));
  EXPECT_THAT(refused([](Cluster& c) { c.levels.pop_back(); }), HasSubstr("holds 8 of 64"));
  EXPECT_THAT(refused([](Cluster& c) { c.accelerator.compute_units = 0; }),
              HasSubstr("accelerator: compute_units"));
}

}  // namespace
}  // namespace orrery
