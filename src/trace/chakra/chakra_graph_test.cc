#include "trace/chakra/chakra_graph.h"

#include <gmock/gmock.h>

#include "simulate/simulate.h"
#include "trace/chakra/chakra_file.h"

namespace orrery {
namespace {

const std::string kTraces = ORRERY_SOURCE_DIR "/validation/traces/";

ChakraNode node(std::uint64_t id, bool host, std::uint64_t micros,
                std::vector<std::uint64_t> after = {}) {
  ChakraNode out;
  out.id = id;
  out.name = "n" + std::to_string(id);
  out.type = ChakraNodeType::compute;
  out.duration_micros = micros;
  out.data_dependencies = std::move(after);
  out.attributes = {chakra_boolean("is_cpu_op", host)};
  return out;
}

TEST(ChakraGraph, RunsHostAndDeviceBesideEachOther) {
  // The host launches two kernels of 10 us after 2 us each; a third operator waits for the first.
  ChakraTrace trace;
  trace.nodes = {node(1, true, 2), node(2, false, 10, {1}), node(3, true, 2, {1}),
                 node(4, false, 10, {3}), node(5, true, 1, {2})};
  const auto graph = chakra_graph(trace, 0, "x.et");
  ASSERT_TRUE(graph) << graph.error().text();
  const Timeline timeline = simulate(graph->graph);
  EXPECT_EQ(timeline.makespan, Picoseconds(22e6));  // 2 + 10 + 10: kernels one at a time
  const auto spans = chakra_spans(*graph);
  ASSERT_EQ(spans.size(), 5U);
  EXPECT_EQ(spans[0].stream, "compute");
  EXPECT_EQ(spans[0].start, Picoseconds(2e6));
  EXPECT_EQ(spans[4].name, "n5");
  EXPECT_EQ(spans[4].start, Picoseconds(12e6));
}

TEST(ChakraGraph, TakesNoLessThanTheDependenciesOfARealTrace) {
  const auto trace = read_chakra(kTraces + "megatron-lm-fork/tp2/final.0.et");
  ASSERT_TRUE(trace);
  const auto graph =
      chakra_graph(*trace, 0, "final.0.et", {.absent = AbsentDependencies::count_as_done});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->graph.size(), 2128U);
  double host = 0;
  for (const ChakraNode& n : trace->nodes) {
    if (n.is_host()) host += static_cast<double>(n.duration_micros) * 1e6;
  }
  // A step bound by its host: the two threads follow each other, so its time is theirs.
  EXPECT_GE(simulate(graph->graph).makespan.count(), host * 0.99);
}

TEST(ChakraGraph, RefusesTimesBeyondItsClock) {
  ChakraTrace trace;
  trace.nodes = {node(1, true, 1ULL << 60)};
  EXPECT_EQ(chakra_graph(trace, 0, "x.et").error().text(),
            "x.et: node 1: takes 1152921504606846976 microseconds (at most 9e9, two and a half "
            "hours)");
}

}  // namespace
}  // namespace orrery
