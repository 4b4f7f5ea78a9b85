#include "trace/graph_file/graph_file.h"

#include <gmock/gmock.h>

#include "simulate/simulate.h"

namespace orrery {
namespace {

GraphFile sample() {
  GraphBuilder b;
  const StreamIndex compute = b.add_stream({0, StreamKind::compute});
  const StreamIndex dp = b.add_stream({0, StreamKind::dp});
  const StreamIndex other = b.add_stream({1, StreamKind::dp});
  const StreamIndex wire = b.add_stream({1, StreamKind::wire});
  const auto first = b.add({.kind = NodeKind::kernel,
                            .category = Category::feed_forward,
                            .name = b.intern("up \"and\" down\n"),
                            .stream = compute,
                            .duration = Picoseconds(1e6)});
  const auto sum = b.add_rendezvous({.kind = NodeKind::collective,
                                     .category = Category::exposed_dp,
                                     .name = b.intern("all-reduce"),
                                     .stream = dp,
                                     .duration = Picoseconds(9007199254740991.0)},
                                    {other, wire}, std::vector<NodeIndex>{first});
  b.add({.kind = NodeKind::point_to_point,
         .category = Category::exposed_pp,
         .name = b.intern("latency"),
         .stream = wire,
         .duration = Picoseconds(3)},
        {first, sum});
  return {b.build(),
          {"stream 7", "", "", ""},
          {{.rank = 0, .name = "ProfilerStep#4", .after = 0, .until = 2, .recorded_ps = 5e9}}};
}

TEST(GraphFile, IsReadBackAsItWas) {
  const GraphFile file = sample();
  const std::string text = graph_file_text(file);
  const auto back = parse_graph_file(text, "x");
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ(graph_file_text(*back), text);
  EXPECT_EQ(back->steps, file.steps);
  EXPECT_EQ(back->stream_names, file.stream_names);
  ASSERT_EQ(back->graph.size(), 3U);
  EXPECT_EQ(back->graph.name(NodeIndex(0)), "up \"and\" down\n");
  EXPECT_EQ(back->graph.category(NodeIndex(1)), Category::exposed_dp);
  EXPECT_EQ(back->graph.rendezvous_streams(NodeIndex(1)).size(), 2U);
  EXPECT_EQ(simulate(back->graph).end_ps, simulate(file.graph).end_ps);
}

TEST(GraphFile, IsOneNodeALine) {
  EXPECT_THAT(graph_file_text(sample()),
              ::testing::HasSubstr("\n{\"kind\": \"point_to_point\", \"category\": \"pp\", "
                                   "\"name\": 2, \"stream\": 3, \"duration_ps\": 3, "
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
  EXPECT_EQ(refusal("\"orrery_graph\": 1", "\"orrery_graph\": 7"),
            "g.json: is of version 7 (this program reads version 1)");
  EXPECT_EQ(refusal("\"after\": [0,1]", "\"after\": [0,2]"),
            "g.json: node 2: waits for a node that does not stand before it");
  EXPECT_EQ(refusal("\"after\": [0,1]", "\"after\": [-1]"),
            "g.json: node 2: waits for a node that does not stand before it");
  EXPECT_EQ(refusal("\"duration_ps\": 3", "\"duration_ps\": -3"),
            "g.json: node 2: 'duration_ps' is no whole number from 0 to 2^53");
  EXPECT_EQ(refusal("\"stream\": 3", "\"stream\": 4"),
            "g.json: node 2: 'stream' is no index into the streams");
  EXPECT_EQ(refusal("\"kernel\"", "\"colonel\""), "g.json: node 0: is of no known kind: 'colonel'");
  EXPECT_EQ(refusal("\"until\": 2", "\"until\": 3"),
            "g.json: step 0 lacks rank, name, recorded_ps, or a node 'until'");
  EXPECT_THAT(refusal("]}\n", ""), ::testing::HasSubstr("g.json: is not JSON: "));
  EXPECT_EQ(parse_graph_file("{}", "g.json").error().text(),
            "g.json: is no graph file (it begins {\"orrery_graph\": 1)");
}

}  // namespace
}  // namespace orrery
