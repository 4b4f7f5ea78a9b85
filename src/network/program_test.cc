#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "catalog/catalog.h"
#include "cost/collective/all_to_all.h"
#include "cost/collective/hierarchical.h"
#include "cost/collective/ring.h"
#include "network/algorithms.h"
#include "network/collective_comparison.h"
#include "network/program_run.h"
#include "network/verified_program.h"
#include "outcome/enum_names.h"

namespace orrery {
namespace {

using Algorithm = ProgramAlgorithm;
using Kind = CollectiveKind;
using Placements = std::vector<std::vector<std::uint32_t>>;

constexpr std::array kKinds = {Kind::all_reduce, Kind::all_gather, Kind::reduce_scatter,
                               Kind::all_to_all, Kind::broadcast};

std::vector<Algorithm> all_algorithms() {
  std::vector<Algorithm> out;
  for (std::size_t a = 0; a < enumerators<Algorithm>(); ++a)
    out.push_back(static_cast<Algorithm>(a));
  return out;
}

// So many nodes of `per_node` on one switch; rates in B/s.
Cluster nodes_of(std::int64_t accelerators, std::int64_t per_node, double inside, double outside,
                 double inside_latency, double outside_latency) {
  Cluster out = *parse_cluster("h100-sxm:8", Catalog::built_in());
  out.accelerators = accelerators;
  out.accelerators_per_node = per_node;
  out.levels = {{.name = "nvlink",
                 .accelerators = std::min(per_node, accelerators),
                 .bandwidth = BytesPerSecond(inside),
                 .latency = Seconds(inside_latency),
                 .in_switch_reduction = true}};
  if (accelerators > per_node) {
    out.levels.push_back({.name = "infiniband",
                          .accelerators = accelerators,
                          .bandwidth = BytesPerSecond(outside),
                          .latency = Seconds(outside_latency)});
  }
  return out;
}

Network star(std::int64_t accelerators, double rate, double latency) {
  return *network_of(nodes_of(accelerators, accelerators, rate, 0, latency, 0));
}

std::vector<std::uint32_t> first(std::uint32_t n) {
  std::vector<std::uint32_t> out(n);
  std::iota(out.begin(), out.end(), 0U);
  return out;
}

ProgramShape shape_of(std::vector<std::uint32_t> members, std::uint32_t pieces = 8) {
  return {.members = std::move(members), .pieces = pieces};
}

TEST(Program, EveryAlgorithmGivesEveryRankWhatItPromises) {
  int verified = 0;
  const std::vector<std::vector<std::uint32_t>> shapes = {
      {2},    {3},    {4},     {5},    {7},        {8},     {12},      {16},
      {4, 8}, {2, 6}, {4, 16}, {3, 9}, {2, 4, 12}, {4, 20}, {1, 4, 8}, {1, 12}};
  for (const auto& members : shapes) {
    for (const std::uint32_t pieces : {1U, 3U, 8U}) {
      for (const Algorithm a : all_algorithms()) {
        for (const Kind kind : kKinds) {
          const auto program = program_of(a, kind, shape_of(members, pieces));
          if (!program) continue;
          const auto result = verify(*program);
          EXPECT_TRUE(result) << to_text(a) << " " << to_text(kind) << " of " << members.back()
                              << " in " << pieces << ": "
                              << (result ? ""
                                         : result.error().where + ": " + result.error().message);
          ++verified;
        }
      }
    }
  }
  EXPECT_GT(verified, 600);
}

TEST(Program, WhatDoesNotArriveIsFound) {
  Program lacking = *program_of(Algorithm::ring, Kind::all_reduce, shape_of({4}));
  lacking.rounds.back().repeats = 2;
  EXPECT_EQ(verify(lacking).error().message, "rank 0 ends without all of part 1");
  Program twice = *program_of(Algorithm::recursive_doubling, Kind::all_reduce, shape_of({4}));
  twice.rounds.push_back(twice.rounds.back());
  EXPECT_EQ(verify(twice).error().message, "rank 2 adds part 0 twice");
  Program early = *program_of(Algorithm::binomial, Kind::broadcast, shape_of({4}));
  std::swap(early.rounds[0], early.rounds[1]);
  EXPECT_EQ(verify(early).error().message, "rank 1 has nothing of part 0 to send");
  Program astray = early;
  astray.rounds[0].sends[0].to = 9;
  EXPECT_EQ(verify(astray).error().message, "a send from 0 to 9");
  Program large = *program_of(Algorithm::ring, Kind::all_reduce, shape_of({512}));
  EXPECT_EQ(verify(large).error().message, "programs of more than 256 ranks are not verified");
}

struct Expected {
  Algorithm algorithm;
  Kind kind;
  std::uint32_t ranks;
  double latencies;  // of a message
  double volume;     // in payloads, of a rank's link in one direction
  std::uint32_t pieces = 8;
};

// Closed forms of the literature (network/algorithms.h) on one switch.
TEST(Program, TakesTheTimeOfItsClosedForm) {
  const std::vector<Expected> cases = {
      {Algorithm::ring, Kind::all_reduce, 16, 30, 30.0 / 16},
      {Algorithm::ring, Kind::all_gather, 16, 15, 15.0 / 16},
      {Algorithm::ring, Kind::reduce_scatter, 5, 4, 4.0 / 5},
      // Both directions end at the same card of one switch.
      {Algorithm::bidirectional_ring, Kind::all_reduce, 16, 30, 30.0 / 16},
      {Algorithm::recursive_doubling, Kind::all_reduce, 16, 4, 4},
      {Algorithm::recursive_doubling, Kind::all_reduce, 20, 6, 6},
      {Algorithm::recursive_doubling, Kind::all_gather, 16, 4, 15.0 / 16},
      {Algorithm::halving_doubling, Kind::all_reduce, 16, 8, 30.0 / 16},
      {Algorithm::halving_doubling, Kind::reduce_scatter, 16, 4, 15.0 / 16},
      {Algorithm::halving_doubling, Kind::all_reduce, 20, 10, 30.0 / 16 + 2},
      {Algorithm::bruck, Kind::all_gather, 13, 4, 12.0 / 13},
      {Algorithm::parallel_trees, Kind::all_gather, 13, 4, 12.0 / 13},
      {Algorithm::parallel_trees, Kind::reduce_scatter, 16, 4, 15.0 / 16},
      {Algorithm::binomial, Kind::broadcast, 16, 4,
       1 + 2 + 4 + 8 - 11.0},  // each sends n at a time
      {Algorithm::chain, Kind::broadcast, 16, 64 + 14, 78.0 / 64, 64},
      {Algorithm::direct, Kind::all_to_all, 16, 1, 15.0 / 16},
      {Algorithm::pairwise, Kind::all_to_all, 16, 15, 15.0 / 16},
      // Of a tree over 16 ranks 4 deep, an inner rank has three pieces on its link at a time.
      {Algorithm::tree, Kind::all_reduce, 15, 1000 + 5, 3 * 1005 / 1000.0, 1000},
      {Algorithm::in_switch, Kind::all_reduce, 8, 0, 9.0 / 8, 64},
  };
  const double rate = 50e9;
  const double latency = 4e-6;
  for (const Expected& c : cases) {
    const Network net = star(c.ranks, rate, latency);
    const auto program = program_of(c.algorithm, c.kind, shape_of({c.ranks}, c.pieces));
    ASSERT_TRUE(program) << to_text(c.algorithm);
    const Bytes payload(1 << 30);
    const auto run_of = run(*program, payload, net, Placements{first(c.ranks)}, Routing::ecmp);
    ASSERT_TRUE(run_of) << run_of.error().message;
    double volume = c.volume;
    if (c.algorithm == Algorithm::binomial) volume = 4;
    const double expected = c.latencies * latency + volume * payload.value() / rate;
    // A reduction in the switch has four short phases to fill.
    const double slack = c.algorithm == Algorithm::in_switch ? 0.06 : 0.01;
    EXPECT_NEAR(run_of->time.value() / expected, 1, slack)
        << to_text(c.algorithm) << " " << to_text(c.kind) << " of " << c.ranks;
  }
}

TEST(Program, DoubleTreeUsesBothDirectionsOfEveryLink) {
  const Network net = star(64, 50e9, 1e-6);
  const Bytes payload(1 << 30);
  const auto double_tree =
      run(*program_of(Algorithm::double_tree, Kind::all_reduce, shape_of({64}, 1024)), payload, net,
          Placements{first(64)}, Routing::ecmp);
  EXPECT_NEAR(double_tree->time.value() / (2 * payload.value() / 50e9), 1, 0.08);
}

// Units of nodes with one rank each are no nodes: the trees are those of the ranks.
TEST(Program, TreesOfNodesWithOneRankJoinTheRanks) {
  const auto rounds = [](Algorithm algorithm, std::vector<std::uint32_t> members) {
    return program_of(algorithm, Kind::all_reduce, shape_of(std::move(members)))->rounds;
  };
  for (const Algorithm algorithm : {Algorithm::tree, Algorithm::double_tree, Algorithm::ring}) {
    EXPECT_EQ(rounds(algorithm, {1, 8, 16}), rounds(algorithm, {16})) << to_text(algorithm);
  }
  EXPECT_EQ(rounds(Algorithm::hierarchical, {1, 8, 16}), rounds(Algorithm::hierarchical, {8, 16}));
  const Cluster cluster = nodes_of(64, 1, 400e9, 50e9, 0, 0);
  EXPECT_EQ(shape_of_first(64, cluster.levels)->members, (std::vector<std::uint32_t>{1, 64}));
}

// Constants of a library that adds nothing to links and levels.
CollectiveParameters plain() {
  CollectiveParameters out;
  out.algorithms = {CollectiveAlgorithm::ring, CollectiveAlgorithm::pairwise};
  return out;
}

TEST(Program, AgreesWithTheCostModelWhereNothingIsInTheWay) {
  const Cluster cluster = nodes_of(64, 8, 400e9, 50e9, 1e-6, 4e-6);
  const Network net = *network_of(cluster);
  const GroupShape group{.size = 64, .members = {8, 64}};
  const CommunicationPath path = communication_path(group, cluster.levels, plain());
  const Bytes payload(4e9);
  const auto time = [&](Algorithm a, Kind kind) {
    return run(*program_of(a, kind, shape_of({8, 64}, 1)), payload, net, Placements{first(64)},
               Routing::ecmp)
        ->time;
  };
  for (const Kind kind : {Kind::all_reduce, Kind::all_gather, Kind::reduce_scatter}) {
    const Seconds expected = hierarchical_time(kind, payload, path, Protocol::simple, plain());
    // Links have their latency once, where a library's Simple protocol waits for two messages.
    EXPECT_NEAR(time(Algorithm::hierarchical, kind) / expected, 1, 0.01) << to_text(kind);
  }
  const Seconds exchange =
      all_to_all_times(Kind::all_to_all, payload, path, Protocol::simple, plain()).direct;
  EXPECT_NEAR(time(Algorithm::direct, Kind::all_to_all) / exchange, 1, 0.01);

  // One rank per node: a flat ring is the same as one over the network alone.
  const GroupShape column{.size = 8, .members = {1, 8}};
  std::vector<std::uint32_t> ranks;
  for (std::uint32_t i = 0; i < 8; ++i) ranks.push_back(8 * i);
  const CommunicationPath outside = communication_path(column, cluster.levels, plain());
  const Seconds ring_expected =
      ring_time(Kind::all_reduce, payload, outside, Protocol::simple, plain());
  const auto ring_run = run(*program_of(Algorithm::ring, Kind::all_reduce, shape_of({8})), payload,
                            net, Placements{ranks}, Routing::ecmp);
  EXPECT_NEAR(ring_run->time / ring_expected, 1, 0.01);
}

// Aggregated trees over a network that is narrow between its halves, and on its own.
TEST(Program, ParallelTreesTakeTheirClosedFormOverANarrowLink) {
  const CollectiveParameters library = *load_collective_parameters(Catalog::built_in(), "hopper");
  for (const double oversubscription : {1.0, 32.0}) {
    Cluster cluster = nodes_of(64, 1, 400e9, 50e9, 0, 0);
    cluster.levels[1].accelerators = 32;
    FabricLevel between = cluster.levels[1];
    between.name = "ethernet";
    between.accelerators = 64;
    between.oversubscription = oversubscription;
    cluster.levels.push_back(between);
    const CommunicationPath path =
        communication_path({.size = 64, .members = {1, 32, 64}}, cluster.levels, library);
    for (const Kind kind : {Kind::all_gather, Kind::reduce_scatter}) {
      const Bytes payload(1e9);
      const auto closed =
          closed_form(Algorithm::parallel_trees, kind, payload, path, Protocol::simple, library);
      const auto off =
          off_links(Algorithm::parallel_trees, kind, payload, path, Protocol::simple, library);
      ASSERT_TRUE(closed && off);
      Cluster reached = cluster;
      reached.levels = library_levels(cluster.levels, library, kind, Algorithm::parallel_trees,
                                      Protocol::simple, StepLatency::none, path);
      const auto done = run(*program_of(Algorithm::parallel_trees, kind, shape_of({1, 32, 64})),
                            payload, *network_of(reached), Placements{first(64)}, Routing::spray);
      ASSERT_TRUE(done);
      EXPECT_NEAR((*off + done->time) / *closed, 1, 0.02) << oversubscription << to_text(kind);
    }
  }
}

// LL128 leaves a tree between nodes 120 of 128 bytes, and a ring on NVLink of an A100 53 %: flows
// of the tree take its own share.
TEST(Program, TreesTakeTheShareOfTheirProtocol) {
  const Cluster cluster =
      *parse_cluster("a100-80gb-sxm:64+a100-80gb-sxm:64@metro-pair", Catalog::built_in());
  CollectiveQuestion question;
  question.payload = Bytes(40e6);
  question.only = Algorithm::double_tree;
  const auto times = compare_collective(cluster, Catalog::built_in(), question);
  ASSERT_TRUE(times) << times.error().text();
  ASSERT_EQ(times->library.algorithm, CollectiveAlgorithm::tree);
  ASSERT_EQ(times->library.protocol, Protocol::low_latency_128);
  const AlgorithmTimes& tree = times->algorithms.front();
  EXPECT_NEAR(tree.flows / *tree.closed_form, 1, 0.15);
}

TEST(Program, PhasesOfLevelsOverlapWhenTheDataAreInPieces) {
  const Cluster cluster = nodes_of(64, 8, 100e9, 50e9, 0, 0);
  const Network net = *network_of(cluster);
  const Bytes payload(4e9);
  const auto time = [&](std::uint32_t pieces) {
    return run(*program_of(Algorithm::hierarchical, Kind::all_reduce, shape_of({8, 64}, pieces)),
               payload, net, Placements{first(64)}, Routing::ecmp)
        ->time.value();
  };
  const double inside = 2 * 7.0 / 8 * 4e9 / 100e9;
  const double outside = 2 * 7.0 / 8 * (4e9 / 8) / 50e9;
  EXPECT_NEAR(time(1), inside + outside, 1e-6);
  EXPECT_LT(time(16), inside + outside);
  EXPECT_GT(time(16), inside * 0.999);
}

// What a rank sends and receives does not depend on how the network routes it. `outermost`: the
// first of the levels whose links join units of so many ranks.
void check_bytes(const Network& net, std::uint32_t outermost) {
  const Bytes payload(1e9);
  for (const Algorithm a : all_algorithms()) {
    for (const Kind kind : kKinds) {
      const auto program = program_of(a, kind, shape_of({8, 64}, 4));
      if (!program || program->switches > 0) continue;
      double sent = 0;
      for (const Round& r : program->rounds) {
        for (const Send& s : r.sends) {
          sent += s.count * program->part_share * payload.value() * r.repeats;
        }
      }
      std::vector<double> spine_bytes;
      for (const Routing routing : {Routing::ecmp, Routing::spray, Routing::planned}) {
        const auto done = run(*program, payload, net, Placements{first(64)}, routing);
        ASSERT_TRUE(done);
        double out = 0;
        double in = 0;
        double up = 0;
        for (std::size_t l = 0; l < net.links().size(); ++l) {
          const DirectedLink& link = net.links()[l];
          if (link.from < net.accelerators()) out += done->on_links[l].value();
          if (link.to < net.accelerators()) in += done->on_links[l].value();
          if (link.level == outermost && link.from < link.to) up += done->on_links[l].value();
        }
        EXPECT_NEAR(out / sent, 1, 1e-9) << to_text(a);
        EXPECT_NEAR(in / sent, 1, 1e-9) << to_text(a);
        spine_bytes.push_back(up);
      }
      EXPECT_NEAR(spine_bytes[0], spine_bytes[1], 1e-3);
      EXPECT_NEAR(spine_bytes[0], spine_bytes[2], 1e-3);
    }
  }
}

TEST(Program, BytesOnLinksAreConserved) {
  Cluster cluster = nodes_of(64, 8, 400e9, 50e9, 1e-6, 4e-6);
  cluster.levels[1].accelerators = 16;
  FabricLevel spine = cluster.levels[1];
  spine.name = "spine";
  spine.accelerators = 64;
  spine.oversubscription = 2;
  spine.topology = LevelTopology{.switches = 4};
  cluster.levels.push_back(spine);
  check_bytes(*network_of(cluster), 2);
}

TEST(Program, BytesOnLinksAreConservedWhereSitesDiffer) {
  const Cluster sites =
      *parse_cluster("h100-sxm:24+a100-80gb-sxm:40@metro-pair", Catalog::built_in());
  check_bytes(*network_of(sites), 2);
}

// A ring over both sites passes every link between them once in each direction, at the rate of the
// slowest card, as the closed form has it at the slower end.
TEST(Program, ARingOverSitesThatDifferTakesTheSlowerLinks) {
  const Cluster sites =
      *parse_cluster("h100-sxm:8+a100-80gb-sxm:8@metro-pair", Catalog::built_in());
  const Network net = *network_of(sites);
  const Bytes payload(4e9);
  const auto done = run(*program_of(Algorithm::ring, Kind::all_gather, shape_of({8, 16})), payload,
                        net, Placements{first(16)}, Routing::spray);
  ASSERT_TRUE(done);
  const Bytes round = payload / 16;  // of each of 8 rings, an eighth crosses
  double crossing = 0;
  for (std::size_t l = 0; l < net.links().size(); ++l) {
    const DirectedLink& link = net.links()[l];
    if (net.levels()[link.level].name == "metro-pair" && link.from < link.to) {
      crossing += done->on_links[l].value();
    }
  }
  EXPECT_NEAR(crossing / (2 * 15 * round.value()), 1, 1e-9);
  EXPECT_GT(done->time, payload * (15.0 / 16 / 8) / levels_of(sites, 1).back().bandwidth);
}

// Flows that collide on a spine are slower than spread ones, and planned ones are not.
TEST(Routing, PlannedPathsAreAsGoodAsSpreadOnes) {
  Cluster cluster = nodes_of(64, 1, 400e9, 50e9, 0, 0);
  cluster.levels = {cluster.levels[0], cluster.levels[1], cluster.levels[1]};
  cluster.levels[0].accelerators = 1;
  cluster.levels[1].accelerators = 8;
  cluster.levels[1].name = "leaf";
  cluster.levels[2].topology = LevelTopology{.switches = 8};
  const Network net = *network_of(cluster);
  // Every accelerator of a leaf sends to one of the next leaf.
  Program program{.kind = Kind::broadcast, .ranks = 64, .rounds = {Round{}}};
  for (std::uint32_t r = 0; r < 64; ++r) {
    program.rounds[0].sends.push_back({.from = r, .to = (r + 8) % 64});
  }
  const auto time = [&](Routing routing) {
    return run(program, Bytes(50e9), net, Placements{first(64)}, routing)->time.value();
  };
  EXPECT_NEAR(time(Routing::spray), 1, 1e-9);
  EXPECT_NEAR(time(Routing::planned), 1, 1e-9);
  // 8 flows on 8 uplinks by hash: two or more meet somewhere.
  EXPECT_GE(time(Routing::ecmp), 2);
}

// F flows that are hashed to K equal uplinks take E[max load] / (F/K) times as long as spread ones:
// of 8 on 8, the expected largest of a multinomial, 2.597 (the sum over m of 1 - P(all at most m),
// by counting; 1.762 and 1.369 of 32 and 128). With s streams each, 8 s balls fall, and the loads
// come closer to each other.
TEST(Routing, StreamsBringHashedFlowsCloserToSpreadOnes) {
  Cluster cluster = nodes_of(1024, 1, 400e9, 50e9, 0, 0);
  cluster.levels = {cluster.levels[0], cluster.levels[1], cluster.levels[1]};
  cluster.levels[0].accelerators = 1;
  cluster.levels[1].accelerators = 8;
  cluster.levels[1].name = "leaf";
  cluster.levels[2].topology = LevelTopology{.switches = 8};
  const Network net = *network_of(cluster);
  // The slow-down of one leaf's flows to another leaf's, averaged over pairs of leaves.
  const auto mean = [&](std::uint32_t streams) {
    double sum = 0;
    constexpr std::uint32_t kPairs = 64;
    for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
      Program program{.kind = Kind::broadcast, .ranks = 1024, .rounds = {Round{}}};
      for (std::uint32_t r = 0; r < 8; ++r) {
        program.rounds[0].sends.push_back({.from = 16 * pair + r, .to = 16 * pair + 8 + r});
      }
      const auto done =
          run(program, Bytes(50e9), net, Placements{first(1024)}, Routing::ecmp, streams);
      sum += done->time.value();
    }
    return sum / kPairs;
  };
  EXPECT_NEAR(mean(1), 2.597, 0.25);
  EXPECT_NEAR(mean(4), 1.762, 0.12);
  EXPECT_NEAR(mean(16), 1.369, 0.06);
}

// Flows count what a long link's transport leaves, as closed forms do: a window, and go-back-n.
TEST(Comparison, FlowsCountTheTransportOfALink) {
  Cluster sites = *parse_cluster("h100-sxm:16+h100-sxm:16@metro-pair", Catalog::built_in());
  FabricLevel& link = sites.levels.back();
  CollectiveQuestion question;
  question.payload = Bytes(1 << 30);
  question.only = Algorithm::hierarchical;
  const auto times = [&](const std::optional<Transport>& transport) {
    link.transport = transport;
    return compare_collective(sites, Catalog::built_in(), question)->algorithms.front();
  };
  const AlgorithmTimes free = times({});
  Transport go_back_n;
  go_back_n.packet_drop_rate = 1e-4;
  go_back_n.recovery = Recovery::go_back_n;
  Transport windowed;
  windowed.streams = 4;
  windowed.window = Bytes(1 << 16);
  for (const Transport& lossy : {go_back_n, windowed}) {
    const AlgorithmTimes slow = times(lossy);
    EXPECT_GT(*slow.closed_form, *free.closed_form * 1.02);
    EXPECT_NEAR(slow.flows / *slow.closed_form, free.flows / *free.closed_form, 0.05);
  }
}

// Of an all-to-all over a port with few buffers: the more accelerators send to one at once, the
// more is lost, in flows as in closed forms; pairs lose nothing.
TEST(Comparison, FlowsCountTheIncastOfAnAllToAll) {
  Cluster nodes = *parse_cluster("h100-sxm:32", Catalog::built_in());
  CollectiveQuestion question;
  question.kind = Kind::all_to_all;
  question.payload = Bytes(1 << 30);
  const auto times = [&](Algorithm algorithm, Congestion congestion) {
    Transport transport;
    transport.streams = 64;
    transport.buffer = Bytes(1 << 19);
    transport.congestion = congestion;
    nodes.levels.back().transport = transport;
    question.only = algorithm;
    return compare_collective(nodes, Catalog::built_in(), question)->algorithms.front();
  };
  const auto slower = [&](Algorithm algorithm) {
    return times(algorithm, Congestion::ecn).flows / times(algorithm, Congestion::lossless).flows;
  };
  EXPECT_GT(slower(Algorithm::direct), 3);
  EXPECT_EQ(slower(Algorithm::pairwise), 1);
  nodes.levels.back().latency = Seconds(1e-7);  // little fits into the link itself
  const AlgorithmTimes lossless = times(Algorithm::pxn, Congestion::lossless);
  const AlgorithmTimes marked = times(Algorithm::pxn, Congestion::ecn);
  EXPECT_NEAR(marked.flows / *marked.closed_form, lossless.flows / *lossless.closed_form, 0.05);
  EXPECT_GT(marked.flows / lossless.flows, 1.2);
  // Each row has the closed form of its own messages.
  const AlgorithmTimes direct = times(Algorithm::direct, Congestion::ecn);
  EXPECT_GT(*direct.closed_form, *marked.closed_form * 3);
  EXPECT_NEAR(direct.flows / *direct.closed_form, marked.flows / *marked.closed_form, 0.05);
}

// A file's program stands beside the algorithm that is asked for.
TEST(Comparison, ShowsAFilesProgramBesideOneAlgorithm) {
  const Cluster cluster = *parse_cluster("h100-sxm:8", Catalog::built_in());
  CollectiveQuestion question;
  question.payload = Bytes(1 << 20);
  question.only = Algorithm::imported;
  const auto compared = [&] { return compare_collective(cluster, Catalog::built_in(), question); };
  ASSERT_FALSE(compared());
  EXPECT_EQ(compared().error().text(),
            "algorithm: imported is the algorithm of a file, and none is named (name an algorithm "
            "file of MSCCL with --program FILE.xml)");
  question.imported = *program_of(Algorithm::recursive_doubling, Kind::all_reduce, shape_of({8}));
  const auto alone = compared();
  ASSERT_TRUE(alone) << alone.error().text();
  ASSERT_EQ(alone->algorithms.size(), 1u);
  EXPECT_EQ(alone->algorithms[0].algorithm, Algorithm::imported);
  question.only = Algorithm::ring;
  const auto both = compared();
  ASSERT_TRUE(both) << both.error().text();
  std::vector<Algorithm> shown;
  for (const AlgorithmTimes& times : both->algorithms) shown.push_back(times.algorithm);
  std::ranges::sort(shown);
  EXPECT_EQ(shown, (std::vector<Algorithm>{Algorithm::ring, Algorithm::imported}));
  question.only = Algorithm::chain;
  ASSERT_FALSE(compared());
  EXPECT_EQ(compared().error().text(),
            "algorithm: chain offers no all_reduce on 8 ranks of h100-sxm:8 (leave out --algorithm "
            "to see those that do)");
}

// Whatever the number of switches, spread flows fill a network without oversubscription. A planned
// one takes one link at each level, and is no faster than the narrowest of them: one of `pod` from
// its accelerator, and one of those that 64 accelerators share.
TEST(Routing, SpreadFlowsFillEveryNumberOfSwitches) {
  for (const auto& [pod, spine] : std::initializer_list<std::pair<int, int>>{
           {8, 8}, {8, 12}, {16, 8}, {16, 24}, {32, 8}, {32, 48}}) {
    SCOPED_TRACE(std::to_string(pod) + " and " + std::to_string(spine));
    Cluster cluster = nodes_of(512, 1, 400e9, 50e9, 0, 0);
    cluster.levels = {cluster.levels[0], cluster.levels[1], cluster.levels[1]};
    cluster.levels[0].accelerators = 1;
    cluster.levels[1].accelerators = 64;
    cluster.levels[1].name = "pod";
    cluster.levels[1].topology = LevelTopology{.switches = pod};
    cluster.levels[2].topology = LevelTopology{.switches = spine};
    const Network net = *network_of(cluster);
    Program program{.kind = Kind::broadcast, .ranks = 512, .rounds = {Round{}}};
    for (std::uint32_t r = 0; r < 512; ++r) {
      program.rounds[0].sends.push_back({.from = r, .to = (r + 64) % 512});
    }
    const auto time = [&](Routing routing) {
      return run(program, Bytes(50e9), net, Placements{first(512)}, routing)->time.value();
    };
    EXPECT_NEAR(time(Routing::spray), 1, 1e-9);
    const int links = spine % pod == 0 ? spine : pod * spine;  // planes, or all with all
    const double narrow = std::max<double>(pod, links / 64.0);
    EXPECT_GE(time(Routing::planned), narrow * (1 - 1e-9));
    EXPECT_LE(time(Routing::planned), 1.5 * narrow);
    EXPECT_LE(time(Routing::planned), time(Routing::ecmp));
  }
}

// Rounds that wait for the same one begin together: their flows count together.
TEST(Program, RefusesTooManyFlowsOfAllRoundsTogether) {
  const Network net = star(2, 50e9, 1e-6);
  Program program{.kind = Kind::broadcast, .ranks = 2, .rounds = {}};
  program.rounds = {{}, {.sends = {{.from = 0, .to = 1}}, .after = {0}}, {.after = {0}}};
  program.rounds[2].sends.assign(80'000, {.from = 0, .to = 1});
  const auto of = [&](std::uint32_t streams) {
    return run(program, Bytes(1e6), net, Placements{first(2)}, Routing::ecmp, streams);
  };
  EXPECT_TRUE(of(10));
  ASSERT_FALSE(of(100));
  EXPECT_EQ(of(100).error().text(),
            "8000100 flows at the same time are too many (at most 8000000; take fewer ranks or "
            "fewer streams)");
  // One behind the other there is room for both.
  program.rounds[2].after = {1};
  EXPECT_TRUE(of(100));
}

TEST(Program, RefusesReductionWithoutASwitch) {
  Cluster cluster = nodes_of(8, 8, 400e9, 0, 1e-6, 0);
  cluster.levels[0].topology = LevelTopology{.wiring = LevelWiring::mesh};
  const auto program = program_of(Algorithm::in_switch, Kind::all_reduce, shape_of({8}));
  EXPECT_EQ(run(*program, Bytes(1e6), *network_of(cluster), Placements{first(8)}, Routing::ecmp)
                .error()
                .message,
            "the accelerators of a node are joined by no switch");
}

TEST(Program, PiecesThatMakeAPipelineShortest) {
  // 64 MiB over a chain of 16 at 5 us and 12 GB/s: pieces of 536 KB (1707.09414).
  const double n = 64 << 20;
  const std::uint32_t pieces = best_pieces(Bytes(n), 15, Seconds(5e-6), BytesPerSecond(12e9));
  EXPECT_NEAR(n / pieces, 536e3, 5e3);
  const Network net = star(16, 12e9, 5e-6);
  const auto time = [&](std::uint32_t c) {
    return run(*program_of(Algorithm::chain, Kind::broadcast, shape_of({16}, c)), Bytes(n), net,
               Placements{first(16)}, Routing::ecmp)
        ->time.value();
  };
  EXPECT_NEAR(time(pieces), 6914e-6, 20e-6);
  EXPECT_LT(time(pieces), time(pieces / 2));
  EXPECT_LT(time(pieces), time(pieces * 2));
}

}  // namespace
}  // namespace orrery
