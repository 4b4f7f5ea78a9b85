#include "cost/collective/collective_parameters.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery {
namespace {

const std::string kRing = "{base: {low_latency: 6.6 us, low_latency_128: 14 us, simple: 8.4 us}}";
const std::string kCeiling = "{one_node: 141 GB/s, two_nodes: 39 GB/s, more_nodes: 20.4 GB/s}";

std::string text(const std::string& algorithms = "[ring, pairwise]", const std::string& more = "") {
  return "name: test\nsource: made for this test\nalgorithms: " + algorithms +
         "\nchannels: 16\nring: " + kRing + "\ntree: " + kRing +
         "\nlow_latency_total: " + kCeiling + "\nring_low_latency_128_per_channel: " + kCeiling +
         "\ntree_low_latency_128_per_channel: " + kCeiling +
         "\ntree_simple_per_channel: " + kCeiling + "\npairwise: {latency: " + kRing +
         ", low_latency_ceiling: 12 GB/s}\n" + more;
}

Result<CollectiveParameters> parse(const std::string& yaml) {
  ORRERY_TRY(const Document document, parse_yaml(yaml, "test.yaml"));
  return read_collective_parameters(document);
}

std::string error(const std::string& yaml) {
  const auto p = parse(yaml);
  return p ? "accepted" : p.error().text();
}

TEST(CollectiveParameters, ReadsWhatItWrites) {
  const auto p = parse(text());
  ASSERT_TRUE(p) << p.error().text();
  EXPECT_DOUBLE_EQ(p->ring.base.low_latency.value(), 6.6e-6);
  const Value written = non_default_fields(*p);
  const auto again = read_collective_parameters(Document{"again", written});
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, *p);
}

TEST(CollectiveParameters, EveryCatalogEntryIsValidAndSaysWhereItComesFrom) {
  const Catalog& catalog = Catalog::built_in();
  const auto names = catalog.names("collectives");
  EXPECT_GE(names.size(), 6u);
  for (const std::string& name : names) {
    const auto p = load_collective_parameters(catalog, name);
    ASSERT_TRUE(p) << p.error().text();
    EXPECT_EQ(p->name, name);
    EXPECT_GT(p->source.size(), 20u);
  }
}

TEST(CollectiveParameters, AnArchitectureWithoutAnEntryHasTheDefault) {
  const auto p = load_collective_parameters(Catalog::built_in(), "tpu-v5p");
  ASSERT_TRUE(p) << p.error().text();
  EXPECT_EQ(p->name, "default");
}

TEST(CollectiveParameters, RefusesWhatCannotBe) {
  EXPECT_EQ(error(text("[ring]")),
            "test.yaml: algorithms: algorithms must include ring and pairwise (between them they "
            "offer every collective)");
  EXPECT_EQ(error(text("[ring, pairwise]", "ring_share: 1.5\n")),
            "test.yaml: ring_share: a share must be from 0.001 to 1 (such as 0.92)");
  EXPECT_EQ(error(text("[ring, pairwise]", "network_overhead: -1 us\n")),
            "test.yaml: latencies: a latency is negative or above a minute (such as \"0.6 us\")");
  EXPECT_EQ(error(text("[ring, pairwise]", "plateau_factor: 0.5\n")),
            "test.yaml: plateau_factor: plateau_factor must be from 1 to 100 (such as 1.4)");
  EXPECT_EQ(
      error(text("[ring, pairwise]", "in_switch: {efficiency: 2}\n")),
      "test.yaml: in_switch.efficiency: an efficiency must be from 0 to 1 (0 where the switch "
      "does not reduce)");
  EXPECT_EQ(error(text("[ring, pairwise, in_switch]", "in_switch: {efficiency: 0.8}\n")),
            "test.yaml: ceilings: a bandwidth is missing or below 1 kB/s (such as \"39 GB/s\")");
  EXPECT_EQ(
      error(text("[ring, pairwise]", "latency_overlap: 0.5\n")),
      "test.yaml: latency_overlap, parallel_trees.overlap: an overlap must be from 1 to 100 (1 "
      "where nothing overlaps)");
  EXPECT_EQ(error(text("[ring, pairwise]", "low_latency_until: -1 MiB\n")),
            "test.yaml: low_latency_until: low_latency_until is negative (such as 1 MiB)");
  EXPECT_EQ(
      error(text("[ring, pairwise]",
                 "host_path: {direct_ranks: 2, socket_ranks: 4, socket: 1 GB/s, node: 5 "
                 "GB/s}\n")),
      "test.yaml: host_path: across sockets no path is faster than on one (node at most socket)");
  EXPECT_EQ(error(text("[ring, pairwise]", "interference: {scale_up_units: -1}\n")),
            "test.yaml: interference: compute units cannot be negative (such as 16)");
  EXPECT_NE(error(text("[ring, pair_wise_]")).find("unknown value 'pair_wise_'"),
            std::string::npos);
  EXPECT_NE(error(text("[ring, pairwise]", "chanels: 3\n")).find("channels"), std::string::npos);
}

}  // namespace
}  // namespace orrery
