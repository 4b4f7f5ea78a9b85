#include "trace/graph_file/graph_file.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "simulate/simulate.h"

namespace orrery {
namespace {

GraphFile sample() {
  GraphBuilder b(std::make_shared<const std::vector<CategoryLabel>>(std::vector<CategoryLabel>{
                     {"products", CategoryClass::computing}, {"dp", CategoryClass::communication}}),
                 {{"replicas", {16, {8, 16}}}});
  const StreamIndex compute = b.add_stream({0, StreamRole::compute, b.intern("stream 7")});
  const StreamIndex dp = b.add_stream({0, StreamRole::communication});
  const StreamIndex other = b.add_stream({1, StreamRole::communication});
  const StreamIndex wire = b.add_stream({1, StreamRole::wire});
  const OperationIndex product =
      b.intern({.kind = NodeKind::kernel,
                .name = b.intern("up \"and\" down\n"),
                .parts = {{.what = Kernel{.shape = GemmShape{4096, 512, 1024, 2},
                                          .format = NumberFormat::fp8,
                                          .flops = Flops(8589934592.0),
                                          .bytes = Bytes(0.1)}},
                          {.what = Kernel{.shape = AttentionShape{.batch = 1,
                                                                  .queries = 8,
                                                                  .causal = true,
                                                                  .pairs = 0.25,
                                                                  .longest = 2},
                                          .attention = AttentionKernel::flash_3,
                                          .direction = Direction::backward,
                                          .launches = 4,
                                          .pieces = 2},
                           .rounding = OperationPart::Rounding::with_previous},
                          {.what = Kernel{.bytes = Bytes(7), .launches = 3}},
                          {.what = HostCopy{Bytes(5)}},
                          {.what = StatedTime{Seconds(1e-6)}}}});
  const OperationIndex reduce =
      b.intern({.kind = NodeKind::collective,
                .category = CategoryIndex{1},
                .name = b.intern("all-reduce"),
                .parts = {{.what = Communication{
                               .collective = CollectiveKind::reduce_scatter,
                               .group = GroupIndex(0),
                               .payload = Bytes(1e9 / 3),
                               .pieces = 7,
                               .times = 2,
                               .exposed = 0.5,
                               .tokens = TokenExchange{4096, Bytes(2048), 6, 64, false}}}}});
  const OperationIndex send = b.intern({.kind = NodeKind::point_to_point,
                                        .category = CategoryIndex{1},
                                        .name = b.intern("latency"),
                                        .parts = {{.what = Message{Bytes(3), 1}}}});
  const auto first = b.add({product, compute, Picoseconds(1e6)});
  const auto sum = b.add_rendezvous({reduce, dp, Picoseconds(9007199254740991.0)}, {other, wire},
                                    std::vector<NodeIndex>{first});
  b.add({send, wire, Picoseconds(3)}, {first, sum});
  return {b.build(),
          {{.rank = 0, .name = "ProfilerStep#4", .after = 0, .until = 2, .recorded_ps = 5e9}}};
}

TEST(GraphFile, IsReadBackAsItWas) {
  const GraphFile file = sample();
  const std::string text = graph_file_text(file);
  const auto back = parse_graph_file(text, "x");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(graph_file_text(*back), text);
  EXPECT_EQ(back->steps, file.steps);
  EXPECT_EQ(back->graph.label(StreamIndex(0)), "stream 7");
  EXPECT_TRUE(std::ranges::equal(back->graph.categories(), file.graph.categories()));
  EXPECT_TRUE(std::ranges::equal(back->graph.groups(), file.graph.groups()));
  ASSERT_EQ(back->graph.operations().size(), file.graph.operations().size());
  for (std::size_t o = 0; o < file.graph.operations().size(); ++o) {
    EXPECT_EQ(back->graph.operations()[o].parts, file.graph.operations()[o].parts);
  }
  ASSERT_EQ(back->graph.size(), 3U);
  EXPECT_EQ(back->graph.name(NodeIndex(0)), "up \"and\" down\n");
  EXPECT_EQ(back->graph.label(back->graph.category(NodeIndex(1))), "dp");
  EXPECT_EQ(back->graph.rendezvous_streams(NodeIndex(1)).size(), 2U);
  EXPECT_EQ(simulate(back->graph).end_ps, simulate(file.graph).end_ps);
}

TEST(GraphFile, IsOneNodeALine) {
  EXPECT_THAT(graph_file_text(sample()),
              ::testing::HasSubstr("\n{\"operation\": 2, \"stream\": 3, \"duration_ps\": 3, "
                                   "\"after\": [0,1]}]}\n"));
}

std::string refusal(const std::string& from, const std::string& to) {
  std::string text = graph_file_text(sample());
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const auto file = parse_graph_file(text, "g.json");
  return file ? "accepted" : file.error().text();
}

TEST(GraphFile, RefusesWhatIsNoGraph) {
  EXPECT_EQ(refusal("\"orrery_graph\": 2", "\"orrery_graph\": 1"),
            "g.json: is of version 1 (this program reads version 2: write the graph again)");
  EXPECT_EQ(refusal("\"after\": [0,1]", "\"after\": [0,2]"),
            "g.json: node 2: waits for a node that does not stand before it");
  EXPECT_EQ(refusal("\"after\": [0,1]", "\"after\": [-1]"),
            "g.json: node 2: waits for a node that does not stand before it");
  EXPECT_EQ(refusal("\"duration_ps\": 3", "\"duration_ps\": -3"),
            "g.json: node 2: 'duration_ps' is not a whole number from 0 to 2^53");
  EXPECT_EQ(refusal("\"stream\": 3", "\"stream\": 4"),
            "g.json: node 2: 'stream' is not an index into the streams");
  EXPECT_EQ(refusal("\"kind\": \"kernel\"", "\"kind\": \"colonel\""),
            "g.json: operation 0 is of no known kind: 'colonel'");
  EXPECT_EQ(refusal("\"role\": \"wire\"", "\"role\": \"rope\""),
            "g.json: stream 3 has no known role: 'rope'");
  EXPECT_EQ(refusal("\"class\": \"computing\"", "\"class\": \"resting\""),
            "g.json: category 0 is of no known class (at most 20 of: computing, communication, "
            "transfer, copy, host, idle)");
  EXPECT_EQ(refusal("\"members\": [8,16]", "\"members\": [-8]"),
            "g.json: group 0 lacks size or members");
  EXPECT_EQ(refusal("\"category\": 1, \"name\": \"latency\"", "\"category\": 2, \"name\": \"\""),
            "g.json: operation 2: 'category' is not an index into the categories");
  EXPECT_EQ(refusal("\"group\": 0", "\"group\": 1"), "g.json: operation 1 has a part that is none");
  EXPECT_EQ(refusal("\"operation\": 2", "\"operation\": 3"),
            "g.json: node 2: 'operation' is not an index into the operations");
  EXPECT_EQ(refusal("\"until\": 2", "\"until\": 3"),
            "g.json: step 0 lacks rank, name, recorded_ps, or a node 'until'");
  EXPECT_THAT(refusal("]}\n", ""), ::testing::HasSubstr("g.json: is not JSON: "));
  EXPECT_EQ(parse_graph_file("{}", "g.json").error().text(),
            "g.json: is not a graph file (it begins {\"orrery_graph\": 2)");
}

}  // namespace
}  // namespace orrery
