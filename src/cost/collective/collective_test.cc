// The tuner's unit checks, and what must hold for every collective whatever its constants.
#include "cost/collective/collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "cost/collective/all_to_all.h"
#include "cost/collective/collective_parameters.h"
#include "cost/collective/communication_path.h"
#include "cost/collective/hierarchical.h"
#include "cost/collective/in_switch.h"
#include "cost/collective/ring.h"
#include "cost/collective/tree.h"
#include "outcome/invariant.h"

namespace orrery {
namespace {

CollectiveParameters parameters(const std::string& architecture) {
  const std::string path =
      std::string(ORRERY_SOURCE_DIR) + "/catalog/collectives/" + architecture + ".yaml";
  auto document = read_document(path);
  if (!document) throw InvariantError(document.error().text());
  auto p = read_collective_parameters(*document);
  if (!p) throw InvariantError(p.error().text());
  return *p;
}

FabricLevel level(const std::string& name, double gigabytes_per_second, double microseconds) {
  FabricLevel l;
  l.name = name;
  l.bandwidth = BytesPerSecond(gigabytes_per_second * 1e9);
  l.latency = Seconds(microseconds * 1e-6);
  return l;
}

double microseconds(Seconds s) { return s.value() * 1e6; }

constexpr double kKi = 1024;
constexpr double kMi = 1024 * kKi;
constexpr double kGi = 1024 * kMi;

// ---- NCCL's tuner: published constants, unit checks to the digits printed.

// One node of 8, 12 channels of 30 GB/s.
struct OneNode {
  CollectiveParameters p = parameters("nccl-tuner-hopper");
  CommunicationPath path;
  OneNode() {
    p.channels = 12;
    path = communication_path({8, {8}}, {level("nvlink", 12 * 30, 0)}, p);
  }
  double time(double bytes, Protocol protocol) const {
    return microseconds(ring_time(CollectiveKind::all_reduce, Bytes(bytes), path, protocol, p));
  }
};

TEST(Tuner, RingOnOneNode) {
  const OneNode node;
  // Latency is the time of nothing; bandwidth the slope.
  EXPECT_NEAR(node.time(0, Protocol::low_latency), 15.0, 0.05);
  EXPECT_NEAR(node.time(0, Protocol::low_latency_128), 40.6, 0.05);
  EXPECT_NEAR(node.time(0, Protocol::simple), 56.0, 0.05);
  const auto slope = [&](Protocol protocol) {
    return 1e9 / (node.time(1e9, protocol) - node.time(0, protocol)) / 1e3;
  };
  EXPECT_NEAR(slope(Protocol::low_latency), 80.57, 0.005);
  EXPECT_NEAR(slope(Protocol::low_latency_128), 189.26, 0.005);
  EXPECT_NEAR(slope(Protocol::simple), 205.71, 0.005);
  EXPECT_NEAR(node.time(8 * kKi, Protocol::low_latency), 15.1, 0.05);
  EXPECT_NEAR(node.time(8 * kKi, Protocol::low_latency_128), 40.6, 0.05);
  EXPECT_NEAR(node.time(8 * kKi, Protocol::simple), 56.0, 0.05);
  EXPECT_NEAR(node.time(kMi, Protocol::low_latency), 28.0, 0.05);
  EXPECT_NEAR(node.time(kMi, Protocol::low_latency_128), 46.1, 0.05);
  EXPECT_NEAR(node.time(kMi, Protocol::simple), 61.1, 0.05);
  EXPECT_NEAR(node.time(64 * kMi, Protocol::low_latency), 848, 0.5);
  EXPECT_NEAR(node.time(64 * kMi, Protocol::low_latency_128), 395.2, 0.05);
  EXPECT_NEAR(node.time(64 * kMi, Protocol::simple), 382.2, 0.05);
  const double gibibyte = node.time(kGi, Protocol::simple);
  EXPECT_NEAR(gibibyte, 5275.6, 0.05);
  EXPECT_NEAR(kGi * 2 * 7 / 8 / gibibyte / 1e3, 356, 0.5);  // bus bandwidth, GB/s
}

TEST(Tuner, RingOnFourNodes) {
  CollectiveParameters p = parameters("nccl-tuner-hopper");
  p.channels = 8;
  // 8 channels of 45 GB/s: 360 GB/s a node, 45 of each accelerator's card.
  const CommunicationPath path =
      communication_path({32, {8, 32}}, {level("nvlink", 360, 0), level("infiniband", 45, 0)}, p);
  const auto time = [&](double bytes, Protocol protocol) {
    return microseconds(ring_time(CollectiveKind::all_reduce, Bytes(bytes), path, protocol, p));
  };
  const auto slope = [&](Protocol protocol) {
    return 1e9 / (time(2e9, protocol) - time(1e9, protocol)) / 1e3;
  };
  EXPECT_NEAR(time(0, Protocol::low_latency), 78.8, 0.05);
  EXPECT_NEAR(time(0, Protocol::low_latency_128), 144.4, 0.05);
  EXPECT_NEAR(time(0, Protocol::simple), 282.8, 0.05);
  EXPECT_NEAR(time(64 * 8 * 32, Protocol::simple), 395.9 + 0.09, 0.05);  // with the plateau
  EXPECT_NEAR(slope(Protocol::low_latency), 10.53, 0.005);
  EXPECT_NEAR(slope(Protocol::low_latency_128), 151.54, 0.005);
  EXPECT_NEAR(slope(Protocol::simple), 185.81, 0.005);
  EXPECT_NEAR(time(kMi, Protocol::low_latency), 178.4, 0.05);
  EXPECT_NEAR(time(kMi, Protocol::low_latency_128), 151.3, 0.05);
  EXPECT_NEAR(time(kMi, Protocol::simple), 401.6, 0.06);
  EXPECT_NEAR(time(64 * kMi, Protocol::low_latency), 6452, 0.5);
  EXPECT_NEAR(time(64 * kMi, Protocol::low_latency_128), 587.3, 0.06);
  EXPECT_NEAR(time(64 * kMi, Protocol::simple), 757.1, 0.05);
  EXPECT_NEAR(time(kGi, Protocol::low_latency_128), 7230, 0.5);
  EXPECT_NEAR(time(kGi, Protocol::simple), 6174.7, 0.1);
}

TEST(Hierarchical, TwoLevelAllReduce) {
  // 1 GiB, 16 nodes of 8, 360 and 48 GB/s, 2 and 8 us: 10730 us.
  CollectiveParameters p = parameters("nccl-tuner-hopper");
  p.ring = {};
  p.ring.nvlink.simple = Seconds(2e-6);
  p.ring.network.simple = Seconds(8e-6);
  const CommunicationPath path =
      communication_path({128, {8, 128}}, {level("nvlink", 360, 0), level("infiniband", 48, 0)}, p);
  EXPECT_NEAR(microseconds(hierarchical_time(CollectiveKind::all_reduce, Bytes(kGi), path,
                                             Protocol::simple, p)),
              10730, 1);
  // A tree between the nodes takes 2 log2(16) steps instead of 2 * 15.
  const Seconds ring =
      hierarchical_time(CollectiveKind::all_reduce, Bytes(kGi), path, Protocol::simple, p);
  const Seconds tree = hierarchical_time(CollectiveKind::all_reduce, Bytes(kGi), path,
                                         Protocol::simple, p, {.outermost = Outermost::tree});
  EXPECT_NEAR(microseconds(ring - tree), 2 * (15 - 4) * 8, 1e-3);
}

TEST(Hierarchical, PipelinedIsNoSlowerThanAFlatRingForLargePayloads) {
  const CollectiveParameters p = parameters("nccl-tuner-hopper");
  for (const int nodes : {2, 4, 16, 128}) {
    for (const double network : {12.0, 25.0, 50.0, 100.0}) {
      const CommunicationPath path =
          communication_path({8 * nodes, {8, 8 * nodes}},
                             {level("nvlink", 360, 0), level("infiniband", network, 0)}, p);
      const Bytes payload(64 * kGi);
      const Seconds flat =
          ring_time(CollectiveKind::all_reduce, payload, path, Protocol::simple, p);
      const Seconds levels =
          hierarchical_time(CollectiveKind::all_reduce, payload, path, Protocol::simple, p,
                            {.phases = Phases::pipelined, .chunks = 512});
      EXPECT_LE(levels.value(), flat.value() * 1.001) << nodes << " nodes, " << network << " GB/s";
    }
  }
}

// ---- Properties of the choice.

struct Cluster {
  std::vector<FabricLevel> levels;
  std::vector<int> domain;
};

Cluster cluster(double network = 50, double network_latency = 2) {
  Cluster c{{level("nvlink", 450, 1), level("infiniband-ndr", network, network_latency),
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
  const Cluster c = cluster();
  for (const CollectiveKind kind : kKinds) {
    EXPECT_EQ(collective(kind, Bytes(kGi), {1, {1, 1, 1}}, c.levels, parameters("hopper")).time,
              Seconds(0));
  }
}

TEST(Collective, MonotoneInPayload) {
  const Cluster c = cluster();
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
            Cluster faster = cluster();
            faster.levels[l].bandwidth *= 1.5;
            EXPECT_LE(collective(kind, Bytes(bytes), group, faster.levels, p).time, base);
            Cluster slower = cluster();
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
  const Cluster c = cluster();
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
  const Cluster c = cluster();
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

TEST(Collective, LargeGroupsReduceSmallPayloadsByTree) {
  const Cluster c = cluster();
  const CollectiveChoice choice =
      collective(CollectiveKind::all_reduce, Bytes(kKi), {1024, {8, 256, 1024}}, c.levels,
                 parameters("hopper"));
  EXPECT_EQ(choice.algorithm, CollectiveAlgorithm::tree);
  EXPECT_EQ(choice.protocol, Protocol::low_latency);
}

TEST(Collective, ReplicasOnePerNodeUseOnlyTheNetwork) {
  Cluster c = cluster();
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
  Cluster c = cluster();
  c.levels[2] = level("wide-area", 1, 30000);
  const CollectiveChoice choice = collective(CollectiveKind::all_reduce, Bytes(8),
                                             {512, {8, 256, 512}}, c.levels, parameters("hopper"));
  // Two sites: there and back once.
  EXPECT_GE(choice.time, Seconds(0.060));
  EXPECT_LE(choice.time, Seconds(0.130));
}

// ---- The tree's correction.

TEST(Tree, CorrectionIsThePublishedTable) {
  EXPECT_EQ(tree_correction(Bytes(64), Protocol::low_latency), 1.0);
  EXPECT_EQ(tree_correction(Bytes(64 * 4096), Protocol::low_latency), 0.4);
  EXPECT_EQ(tree_correction(Bytes(64 * 4096), Protocol::simple), 0.5);
  EXPECT_EQ(tree_correction(Bytes(64.0 * (1 << 23)), Protocol::simple), 0.9);
  EXPECT_EQ(tree_correction(Bytes(64.0 * (1 << 24)), Protocol::simple), 1.0);
}

TEST(Tree, CorrectedBytesAreTheLeastMonotoneCurveAboveTheTable) {
  for (const Protocol protocol :
       {Protocol::low_latency, Protocol::low_latency_128, Protocol::simple}) {
    double greatest = 0;
    for (double bytes = 1; bytes < 8 * kGi; bytes *= 1.0005) {
      greatest = std::max(greatest, bytes / tree_correction(Bytes(bytes), protocol));
      const double corrected = corrected_tree_bytes(Bytes(bytes), protocol).value();
      ASSERT_GE(corrected, greatest * (1 - 1e-12)) << bytes;
      ASSERT_LE(corrected, greatest * 1.001) << bytes;  // a bin's end is not among the samples
    }
  }
}

// ---- All-to-all and point to point.

TEST(AllToAll, CountsOnlyTheBytesThatCross) {
  CollectiveParameters p = parameters("nccl-tuner-hopper");
  p.pairwise.efficiency = 1;
  const std::vector<FabricLevel> levels = {level("nvlink", 300, 0), level("infiniband", 50, 0)};
  const CommunicationPath path = communication_path({64, {8, 64}}, levels, p);
  const auto time = [&](double n) {
    return all_to_all_time(CollectiveKind::all_to_all, Bytes(n), path, Protocol::simple, p);
  };
  // 56 of 64 parts leave the node at 50 GB/s.
  EXPECT_NEAR((time(2e9) - time(1e9)).value(), 1e9 * 56 / 64 / 50e9, 1e-9);
}

TEST(PointToPoint, IsLatencyAndBandwidthOfItsLevel) {
  const CollectiveParameters p = parameters("nccl-tuner-hopper");
  const FabricLevel network = level("infiniband", 50, 2);
  const Seconds large =
      point_to_point(Bytes(2e9), network, p) - point_to_point(Bytes(1e9), network, p);
  EXPECT_NEAR(large.value(), 1e9 / 50e9, 1e-9);
  // base 6.6 + step 2.7 + 2 us.
  EXPECT_NEAR(microseconds(point_to_point(Bytes(0), network, p)), 11.3, 1e-9);
}

}  // namespace
}  // namespace orrery
