#include "analyze/critical_path.h"

#include <gmock/gmock.h>

#include <numeric>
#include <set>

#include "trace/hand_made_trace.h"
#include "trace/kineto/kineto.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

using Kind = PathEdge::Kind;

const std::string kPaths =
    ORRERY_SOURCE_DIR "/validation/traces/HolisticTraceAnalysis/critical_path/";
constexpr std::string_view kForward = "[param|pytorch.model.alex_net|0|0|0|measure|forward]";

struct AnalyzedSpan {
  RecordedTrace trace;
  LaunchLinks links;
  PathGraph graph;
  std::vector<std::uint32_t> edges;  // of the path
  StepPath path;
};

AnalyzedSpan analyzed(const std::string& file, std::string_view annotation, std::size_t instance) {
  auto trace = read_kineto(kPaths + file);
  EXPECT_TRUE(trace) << trace.error().text();
  AnalyzedSpan result = {
      .trace = std::move(*trace), .links = {}, .graph = {}, .edges = {}, .path = {}};
  result.links = launch_links(result.trace);
  const auto event = annotated_event(result.trace, annotation, instance);
  EXPECT_TRUE(event);
  result.graph = path_graph(result.trace, result.links,
                            {result.trace.start_ns[*event], result.trace.end_ns(*event)});
  const auto edges = longest_path(result.trace, result.graph);
  EXPECT_TRUE(edges);
  result.edges = *edges;
  result.path = critical_path(result.trace, result.graph, *edges);
  return result;
}

// Published figures number events by their place in the file.
std::uint32_t at_place(const RecordedTrace& trace, std::uint32_t place) {
  const auto it = std::find(trace.place.begin(), trace.place.end(), place);
  EXPECT_NE(it, trace.place.end());
  return static_cast<std::uint32_t>(it - trace.place.begin());
}

std::vector<PathEdge> edges_between(const PathGraph& graph, std::uint32_t from, std::uint32_t to) {
  std::vector<PathEdge> found;
  for (const PathEdge& edge : graph.edges) {
    if (edge.from == from && edge.to == to) found.push_back(edge);
  }
  return found;
}

// Tests of facebookresearch/HolisticTraceAnalysis f4d0062, tests/test_critical_path_analysis.py.
class SimpleAdd : public testing::Test {
 protected:
  AnalyzedSpan run =
      analyzed("simple_add/benchmark_result_493459_1694039959_trace.json.gz", kForward, 1);
};

TEST_F(SimpleAdd, HasThePublishedPath) {
  EXPECT_EQ(run.path.operations, 315);
  EXPECT_EQ(run.edges.size(), 314U);
  std::set<std::uint32_t> events;
  for (const std::uint32_t e : run.edges) {
    events.insert(run.graph.points[run.graph.edges[e].from].event);
    events.insert(run.graph.points[run.graph.edges[e].to].event);
  }
  EXPECT_EQ(events.size(), 159U);
  const auto waits = std::count_if(run.edges.begin(), run.edges.end(), [&](std::uint32_t e) {
    const Kind kind = run.graph.edges[e].kind;
    return kind == Kind::dependency || kind == Kind::launch_delay || kind == Kind::synchronization;
  });
  EXPECT_EQ(waits, 21);
}

TEST_F(SimpleAdd, NestsOperatorsAndAttributesTheirTime) {
  const std::uint32_t relu = at_place(run.trace, 286);
  const std::uint32_t clamp = at_place(run.trace, 287);
  const std::uint32_t launch = at_place(run.trace, 1005);
  EXPECT_EQ(run.trace.name_of(relu), "aten::relu_");
  EXPECT_EQ(run.graph.start_of[relu], 57U);
  EXPECT_EQ(run.graph.end_of[relu], 62U);
  EXPECT_EQ(run.graph.start_of[clamp], 58U);
  EXPECT_EQ(run.graph.end_of[clamp], 61U);
  EXPECT_EQ(run.graph.start_of[launch], 59U);
  EXPECT_EQ(run.graph.end_of[launch], 60U);
  struct Published {
    std::uint32_t from;
    std::int64_t us;
    std::uint32_t event;
  };
  for (const Published& edge :
       {Published{57, 15, relu}, Published{58, 14, clamp}, Published{59, 17, launch},
        Published{60, 15, clamp}, Published{61, 32, relu}}) {
    const auto found = edges_between(run.graph, edge.from, edge.from + 1);
    ASSERT_EQ(found.size(), 1U) << edge.from;
    EXPECT_EQ(found[0].weight_ns, edge.us * 1000);
    EXPECT_EQ(found[0].event, edge.event);
  }
}

TEST_F(SimpleAdd, KnowsLaunchDelaysGapsAndWaits) {
  const std::uint32_t first = at_place(run.trace, 1051);
  const std::uint32_t second = at_place(run.trace, 1067);
  const std::uint32_t last = at_place(run.trace, 1275);
  std::vector<PathEdge> to_first;
  std::vector<PathEdge> to_second;
  std::vector<PathEdge> from_last;
  for (const PathEdge& edge : run.graph.edges) {
    if (edge.to == run.graph.start_of[first]) to_first.push_back(edge);
    if (edge.to == run.graph.start_of[second]) to_second.push_back(edge);
    if (edge.from == run.graph.end_of[last]) from_last.push_back(edge);
  }
  ASSERT_EQ(to_first.size(), 1U);
  EXPECT_EQ(to_first[0].kind, Kind::launch_delay);
  EXPECT_EQ(to_first[0].weight_ns, 27'000);
  ASSERT_EQ(to_second.size(), 2U);
  EXPECT_EQ(to_second[0].kind, Kind::kernel_gap);
  EXPECT_EQ(to_second[0].weight_ns, 7'000);
  EXPECT_EQ(to_second[0].from, run.graph.end_of[first]);
  EXPECT_EQ(to_second[1].kind, Kind::launch_delay);
  EXPECT_EQ(to_second[1].weight_ns, 0);
  ASSERT_EQ(from_last.size(), 1U);
  EXPECT_EQ(from_last[0].kind, Kind::synchronization);
  EXPECT_EQ(from_last[0].weight_ns, 0);
  EXPECT_EQ(from_last[0].to, run.graph.end_of[at_place(run.trace, 1281)]);
}

TEST_F(SimpleAdd, CompositionAddsUpToTheLength) {
  EXPECT_EQ(
      std::accumulate(run.path.by_bound_ns.begin(), run.path.by_bound_ns.end(), std::int64_t{0}),
      run.path.length_ns);
  std::int64_t in_table = 0;
  for (const PathShare& row : run.path.names) in_table += row.total_ns;
  EXPECT_EQ(in_table, run.path.length_ns);
}

TEST(CriticalPathOfAlexNet, WaitsForKernelsAtNoCost) {
  const AnalyzedSpan run =
      analyzed("alexnet/benchmark_result_2869224_1695835535_trace.json.gz", kForward, 1);
  int waits = 0;
  for (const PathEdge& edge : run.graph.edges) {
    if (edge.kind != Kind::synchronization) continue;
    ++waits;
    EXPECT_EQ(edge.weight_ns, 0);
  }
  EXPECT_GE(waits, 1);
}

// Two streams: the second waits, by an event, for the kernel of the first.
TEST(CriticalPathByHand, CrossesStreamsWhereAnEventIsAwaited) {
  HandMadeTrace made;
  made.step(1, 0, 1000);
  made.op("aten::mm", 10, 200);
  made.call(20, 30, 1);
  const std::uint32_t awaited = made.kernel("gemm", 7, 40, 600, 1);
  made.call(50, 55, 2, "cudaEventRecord");
  made.call(60, 65, 3, "cudaStreamWaitEvent");
  const std::uint32_t wait =
      made.add(EventKind::synchronization, "Stream Wait Event", made.stream(8), 66, 66, 3);
  made.trace.details[wait] = 0;
  made.trace.synchronizations.push_back(
      {.stream = 8, .awaited_stream = 7, .record_correlation = 2});
  made.call(80, 90, 4);
  const std::uint32_t waiting = made.kernel("gemm2", 8, 600, 900, 4);
  const LaunchLinks links = launch_links(made.trace);
  const PathGraph graph = path_graph(made.trace, links, {0, 1000});
  const auto found = edges_between(graph, graph.end_of[awaited], graph.start_of[waiting]);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, Kind::synchronization);
  const auto edges = longest_path(made.trace, graph);
  ASSERT_TRUE(edges);
  const StepPath path = critical_path(made.trace, graph, *edges);
  const auto bound_by = [&](PathBound bound) {
    return path.by_bound_ns[static_cast<std::size_t>(bound)];
  };
  // Operator until the launch, launch delay, both kernels.
  EXPECT_EQ(path.length_ns, 10 + 20 + 560 + 300);
  EXPECT_EQ(bound_by(PathBound::compute), 860);
  EXPECT_EQ(bound_by(PathBound::launch_delay), 20);
  EXPECT_EQ(bound_by(PathBound::host), 10);
}

TEST(AnnotatedEvent, SaysWhatThereIsInstead) {
  HandMadeTrace made;
  const std::uint32_t step = made.step(7, 0, 10);
  EXPECT_EQ(annotated_event(made.trace, "ProfilerStep", 0).value(), step);
  EXPECT_EQ(annotated_event(made.trace, "ProfilerStep", 1).error().text(),
            "'ProfilerStep' occurs 1 times, there is no instance 1 (instances are 0 to 0)");
  EXPECT_EQ(annotated_event(made.trace, "ProfilerStop", 0).error().text(),
            "no annotation contains 'ProfilerStop' (did you mean 'ProfilerStep#7'?)");
}

}  // namespace
}  // namespace orrery
