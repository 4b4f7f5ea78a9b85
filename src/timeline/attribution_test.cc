// Where time goes on hand-made timelines; the parts always add up.
#include "timeline/attribution.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

enum class Category : std::uint8_t { products, attention, in_group, sent, bubble };

CategoryLabels labels() {
  return std::make_shared<const std::vector<CategoryLabel>>(
      std::vector<CategoryLabel>{{"products", CategoryClass::computing},
                                 {"attention", CategoryClass::computing},
                                 {"in a group", CategoryClass::communication},
                                 {"sent", CategoryClass::transfer},
                                 {"bubble", CategoryClass::idle}});
}

struct Fixture : testing::Test {
  GraphBuilder b{labels()};
  StreamIndex compute0 = b.add_stream({0, StreamRole::compute});
  StreamIndex tp0 = b.add_stream({0, StreamRole::communication});
  StreamIndex compute1 = b.add_stream({1, StreamRole::compute});
  StreamIndex send0 = b.add_stream({0, StreamRole::communication});

  NodeIndex add(NodeKind kind, Category category, StreamIndex stream, double ps,
                std::initializer_list<NodeIndex> after = {}) {
    const OperationIndex operation =
        b.intern(Operation{.kind = kind, .category = static_cast<CategoryIndex>(category)});
    return b.add(NodeSpec{operation, stream, Picoseconds(ps)}, after);
  }
};
using Attribution = Fixture;

TEST_F(Attribution, OnlyThePartOfATransferThatNothingHidesIsExposed) {
  add(NodeKind::kernel, Category::products, compute0, 10);
  const NodeIndex gather = add(NodeKind::collective, Category::in_group, tp0, 25);
  add(NodeKind::kernel, Category::attention, compute0, 7, {gather});
  const Graph g = b.build();
  const Timeline t = simulate(g);
  const Breakdown out = attribute(g, t, 0, {});
  EXPECT_EQ(out[Category::products], Picoseconds(10));
  EXPECT_EQ(out[Category::in_group], Picoseconds(15));
  EXPECT_EQ(out[Category::attention], Picoseconds(7));
  EXPECT_EQ(out.total(), t.makespan);
}

TEST_F(Attribution, WaitingForAnotherRankIsBubbleAndItsTransferIsCommunication) {
  const NodeIndex far = add(NodeKind::kernel, Category::products, compute0, 40);
  const NodeIndex send = add(NodeKind::point_to_point, Category::sent, send0, 5, {far});
  add(NodeKind::kernel, Category::attention, compute1, 3, {send});
  const Graph g = b.build();
  const Timeline t = simulate(g);
  const Breakdown out = attribute(g, t, 1, {});
  EXPECT_EQ(out[Category::bubble], Picoseconds(40));
  EXPECT_EQ(out[Category::sent], Picoseconds(5));
  EXPECT_EQ(out[Category::attention], Picoseconds(3));
  EXPECT_EQ(out.total(), t.makespan);
  // The other rank idles at the end.
  const Breakdown other = attribute(g, t, 0, {});
  EXPECT_EQ(other[Category::bubble], Picoseconds(8));
  EXPECT_EQ(other.total(), t.makespan);
}

TEST_F(Attribution, AFoldedBlockBringsItsOwnBreakdown) {
  Breakdown block;
  block[Category::products] = Picoseconds(6);
  block[Category::in_group] = Picoseconds(4);
  add(NodeKind::block, Category::bubble, compute0, 10);
  const Graph g = b.build();
  EXPECT_EQ(attribute(g, simulate(g), 0, std::vector<Breakdown>{block}), block);
}

}  // namespace
}  // namespace orrery
