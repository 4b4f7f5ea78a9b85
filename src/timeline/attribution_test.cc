// Where time goes on hand-made timelines; the parts always add up.
#include "timeline/attribution.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

struct Fixture : testing::Test {
  GraphBuilder b;
  StreamIndex compute0 = b.add_stream({0, StreamKind::compute});
  StreamIndex tp0 = b.add_stream({0, StreamKind::tp});
  StreamIndex compute1 = b.add_stream({1, StreamKind::compute});
  StreamIndex send0 = b.add_stream({0, StreamKind::pp_forward});

  NodeIndex add(NodeKind kind, Category category, StreamIndex stream, double ps,
                std::initializer_list<NodeIndex> after = {}) {
    return b.add(NodeSpec{kind, category, {}, stream, Picoseconds(ps)}, after);
  }
};
using Attribution = Fixture;

TEST_F(Attribution, OnlyThePartOfATransferThatNothingHidesIsExposed) {
  add(NodeKind::kernel, Category::feed_forward, compute0, 10);
  const NodeIndex gather = add(NodeKind::collective, Category::exposed_tp, tp0, 25);
  add(NodeKind::kernel, Category::attention_core, compute0, 7, {gather});
  const Graph g = b.build();
  const Timeline t = simulate(g);
  const Breakdown out = attribute(g, t, 0, {});
  EXPECT_EQ(out[Category::feed_forward], Picoseconds(10));
  EXPECT_EQ(out[Category::exposed_tp], Picoseconds(15));
  EXPECT_EQ(out[Category::attention_core], Picoseconds(7));
  EXPECT_EQ(out.total(), t.makespan);
}

TEST_F(Attribution, WaitingForAnotherRankIsBubbleAndItsTransferIsCommunication) {
  const NodeIndex far = add(NodeKind::kernel, Category::feed_forward, compute0, 40);
  const NodeIndex send = add(NodeKind::point_to_point, Category::exposed_pp, send0, 5, {far});
  add(NodeKind::kernel, Category::logits, compute1, 3, {send});
  const Graph g = b.build();
  const Timeline t = simulate(g);
  const Breakdown out = attribute(g, t, 1, {});
  EXPECT_EQ(out[Category::bubble], Picoseconds(40));
  EXPECT_EQ(out[Category::exposed_pp], Picoseconds(5));
  EXPECT_EQ(out[Category::logits], Picoseconds(3));
  EXPECT_EQ(out.total(), t.makespan);
  // The other rank idles at the end.
  const Breakdown other = attribute(g, t, 0, {});
  EXPECT_EQ(other[Category::bubble], Picoseconds(8));
  EXPECT_EQ(other.total(), t.makespan);
}

TEST_F(Attribution, AFoldedBlockBringsItsOwnBreakdown) {
  Breakdown block;
  block[Category::feed_forward] = Picoseconds(6);
  block[Category::exposed_tp] = Picoseconds(4);
  add(NodeKind::block, Category::bubble, compute0, 10);
  const Graph g = b.build();
  EXPECT_EQ(attribute(g, simulate(g), 0, std::vector<Breakdown>{block}), block);
}

}  // namespace
}  // namespace orrery
