// Runs that were predicted and written as Chakra traces, replayed: the same step again.
#include <gmock/gmock.h>

#include <tuple>

#include "estimate/spec.h"
#include "estimate/step_chakra.h"
#include "estimate/step_timeline.h"
#include "replay/chakra_prices.h"
#include "replay/simulated_recording.h"
#include "report/traces/trace_reports.h"
#include "trace/chakra/chakra_file.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const Catalog& catalog() { return Catalog::built_in(); }

Scenario scenario(const char* model, const char* cluster, std::string_view plan,
                  std::int64_t batch) {
  Scenario s;
  s.model = *load_model(model, catalog());
  s.cluster = *parse_cluster(cluster, catalog());
  s.plan = *parse_plan(plan);
  s.training.sequence_length = 4096;
  s.training.global_batch = batch;
  return s;
}

// The ranks of the predicted step, through the bytes of their files.
ChakraRun written(const Scenario& s, std::span<const std::int64_t> ranks = {}) {
  const auto predicted = predict(s, catalog());
  EXPECT_TRUE(predicted) << predicted.error().text();
  const auto expanded = simulated(predicted->costs, Folding::expanded);
  StepChakra step(*predicted, *expanded);
  std::vector<std::int64_t> chosen(ranks.begin(), ranks.end());
  for (std::int64_t r = 0; chosen.size() < static_cast<std::size_t>(step.ranks()) && ranks.empty();
       ++r) {
    chosen.push_back(r);
  }
  ChakraRun out;
  for (const std::int64_t rank : chosen) {
    const std::string name = "step." + std::to_string(rank) + ".et";
    auto trace = read_chakra_bytes(chakra_bytes(step.trace(rank)), name);
    EXPECT_TRUE(trace) << trace.error().text();
    out.push_back({rank, name, std::move(*trace)});
  }
  return out;
}

using Case = std::tuple<const char*, const char*, const char*, int>;
class ReplayOfAPredictedStep : public ::testing::TestWithParam<Case> {};

TEST_P(ReplayOfAPredictedStep, IsReplayedToTheMicrosecond) {
  const auto& [model, cluster, plan, batch] = GetParam();
  const Scenario s = scenario(model, cluster, plan, batch);
  const auto predicted = predict(s, catalog());
  ASSERT_TRUE(predicted) << predicted.error().text();
  const ChakraRun run = written(s);
  const auto graph = chakra_graph(run);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->undefined.size(), 0U);
  EXPECT_EQ(graph->priced, 0U);
  const GraphReplay result = replay(run, *graph);
  // Where no device waits for another's optimizer, steps follow each other device by device.
  const bool apart = std::string_view(plan).find("overlap.optimizer") != std::string_view::npos;
  const Seconds step = apart ? result.longest_rank : result.step;
  EXPECT_NEAR(step.value(), predicted->folded.time.seconds().value(), 1e-6);
  // The graph's own file, to the picosecond.
  const GraphFile file = step_graph_file(*simulated(predicted->costs, Folding::expanded));
  const auto read = parse_graph_file(graph_file_text(file), "step.graph.json");
  ASSERT_TRUE(read) << read.error().text();
  const GraphReplay again = replay(*read);
  EXPECT_EQ(again.step, replay(file.graph).step);
  if (!apart) {
    EXPECT_NEAR(again.step.value(), predicted->folded.time.seconds().value(), 1e-12);
  }
  for (const ReplayedRank& rank : result.ranks) {
    const ReplayedParts& p = rank.parts;
    EXPECT_NEAR((p.computing + p.overlapped + p.communicating + p.waiting + p.idle).value(),
                result.step.value(), 1e-12);
    EXPECT_GE(p.idle.value(), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , ReplayOfAPredictedStep,
    ::testing::Values(
        Case{"llama-3-8b", "h100-sxm:8", "tp=2", 16},
        Case{"llama-3-8b", "h100-sxm:16", "tp=2,pp=4", 16},
        Case{"llama-3-8b", "h100-sxm:16", "tp=2,pp=4,chunks=2,zero=2", 16},
        Case{"llama-3-8b", "h100-sxm:16", "tp=2,cp=2,pp=2,placement=tp+cp+pp+dp", 16},
        Case{"llama-3-8b", "h100-sxm:8", "zero=3", 16},
        Case{"llama-3-8b", "h100-sxm:8", "tp=2,pp=2,overlap.pipeline=off", 16},
        Case{"llama-3-8b", "h100-sxm:8", "pp=4,schedule=gpipe", 16},
        Case{"llama-3-8b", "h100-sxm:8", "pp=4,schedule=zb_h1", 16},
        Case{"llama-3-8b", "h100-sxm:8", "pp=4,schedule=zb_h2,overlap.optimizer=on", 16},
        Case{"llama-3-8b", "h100-sxm:8", "pp=4,schedule=zb_v,chunks=2", 16},
        Case{"llama-3-8b", "h100-sxm:8", "pp=4,schedule=dualpipe", 32},
        Case{"llama-3-8b", "h100-sxm:8", "pp=4,schedule=chimera", 16},
        Case{"llama-3-8b", "h100-sxm:8", "pp=4,schedule=vocab_1", 16},
        Case{"llama-3-8b", "h100-sxm:8", "pp=4,schedule=pipeoffload_half,chunks=2", 16},
        Case{"mixtral-8x7b", "h100-sxm:16", "tp=2,ep=4,pp=2", 16},
        Case{"mixtral-8x7b", "h100-sxm:16", "ep=8,pp=2,etp=1", 16}));

// Nobody recorded it, and whatever reads the files says so.
TEST(PredictedRun, IsCalledSimulated) {
  ChakraRun run = written(scenario("llama-3-8b", "h100-sxm:8", "tp=2", 16));
  const auto reported = [&run] {
    const auto graph = chakra_graph(run);
    return chakra_replay_text(replay(run, *graph), *graph, TextStyle());
  };
  EXPECT_EQ(simulated_recording(run)->source, RunSource::predicted_trace);
  EXPECT_THAT(reported(), HasSubstr("simulated"));
  EXPECT_THAT(reported(), Not(HasSubstr("recorded")));
  for (ChakraRank& rank : run) rank.trace.attributes.clear();
  EXPECT_EQ(simulated_recording(run)->source, RunSource::execution_trace);
  EXPECT_THAT(reported(), HasSubstr("recorded"));
}

// A file that names several steps of a rank is replayed from the first to the last.
TEST(GraphReplayText, CallsSeveralStepsARun) {
  GraphReplay replay;
  replay.step = Seconds(0.5);
  replay.ranks.push_back({});
  const auto text = [&] { return graph_replay_text(replay, GraphFile{}, TextStyle()); };
  EXPECT_THAT(text(), HasSubstr("\n  Step: 500.000 ms.\n"));
  replay.steps.push_back({0, "ProfilerStep#1", {}, Seconds(0.2)});
  replay.steps.push_back({1, "ProfilerStep#1", {}, Seconds(0.2)});  // of another rank
  EXPECT_THAT(text(), HasSubstr("\n  Step: 500.000 ms.\n"));
  replay.steps.push_back({1, "ProfilerStep#2", {}, Seconds(0.3)});
  EXPECT_THAT(text(), HasSubstr("\n  Run: 500.000 ms.\n"));
  EXPECT_THAT(text(), HasSubstr("the run of several steps in five parts"));
}

// A rank that does not send gives its transfers by their recorded starts.
TEST(PredictedRun, GivesTheSameStepWhereItsSendersAreMissing) {
  const Scenario s = scenario("llama-3-8b", "h100-sxm:16", "tp=2,pp=4", 16);
  const std::vector<std::int64_t> ranks = {0, 15};
  const ChakraRun run = written(s, ranks);
  const auto graph = chakra_graph(run);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_GT(graph->alone, 0U);
  const auto predicted = predict(s, catalog());
  EXPECT_NEAR(replay(run, *graph).step.value(), predicted->folded.time.seconds().value(), 1e-6);
}

// Sizes were chosen so that the same cluster prices them alike.
TEST(PredictedRun, CostsTheSameWhenPricedAnew) {
  const Scenario s = scenario("llama-3-8b", "h100-sxm:16", "tp=2,pp=4", 16);
  const ChakraRun run = written(s);
  auto prices = ChakraPrices::create(s.cluster, catalog());
  ASSERT_TRUE(prices) << prices.error().text();
  const auto graph = chakra_graph(run, {.prices = &*prices});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_GT(graph->priced, 0U);
  const auto predicted = predict(s, catalog());
  EXPECT_NEAR(replay(run, *graph).step.value() / predicted->folded.time.seconds().value(), 1, 2e-4);
}

TEST(PredictedRun, TakesLongerOnASlowerNetwork) {
  const ChakraRun run = written(scenario("llama-3-8b", "h100-sxm:16", "tp=2,pp=4", 16));
  const auto step = [&](const char* cluster) {
    auto prices = ChakraPrices::create(*parse_cluster(cluster, catalog()), catalog());
    const auto graph = chakra_graph(run, {.prices = &*prices});
    return replay(run, *graph).step;
  };
  EXPECT_GT(step("a100-80gb-sxm:16"), step("h100-sxm:16"));
}

}  // namespace
}  // namespace orrery
