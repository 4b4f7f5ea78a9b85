// A step is predicted once, and whatever is said about it agrees.
#include "estimate/predicted_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "estimate/estimate.h"
#include "estimate/forward_pass.h"
#include "estimate/spec.h"
#include "estimate/step_chakra.h"
#include "estimate/step_timeline.h"

namespace orrery {
namespace {

const Catalog& catalog() { return Catalog::built_in(); }

Scenario scenario(const char* model, std::string_view plan) {
  Scenario s;
  s.model = *load_model(model, catalog());
  s.cluster = *parse_cluster("h100-sxm:16", catalog());
  s.plan = *parse_plan(plan);
  s.training.sequence_length = 4096;
  s.training.global_batch = 32;
  return s;
}

class PredictedStepOfPlans : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {
};

TEST_P(PredictedStepOfPlans, SaysTheSameWhateverItIsAsked) {
  const auto& [model, plan] = GetParam();
  const auto step = predict(scenario(model, plan), catalog());
  ASSERT_TRUE(step) << step.error().text();
  const Picoseconds time = step->folded.time;

  const Estimate figures = estimate(*step);
  EXPECT_EQ(figures.step_time, time.seconds());
  EXPECT_EQ(figures.breakdown.total(), time);
  EXPECT_EQ(figures.microbatches, step->costs.shape.microbatches);
  EXPECT_EQ(explain(*step, figures)[0].value, to_text(figures.step_time));
  Picoseconds forward;
  for (const StageReport& stage : figures.stages) forward += stage.forward;
  EXPECT_EQ(forward_breakdown(*step).total(), forward);

  const auto expanded = simulated(step->costs, Folding::expanded);
  ASSERT_TRUE(expanded) << expanded.error().text();
  EXPECT_EQ(expanded->time, time);
  EXPECT_EQ(expanded->timeline.makespan, step->folded.timeline.makespan);
  // Where devices wait for each other's optimizer, the step is the makespan.
  if (step->plan().overlap.optimizer) return;
  EXPECT_EQ(expanded->timeline.makespan, time);

  const auto last = [](const auto& spans) {
    return std::max_element(spans.begin(), spans.end(),
                            [](const auto& a, const auto& b) { return a.end < b.end; })
        ->end;
  };
  EXPECT_EQ(last(timeline_spans(step->folded)), time);
  EXPECT_EQ(last(timeline_spans(*expanded)), time);
  EXPECT_EQ(last(pipeline_spans(*step)), time.seconds());

  std::uint64_t micros = 0;
  StepChakra chakra(*step, *expanded);
  for (std::int64_t rank = 0; rank < chakra.ranks(); ++rank) {
    for (const ChakraNode& node : chakra.trace(rank).nodes) {
      micros = std::max(micros, node.start_micros + node.duration_micros);
    }
  }
  EXPECT_NEAR(static_cast<double>(micros), time.count() / 1e6, 0.5);
  EXPECT_EQ(simulate(step_graph_file(*expanded).graph).makespan, time);
}

INSTANTIATE_TEST_SUITE_P(
    , PredictedStepOfPlans,
    ::testing::Values(std::tuple("llama-3-8b", "tp=2"), std::tuple("llama-3-8b", "tp=2,pp=4"),
                      std::tuple("llama-3-8b", "tp=2,pp=4,chunks=2,zero=2,recompute=full"),
                      std::tuple("llama-3-8b", "pp=4,schedule=zb_h1"),
                      std::tuple("llama-3-8b", "pp=4,schedule=zb_h1,overlap.optimizer=true"),
                      std::tuple("mixtral-8x7b", "tp=2,ep=4,pp=2,zero=3,schedule=gpipe")));

TEST(PredictedStep, OfASharedScenarioIsThatOfTheScenario) {
  const auto alone = predict(scenario("llama-3-8b", "tp=2,pp=4"), catalog());
  const auto other = predict(scenario("llama-3-8b", "tp=4,pp=2"), catalog());
  ASSERT_TRUE(alone && other);
  const auto shared = predict(other->priced, alone->plan());
  ASSERT_TRUE(shared) << shared.error().text();
  EXPECT_EQ(shared->priced, other->priced);
  EXPECT_EQ(shared->folded.time, alone->folded.time);
  EXPECT_EQ(estimate(*shared).peak_memory, estimate(*alone).peak_memory);
  EXPECT_TRUE(shared->defaults.empty());
  EXPECT_FALSE(alone->defaults.empty());
}

TEST(PredictedStep, OutlivesTheScenarioItWasMadeOf) {
  const auto step = [] {
    const Scenario asked = scenario("llama-3-8b", "tp=2,pp=4");
    return predict(asked, catalog());
  }();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->model().name, "llama-3-8b");
  EXPECT_EQ(step->training().source_length, 4096);  // as completed
  EXPECT_GT(launching_time(*step), Seconds(0));
}

TEST(PredictedStep, RefusesWithAllReasonsAtOnce) {
  Scenario s = scenario("llama-3-8b", "tp=16,ep=2,recompute_layers=3");
  s.training.sequence_length = 8190;
  const auto step = predict(s, catalog());
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, ErrorCode::bad_input);
  EXPECT_EQ(step.error().where, "plan");
  EXPECT_THAT(step.error().message,
              testing::AllOf(testing::HasSubstr("do not divide the sequence of 8190 tokens"),
                             testing::HasSubstr("; ep 2 needs experts"),
                             testing::HasSubstr("; recompute_layers 3 needs recompute=full")));
}

TEST(PredictedStep, RefusesAStepThatIsTooLongToSimulate) {
  Scenario s = scenario("llama-3.1-405b", "tp=8");
  s.training.global_batch = 100'000;
  const auto step = predict(s, catalog());
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, ErrorCode::unsupported);
  EXPECT_THAT(step.error().text(),
              testing::AllOf(testing::HasSubstr("times above 2.5 hours cannot be simulated"),
                             testing::HasSubstr("(a smaller batch, shorter sequences")));
}

}  // namespace
}  // namespace orrery
