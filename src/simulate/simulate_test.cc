// The simulator against hand-made graphs and the laws every simulation obeys.
#include "simulate/simulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "outcome/invariant.h"

namespace orrery {
namespace {

NodeSpec work(StreamIndex stream, double ps) {
  NodeSpec spec;
  spec.stream = stream;
  spec.duration = Picoseconds(ps);
  return spec;
}

TEST(Simulate, StreamsRunInOrderAndEdgesHold) {
  GraphBuilder b;
  const StreamIndex s = b.add_stream({0, StreamRole::compute});
  const StreamIndex t = b.add_stream({0, StreamRole::communication});
  const NodeIndex a = b.add(work(s, 10));
  const NodeIndex c = b.add(work(t, 5), {a});
  const NodeIndex d = b.add(work(s, 3));       // beside c
  const NodeIndex e = b.add(work(s, 1), {c});  // waits for c
  const Graph g = b.build();
  const Timeline timeline = simulate(g);
  EXPECT_EQ(timeline.end(a), Picoseconds(10));
  EXPECT_EQ(timeline.end(c), Picoseconds(15));
  EXPECT_EQ(timeline.end(d), Picoseconds(13));
  EXPECT_EQ(timeline.start(g, e), Picoseconds(15));
  EXPECT_EQ(timeline.makespan, Picoseconds(16));
}

TEST(Simulate, NobodyLeavesARendezvousBeforeTheLastHasCome) {
  GraphBuilder b;
  const StreamIndex s = b.add_stream({0, StreamRole::compute});
  const StreamIndex t = b.add_stream({1, StreamRole::compute});
  b.add(work(s, 10));
  b.add(work(t, 30));
  const NodeIndex meet = b.add_rendezvous(work(s, 5), {t});
  const NodeIndex after = b.add(work(t, 1));
  const Graph g = b.build();
  const Timeline timeline = simulate(g);
  EXPECT_EQ(timeline.end(meet), Picoseconds(35));
  EXPECT_EQ(timeline.end(after), Picoseconds(36));
}

TEST(Simulate, AnEdgeFromALaterNodeIsABugOfOurs) {
  GraphBuilder b;
  const StreamIndex s = b.add_stream({0, StreamRole::compute});
  EXPECT_THROW(b.add(work(s, 1), {NodeIndex(7)}), InvariantError);
}

// Every lane of a random graph with a rendezvous and a wire is that set of durations alone.
TEST(Simulate, LanesAgreeWithOneSetOfDurationsToTheBit) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    GraphBuilder b;
    std::vector<StreamIndex> streams;
    for (std::uint32_t i = 0; i < 4; ++i) {
      streams.push_back(b.add_stream({i, i == 3 ? StreamRole::wire : StreamRole::compute}));
    }
    for (std::uint32_t i = 0; i < 80; ++i) {
      std::vector<NodeIndex> after;
      if (i > 0) after.emplace_back(random() % i);
      if (i % 20 == 19) {
        b.add_rendezvous(work(streams[0], 1), {streams[1], streams[2]}, after);
      } else {
        b.add(work(streams[random() % 4], 1), after);
      }
    }
    const Graph g = b.build();
    std::vector<double> durations(kLanes * g.size());
    for (double& d : durations) d = static_cast<double>(random() % 100'000);
    std::vector<double> ends(durations.size());
    const auto makespans = simulate_lanes<kLanes>(g, durations, ends);
    for (std::size_t k = 0; k < kLanes; ++k) {
      std::vector<double> lane;
      for (std::size_t i = 0; i < g.size(); ++i) lane.push_back(durations[kLanes * i + k]);
      const Timeline alone = simulate(g, lane);
      EXPECT_EQ(alone.makespan.count(), makespans[k]);
      for (std::size_t i = 0; i < g.size(); ++i) EXPECT_EQ(alone.end_ps[i], ends[kLanes * i + k]);
    }
  }
}

// Random graphs: the makespan is at least the busiest stream and the longest chain, at most the sum
// of all work, and no longer when any duration shrinks.
TEST(Simulate, BoundsAndMonotonicityOnRandomGraphs) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    GraphBuilder b;
    std::vector<StreamIndex> streams;
    for (std::uint32_t i = 0; i < 4; ++i) streams.push_back(b.add_stream({i, StreamRole::compute}));
    std::vector<double> busy(4), chain;
    double total = 0;
    double longest = 0;
    for (std::uint32_t i = 0; i < 60; ++i) {
      const std::size_t s = random() % 4;
      const double d = static_cast<double>(random() % 1000);
      std::vector<NodeIndex> after;
      double before = 0;
      for (int e = 0; e < 2 && i > 0; ++e) {
        after.emplace_back(random() % i);
        before = std::max(before, chain[after.back().value()]);
      }
      b.add(work(streams[s], d), after);
      chain.push_back(before + d);
      longest = std::max(longest, chain.back());
      busy[s] += d;
      total += d;
    }
    const Graph g = b.build();
    const double makespan = simulate(g).makespan.count();
    EXPECT_GE(makespan, longest);
    for (const double t : busy) EXPECT_GE(makespan, t);
    EXPECT_LE(makespan, total);
    std::vector<double> shorter(g.durations().begin(), g.durations().end());
    shorter[random() % shorter.size()] *= 0.5;
    for (double& d : shorter) d = std::floor(d);
    EXPECT_LE(simulate(g, shorter).makespan.count(), makespan);
  }
}

}  // namespace
}  // namespace orrery
