// Chains of small graphs with known answers, and how labels make a path of them.
#include "timeline/critical_path.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

using testing::ElementsAre;

std::vector<std::uint32_t> nodes(const std::vector<ChainNode>& chain) {
  std::vector<std::uint32_t> out;
  for (const ChainNode& one : chain) out.push_back(one.node);
  return out;
}

// Two ranks; the second is late to a meeting of both, which the first waits for.
class TwoRanks : public testing::Test {
 protected:
  TwoRanks() {
    const StreamIndex first = builder.add_stream({0, StreamRole::compute});
    const StreamIndex second = builder.add_stream({1, StreamRole::compute});
    const auto spec = [&](StreamIndex stream, double ns) {
      return NodeSpec{builder.intern(Operation{}), stream, Picoseconds(ns * 1000)};
    };
    builder.add(spec(first, 100));
    builder.add(spec(second, 300));
    builder.add_rendezvous(spec(first, 50), {second});
    const NodeIndex last = builder.add(spec(first, 10));
    builder.add(spec(second, 0), {last});
    graph = builder.build();
  }

  GraphBuilder builder;
  Graph graph;
};

TEST_F(TwoRanks, TheChainGoesThroughTheRankThatComesLast) {
  const CriticalChains chains(graph, simulate(graph));
  const std::vector<ChainNode> chain = chains.up_to(4, 0);
  EXPECT_THAT(nodes(chain), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(chain[0].ns, 300);
  EXPECT_EQ(chain[3].ns, 0);
  EXPECT_EQ(chains.end_ns(4), 360);
  // From a moment within it.
  EXPECT_EQ(chains.up_to(3, 320).front().ns, 30);
}

TEST(Chains, TheFirstSourceWinsOfThoseThatEndedTogether) {
  const auto chain_by = [](std::uint32_t a, std::uint32_t b) {
    const CriticalChains chains({1000, 1000, 2000}, EdgeLists(3, [&](const auto& add) {
                                  add(2, a);
                                  add(2, b);
                                }));
    return nodes(chains.up_to(2, 0));
  };
  EXPECT_THAT(chain_by(0, 1), ElementsAre(0, 2));
  EXPECT_THAT(chain_by(1, 0), ElementsAre(1, 2));
}

TEST(Chains, NodesInACircleAreOrderedAllTheSame) {
  const EdgeLists circle(3, [](const auto& add) {
    add(0, 1);
    add(1, 2);
    add(2, 1);
  });
  const TopologicalOrder order = topological_order(circle);
  EXPECT_TRUE(order.circular);
  EXPECT_THAT(order.nodes, ElementsAre(0, 1, 2));
  EXPECT_FALSE(topological_order(EdgeLists(2, [](const auto& add) { add(1, 0); })).circular);
}

TEST(PathCollections, CutIntoStretchesWithTheirCauses) {
  PathCollection collection({});
  const auto add = [&](std::uint64_t place, bool on_host, bool awaited, std::int64_t ns) {
    collection.add({.rank = 0,
                    .place = place,
                    .on_host = on_host,
                    .name = on_host ? "call" : "kernel",
                    .bound = on_host ? PathBound::host : PathBound::compute,
                    .awaited = awaited},
                   ns);
  };
  add(1, true, false, 10);
  add(7, false, false, 20);
  add(7, false, true, 5);
  add(8, false, false, 30);
  add(9, false, false, 1);
  add(1, true, false, 2);
  collection.add({.rank = 1, .place = 3, .bound = PathBound::copies}, 4);
  const StepPath path = collection.path();
  EXPECT_EQ(path.length_ns, 72);
  EXPECT_EQ(path.operations, 7);
  std::vector<StretchCause> causes;
  for (const PathStretch& stretch : path.stretches) causes.push_back(stretch.cause);
  EXPECT_THAT(causes,
              ElementsAre(StretchCause::window, StretchCause::launch, StretchCause::other_stream,
                          StretchCause::room, StretchCause::device, StretchCause::rank));
  EXPECT_EQ(path.names.front().total_ns, 56);
  EXPECT_EQ(path.names.front().count, 4);
  EXPECT_EQ(path.on_others_ns[static_cast<std::size_t>(PathBound::copies)], 4);
}

}  // namespace
}  // namespace orrery
