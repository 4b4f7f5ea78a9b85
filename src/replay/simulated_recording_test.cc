#include "replay/simulated_recording.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "replay/graph_from_run.h"
#include "replay/replay.h"
#include "replay/run_graph_file.h"
#include "trace/chakra/chakra_conversion.h"
#include "trace/collective_instances.h"
#include "trace/marked_steps.h"
#include "trace/published_traces.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;

// Every operator and kernel by name, start and duration in microseconds.
std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> events(const RecordedTrace& trace,
                                                                        EventKind kind) {
  std::vector<std::tuple<std::string, std::int64_t, std::int64_t>> out;
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] != kind) continue;
    out.emplace_back(trace.name_of(e), (trace.base_ns + trace.start_ns[e]) / 1000,
                     trace.duration_ns[e] / 1000);
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(SimulatedRecording, SeesChakraTracesAsTheRecordingTheyWereMadeOf) {
  const auto run = read_run({kTraces + "torchrec/sst_long_a2a_optimizer_4"});
  ASSERT_TRUE(run) << run.error().text();
  ChakraRun chakra;
  for (const RecordedTrace& rank : run->ranks) {
    auto converted = chakra_from(rank, ChakraConversionOptions{.fills = Fills::keep});
    ASSERT_TRUE(converted);
    chakra.push_back({rank.rank, rank.file, std::move(converted->trace)});
  }
  const auto again = simulated_recording(chakra);
  ASSERT_TRUE(again) << again.error().text();
  ASSERT_EQ(again->ranks.size(), run->ranks.size());
  for (std::size_t r = 0; r < run->ranks.size(); ++r) {
    SCOPED_TRACE(r);
    const RecordedTrace& before = run->ranks[r];
    const RecordedTrace& after = again->ranks[r];
    const auto operators = events(before, EventKind::cpu_operator);
    const auto seen = events(after, EventKind::cpu_operator);
    // The steps are marks; what takes less than a microsecond has no time in the format.
    EXPECT_GT(seen.size(), operators.size() * 95 / 100);
    std::map<std::pair<std::string, std::int64_t>, std::int64_t> durations;
    for (const auto& [name, start, duration] : operators) durations[{name, start}] = duration;
    for (const auto& [name, start, duration] : events(before, EventKind::annotation)) {
      durations[{name, start}] = duration;  // operators, in the format
    }
    std::size_t same = 0;
    for (const auto& [name, start, duration] : seen) {
      const auto it = durations.find({name, start});
      ASSERT_NE(it, durations.end()) << name << " at " << start;
      same += std::abs(it->second - duration) <= 20 ? 1U : 0U;
    }
    EXPECT_GT(same, seen.size() * 98 / 100);  // with callees, each cut to a microsecond
    for (const auto& [name, start, duration] : events(after, EventKind::kernel)) {
      const auto kernels = events(before, EventKind::kernel);
      ASSERT_TRUE(
          std::binary_search(kernels.begin(), kernels.end(), std::tuple(name, start, duration)))
          << name << " at " << start;
    }
    const auto marks = marked_steps(before);
    const auto marks_again = marked_steps(after);
    ASSERT_EQ(marks_again.size(), marks.size());
    for (std::size_t s = 0; s < marks.size(); ++s) {
      const auto length = [](const MarkedStep& step) { return step.end_ns - step.start_ns; };
      EXPECT_EQ(marks_again[s].number, marks[s].number);
      EXPECT_NEAR(static_cast<double>(length(marks_again[s])),
                  static_cast<double>(length(marks[s])),
                  0.01 * static_cast<double>(length(marks[s])));
    }
  }
}

TEST(SimulatedRecording, GivesAGraphTheStepsItsReplayHas) {
  const auto run = read_run({kTraces + "torchrec/sst_long_a2a_optimizer_4"});
  ASSERT_TRUE(run);
  const auto graph = graph_from_run(run->ranks);
  ASSERT_TRUE(graph);
  const Replay replayed = replay(run->ranks, graph->graph);
  const auto seen = simulated_recording(graph_file(run->ranks, graph->graph), "run.graph.json");
  ASSERT_TRUE(seen) << seen.error().text();
  std::size_t next = 0;
  for (const RecordedTrace& rank : seen->ranks) {
    for (const MarkedStep& step : marked_steps(rank)) {
      ASSERT_LT(next, replayed.steps.size());
      EXPECT_NEAR(static_cast<double>(step.end_ns - step.start_ns) * 1e-9,
                  replayed.steps[next].replayed.value(), 1e-9);
      ++next;
    }
  }
  EXPECT_EQ(next, replayed.steps.size());
}

ChakraNode node(std::uint64_t id, std::uint64_t caller, bool host, std::uint64_t start,
                std::uint64_t duration) {
  ChakraNode out;
  out.id = id;
  out.name = "n" + std::to_string(id);
  out.type = ChakraNodeType::compute;
  if (caller != 0) out.control_dependencies = {caller};
  out.start_micros = start;
  out.duration_micros = duration;
  out.attributes = {chakra_boolean("is_cpu_op", host)};
  return out;
}

TEST(SimulatedRecording, TakesDurationsAsTheyAreMeant) {
  const auto duration = [](std::uint64_t own) {
    ChakraRun run(1);
    run[0].file = "t.0.et";
    run[0].trace.nodes = {node(1, 0, true, 1000, own), node(2, 1, true, 1010, 50),
                          node(3, 2, false, 1030, 70)};
    const auto seen = simulated_recording(run);
    return seen ? seen->ranks[0].duration_ns[0] : -1;
  };
  EXPECT_EQ(duration(30), 80'000);    // its own, beside 50 of what it called
  EXPECT_EQ(duration(100), 100'000);  // the whole
}

TEST(SimulatedRecording, SurvivesCallersInACircleAndRefusesImpossibleTimes) {
  ChakraRun run(1);
  run[0].file = "t.0.et";
  run[0].trace.nodes = {node(1, 2, true, 1000, 5), node(2, 1, true, 1010, 50)};
  const auto seen = simulated_recording(run);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->ranks[0].size(), 2u);
  run[0].trace.nodes[1].start_micros = std::numeric_limits<std::uint64_t>::max();
  const auto impossible = simulated_recording(run);
  ASSERT_FALSE(impossible);
  EXPECT_THAT(impossible.error().text(), HasSubstr("t.0.et: node 2: starts at -1 microseconds"));
}

// The mark is one attribute with one text; others of that name, as a list, say nothing.
TEST(SimulatedRecording, BelievesATraceThatSaysItsTimesAreSimulated) {
  ChakraRun run(2);
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    run[static_cast<std::size_t>(rank)].rank = rank;
    run[static_cast<std::size_t>(rank)].file = "t.et";
    run[static_cast<std::size_t>(rank)].trace.nodes = {node(1, 0, false, 1000, 20)};
  }
  run[1].trace.attributes = {chakra_text("times", "recorded"), chakra_int64("times", 1)};
  EXPECT_EQ(simulated_recording(run)->source, RunSource::execution_trace);
  run[1].trace.mark_times_simulated();
  const auto marked = simulated_recording(run);
  EXPECT_EQ(marked->source, RunSource::predicted_trace);
  EXPECT_TRUE(is_simulated(marked->source));
  const std::size_t attributes = run[1].trace.attributes.size();
  run[1].trace.mark_times_simulated();
  EXPECT_EQ(run[1].trace.attributes.size(), attributes);
}

// A group is its ranks: two groups of one name, as of two pipeline stages, have nothing to do with
// each other, though their collectives end together.
TEST(SimulatedRecording, MatchesCommunicationsWithinTheRanksOfAGroup) {
  ChakraRun run(4);
  for (std::size_t r = 0; r < run.size(); ++r) {
    run[r].rank = static_cast<std::int64_t>(r);
    run[r].file = "t.et";
    ChakraNode groups;
    groups.id = 1;
    groups.name = "## process_group:init ##";
    groups.type = ChakraNodeType::metadata;
    const std::string ranks = r < 2 ? "0, 1" : r == 2 ? "3, 2" : "2, 3";  // in any order
    groups.inputs =
        ChakraValues{R"(['[{"pg_name": "1", "ranks": [)" + ranks + "]}]']", "[[]]", "['String']"};
    run[r].trace.nodes = {groups};
    for (std::uint64_t k = 0; k < 3; ++k) {
      ChakraNode reduce = node(2 + k, 0, false, 1000 + 100 * k + (r < 2 ? 0 : 5), 50);
      reduce.type = ChakraNodeType::collective;
      for (const auto& attribute : {chakra_int64("comm_type", 0), chakra_int64("comm_size", 4096),
                                    chakra_text("pg_name", "1")}) {
        reduce.attributes.push_back(attribute);
      }
      run[r].trace.nodes.push_back(reduce);
    }
  }
  const auto seen = simulated_recording(run);
  ASSERT_TRUE(seen) << seen.error().text();
  const auto instances = collective_instances(seen->ranks);
  ASSERT_EQ(instances.size(), 6U);
  for (const CollectiveInstance& instance : instances) {
    ASSERT_EQ(instance.members.size(), 2U);
    EXPECT_EQ(instance.ranks, 2);
    EXPECT_EQ(instance.members[0].trace / 2, instance.members[1].trace / 2);
    for (const CollectiveMember& member : instance.members) EXPECT_EQ(member.waiting_ns, 0);
  }
}

// A collective that ends on one rank before the other enters it: its clock is 5 ms off.
TEST(SimulatedRecording, CorrectsClocksOfRecordedTimesUnlessToldNotTo) {
  ChakraRun run(2);
  for (std::size_t r = 0; r < run.size(); ++r) {
    run[r].rank = static_cast<std::int64_t>(r);
    run[r].file = "t.et";
    for (std::uint64_t k = 0; k < 4; ++k) {
      ChakraNode reduce = node(1 + k, 0, false, 1000 + 100'000 * k + 5000 * r, 50);
      reduce.type = ChakraNodeType::collective;
      for (const auto& attribute : {chakra_int64("comm_type", 0), chakra_int64("comm_size", 4096),
                                    chakra_text("pg_name", "0")}) {
        reduce.attributes.push_back(attribute);
      }
      run[r].trace.nodes.push_back(reduce);
    }
  }
  const auto behind_ns = [](const RecordedRun& seen) {
    return seen.ranks[1].base_ns + seen.ranks[1].start_ns[0] - seen.ranks[0].base_ns -
           seen.ranks[0].start_ns[0];
  };
  EXPECT_EQ(behind_ns(*simulated_recording(run)), 0);
  EXPECT_EQ(behind_ns(*simulated_recording(run, {}, Clocks::as_recorded)), 5'000'000);
  for (ChakraRank& rank : run) rank.trace.mark_times_simulated();
  EXPECT_EQ(behind_ns(*simulated_recording(run)), 5'000'000);  // of one clock
}

TEST(SimulatedRecording, RefusesImpossibleTimesWithTheSignTheyWereMeantWith) {
  ChakraRun run(1);
  run[0].file = "t.0.et";
  run[0].trace.nodes = {node(1, 0, false, 1000, static_cast<std::uint64_t>(-5))};
  const auto seen = simulated_recording(run);
  ASSERT_FALSE(seen);
  EXPECT_THAT(seen.error().text(),
              HasSubstr("t.0.et: node 1: starts at 1000 microseconds and takes -5 microseconds"));
}

TEST(SimulatedRecording, SimulatesWhatHasNoTimes) {
  ChakraRun run(1);
  run[0].file = "t.0.et";
  run[0].trace.nodes = {node(1, 0, false, 0, 20), node(2, 1, false, 0, 30)};
  ChakraNode reduce = node(3, 2, false, 0, 10);
  reduce.type = ChakraNodeType::collective;
  reduce.attributes.push_back(chakra_int64("comm_type", 0));
  reduce.attributes.push_back(chakra_int64("comm_size", 4096));
  run[0].trace.nodes.push_back(reduce);
  const auto seen = simulated_recording(run);
  ASSERT_TRUE(seen) << seen.error().text();
  const RecordedTrace& trace = seen->ranks[0];
  ASSERT_EQ(trace.size(), 3u);
  EXPECT_EQ(trace.start_ns, (std::vector<std::int64_t>{0, 20'000, 50'000}));
  EXPECT_EQ(trace.name_of(2), "nccl:n3");
  EXPECT_TRUE(is_communication_kernel(trace.name_of(2)));
  EXPECT_EQ(trace.communications[trace.communication[2]].input_elements, 4096);
  // A communication of unknown length cannot be simulated.
  run[0].trace.nodes[2].duration_micros = 0;
  EXPECT_FALSE(simulated_recording(run));
}

}  // namespace
}  // namespace orrery
