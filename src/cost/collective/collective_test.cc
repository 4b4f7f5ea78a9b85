// What must hold for every collective whatever its constants.
#include "cost/collective/collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cost/collective/collective_test_platform.h"
#include "cost/collective/communication_path.h"
#include "cost/collective/in_switch.h"
#include "cost/collective/ring.h"

namespace orrery {
namespace {

using namespace collective_test;

struct TestedCluster {
  std::vector<FabricLevel> levels;
  std::vector<int> domain;
};

TestedCluster cluster(double network = 50, double network_latency = 2) {
  TestedCluster c{{level("nvlink", 450, 1), level("infiniband-ndr", network, network_latency),
                   level("spine", network, network_latency + 1)},
                  {8, 256, 16384}};
  c.levels[0].efficiency = 0.78;
  c.levels[0].in_switch_reduction = true;
  c.levels[1].efficiency = 0.96;
  c.levels[2].efficiency = 0.96;
  c.levels[2].oversubscription = 2;
  return c;
}

const std::vector<CollectiveKind> kKinds = {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                            CollectiveKind::reduce_scatter,
                                            CollectiveKind::all_to_all, CollectiveKind::broadcast};
const std::vector<std::string> kArchitectures = {"volta", "ampere", "hopper", "blackwell",
                                                 "default"};
const std::vector<GroupShape> kGroups = {
    {2, {2, 2, 2}},         {8, {8, 8, 8}},    {16, {8, 16, 16}},
    {16, {1, 16, 16}},      {64, {4, 64, 64}}, {128, {1, 32, 128}},
    {1024, {8, 256, 1024}}, {3, {1, 3, 3}},    {24, {8, 24, 24}}};

TEST(Collective, AGroupOfOneTakesNoTime) {
  const TestedCluster c = cluster();
  for (const CollectiveKind kind : kKinds) {
    EXPECT_EQ(collective(kind, Bytes(kGi), {1, {1, 1, 1}}, c.levels, parameters("hopper")).time,
              Seconds(0));
  }
}

// Groups of g ranks per node run beside each other, 8 / g of them, on cards that they share. Each
// accelerator has its share of the cards (50 GB/s of 8 x 50 here; the same holds of 4 x 100), so
// that together they send what the node's cards carry, whatever g: with n bytes and rings of P
// ranks, each group sends 2 n (P-1)/P through the node's edge in t, and
//   (8 / g) 2 n (P-1)/P / t = 8 b.
TEST(Collective, ConcurrentGroupsShareTheCardsOfANode) {
  TestedCluster c = cluster();
  c.levels[0].in_switch_reduction = false;
  CollectiveParameters p = parameters("hopper");
  p.algorithms = {CollectiveAlgorithm::ring, CollectiveAlgorithm::pairwise};
  p.local_copy = BytesPerSecond(0);
  const double payload = 1024 * kGi;  // latencies do not count
  for (const int g : {1, 2, 4}) {
    const int ranks = 16 * g;
    const Seconds time = collective(CollectiveKind::all_reduce, Bytes(payload),
                                    {ranks, {g, ranks, ranks}}, c.levels, p)
                             .time;
    const double sent = 8.0 / g * 2 * payload * (ranks - 1) / ranks / time.value();
    EXPECT_NEAR(sent, 8 * 0.96 * 50e9, 0.01 * 8 * 50e9) << g;
  }
  // Half as many cards take twice the time: four of 50 GB/s serve eight accelerators.
  TestedCluster half = c;
  half.levels[1].bandwidth = half.levels[1].bandwidth / 2;
  const GroupShape one_a_node = {16, {1, 16, 16}};
  const auto all_reduce = [&](const TestedCluster& on) {
    return collective(CollectiveKind::all_reduce, Bytes(payload), one_a_node, on.levels, p).time;
  };
  EXPECT_NEAR(all_reduce(half) / all_reduce(c), 2, 0.01);
}

// Where messages may arrive out of order, groups that cross that level take Simple, and no others.
TEST(Collective, TakesSimpleWhereMessagesMayArriveOutOfOrder) {
  TestedCluster c = cluster();
  c.levels[1].ordered_delivery = false;
  const TestedCluster ordered = cluster();
  for (const std::string& architecture : kArchitectures) {
    const CollectiveParameters p = parameters(architecture);
    for (const CollectiveKind kind : kKinds) {
      for (const double bytes : {256.0, 1e5, 1e7, 1e9}) {
        const auto inside = collective(kind, Bytes(bytes), {8, {8, 8, 8}}, c.levels, p);
        EXPECT_EQ(inside.time,
                  collective(kind, Bytes(bytes), {8, {8, 8, 8}}, ordered.levels, p).time);
        const auto across = collective(kind, Bytes(bytes), {64, {8, 64, 64}}, c.levels, p);
        EXPECT_EQ(across.protocol, Protocol::simple) << to_text(kind);
        EXPECT_GE(across.time,
                  collective(kind, Bytes(bytes), {64, {8, 64, 64}}, ordered.levels, p).time);
      }
    }
  }
}

TEST(Collective, MonotoneInPayload) {
  const TestedCluster c = cluster();
  for (const std::string& architecture : kArchitectures) {
    const CollectiveParameters p = parameters(architecture);
    for (const CollectiveKind kind : kKinds) {
      for (const GroupShape& group : kGroups) {
        Seconds last;
        for (double bytes = 1; bytes < 16 * kGi; bytes *= 1.03) {
          const Seconds time = collective(kind, Bytes(bytes), group, c.levels, p).time;
          ASSERT_GE(time, last) << architecture << ' ' << to_text(kind) << " P=" << group.size
                                << " n=" << bytes;
          last = time;
        }
      }
    }
  }
}

TEST(Collective, MoreBandwidthOrLessLatencyNeverCostsMore) {
  for (const std::string& architecture : kArchitectures) {
    const CollectiveParameters p = parameters(architecture);
    for (const CollectiveKind kind : kKinds) {
      for (const GroupShape& group : kGroups) {
        for (const double bytes : {1e3, 1e5, 1e6, 1e7, 1e9}) {
          const Seconds base = collective(kind, Bytes(bytes), group, cluster().levels, p).time;
          for (std::size_t l = 0; l < 3; ++l) {
            TestedCluster faster = cluster();
            faster.levels[l].bandwidth *= 1.5;
            EXPECT_LE(collective(kind, Bytes(bytes), group, faster.levels, p).time, base);
            TestedCluster slower = cluster();
            slower.levels[l].latency += Seconds(20e-6);
            EXPECT_GE(collective(kind, Bytes(bytes), group, slower.levels, p).time, base);
            slower = cluster();
            slower.levels[l].oversubscription *= 2;
            EXPECT_GE(collective(kind, Bytes(bytes), group, slower.levels, p).time, base);
          }
        }
      }
    }
  }
}

// What must leave the busiest unit of level l-1 over the links of its members, whatever the
// algorithm. A switch that reduces spares the doubling of an all-reduce.
double least_bytes_out(CollectiveKind kind, double n, int ranks, int members, bool in_switch) {
  const double units = std::ceil(static_cast<double>(ranks) / members);
  switch (kind) {
    case CollectiveKind::all_reduce:
      return in_switch ? n : 2 * n * (units - 1) / units;
    case CollectiveKind::all_gather:
    case CollectiveKind::reduce_scatter:
      return n * (units - 1) / units;
    case CollectiveKind::all_to_all:
      return n * members * (ranks - members) / ranks;
    case CollectiveKind::broadcast:
      return n;
  }
  return 0;
}

TEST(Collective, NeverFasterThanTheSlowestLevelAllows) {
  const TestedCluster c = cluster();
  for (const std::string& architecture : kArchitectures) {
    const CollectiveParameters p = parameters(architecture);
    for (const CollectiveKind kind : kKinds) {
      for (const GroupShape& group : kGroups) {
        for (double bytes = 1; bytes < 64 * kGi; bytes *= 7) {
          const double time = collective(kind, Bytes(bytes), group, c.levels, p).time.value();
          int inner = 1;
          for (std::size_t l = 0; l < c.levels.size(); ++l) {
            if (group.members[l] > inner) {
              const FabricLevel& f = c.levels[l];
              const double rate = f.bandwidth.value() * f.efficiency / f.oversubscription * inner;
              const double least =
                  least_bytes_out(kind, bytes, group.size, inner, l == 0 && f.in_switch_reduction);
              EXPECT_GE(time, least / rate)
                  << architecture << ' ' << to_text(kind) << " P=" << group.size << " level " << l;
            }
            inner = std::max(inner, group.members[l]);
          }
        }
      }
    }
  }
}

TEST(Collective, AllReduceIsReduceScatterAndMore) {
  // By the same algorithm: all-reduce has trees, which reduce-scatter lacks.
  const TestedCluster c = cluster();
  for (const std::string& architecture : kArchitectures) {
    const CollectiveParameters p = parameters(architecture);
    for (const GroupShape& group : kGroups) {
      const CommunicationPath path = communication_path(group, c.levels, p);
      for (double bytes = 1; bytes < 64 * kGi; bytes *= 7) {
        for (const Protocol protocol :
             {Protocol::low_latency, Protocol::low_latency_128, Protocol::simple}) {
          EXPECT_GE(ring_time(CollectiveKind::all_reduce, Bytes(bytes), path, protocol, p),
                    ring_time(CollectiveKind::reduce_scatter, Bytes(bytes), path, protocol, p));
          EXPECT_GE(in_switch_time(CollectiveKind::all_reduce, Bytes(bytes), path, protocol, p) +
                        Seconds(path.nodes > 1 ? 1e9 : 0),
                    path.nodes > 1 ? Seconds(0)
                                   : in_switch_time(CollectiveKind::reduce_scatter, Bytes(bytes),
                                                    path, protocol, p));
        }
      }
    }
  }
}

// Nodes of eight: each further one adds hops and leaves less to the rank's own part.
TEST(Collective, MoreNodesNeverCostLess) {
  TestedCluster c = cluster();
  for (const std::string& architecture : kArchitectures) {
    const CollectiveParameters p = parameters(architecture);
    for (const CollectiveKind kind :
         {CollectiveKind::all_gather, CollectiveKind::reduce_scatter, CollectiveKind::all_to_all}) {
      for (double bytes = 1024; bytes < 16 * kGi; bytes *= 4) {
        Seconds last;
        for (int nodes = 2; nodes <= 2048; nodes *= 2) {
          const int ranks = 8 * nodes;
          const GroupShape group{ranks, {8, std::min(256, ranks), ranks}};
          const Seconds time = collective(kind, Bytes(bytes), group, c.levels, p).time;
          EXPECT_GE(time, last) << architecture << ' ' << to_text(kind) << " nodes=" << nodes
                                << " n=" << bytes;
          last = time;
        }
      }
    }
  }
}

TEST(Collective, LargeGroupsReduceSmallPayloadsByTree) {
  const TestedCluster c = cluster();
  const CollectiveChoice choice =
      collective(CollectiveKind::all_reduce, Bytes(kKi), {1024, {8, 256, 1024}}, c.levels,
                 parameters("hopper"));
  EXPECT_EQ(choice.algorithm, CollectiveAlgorithm::tree);
  EXPECT_EQ(choice.protocol, Protocol::low_latency);
}

TEST(Collective, ReplicasOnePerNodeUseOnlyTheNetwork) {
  TestedCluster c = cluster();
  const GroupShape replicas{32, {1, 32, 32}};
  const CollectiveParameters p = parameters("hopper");
  const Seconds before =
      collective(CollectiveKind::all_reduce, Bytes(kGi), replicas, c.levels, p).time;
  c.levels[0].bandwidth *= 0.01;
  EXPECT_EQ(collective(CollectiveKind::all_reduce, Bytes(kGi), replicas, c.levels, p).time, before);
  // 48 GB/s: 2 * 31/32 GiB cannot take less than 43.3 ms; nor much more.
  EXPECT_GE(microseconds(before), 2 * 31.0 / 32 * kGi / 48e3);
  EXPECT_LE(microseconds(before), 2 * 31.0 / 32 * kGi / 48e3 * 1.15);
}

TEST(Collective, WideAreaLatencyCounts) {
  TestedCluster c = cluster();
  c.levels[2] = level("wide-area", 1, 30000);
  const CollectiveChoice choice = collective(CollectiveKind::all_reduce, Bytes(8),
                                             {512, {8, 256, 512}}, c.levels, parameters("hopper"));
  // Two sites: there and back once.
  EXPECT_GE(choice.time, Seconds(0.060));
  EXPECT_LE(choice.time, Seconds(0.130));
}

}  // namespace
}  // namespace orrery
