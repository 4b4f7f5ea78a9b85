// A step is predicted once, and whatever is said about it agrees.
#include "estimate/predicted_step.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "estimate/built_in_scenario.h"
#include "estimate/estimate.h"
#include "estimate/forward_pass.h"
#include "estimate/spec.h"
#include "estimate/step_chakra.h"
#include "estimate/step_timeline.h"

namespace orrery {
namespace {

Scenario of_16(const char* model, std::string_view plan, Workload workload = Workload::training) {
  Scenario s = scenario(model, "h100-sxm:16", plan, 4096, 32);
  s.training.workload = workload;
  return s;
}

class PredictedStepOfPlans
    : public ::testing::TestWithParam<std::tuple<const char*, const char*, Workload>> {};

TEST_P(PredictedStepOfPlans, SaysTheSameWhateverItIsAsked) {
  const auto& [model, plan, workload] = GetParam();
  const auto step = predict(of_16(model, plan, workload), catalog());
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
    ::testing::Values(
        std::tuple("llama-3-8b", "tp=2", Workload::training),
        std::tuple("llama-3-8b", "tp=2,pp=4", Workload::training),
        std::tuple("llama-3-8b", "tp=2,pp=4,chunks=2,zero=2,recompute=full", Workload::training),
        std::tuple("llama-3-8b", "pp=4,schedule=zb_h1", Workload::training),
        std::tuple("llama-3-8b", "pp=4,schedule=zb_h1,overlap.optimizer=true", Workload::training),
        std::tuple("mixtral-8x7b", "tp=2,ep=4,pp=2,zero=3,schedule=gpipe", Workload::training),
        std::tuple("llama-3-8b", "tp=2,pp=4,overlap.gradient_reduction=false", Workload::forward),
        std::tuple("llama-3-8b", "tp=2,pp=4,chunks=2,zero=3", Workload::forward),
        std::tuple("mixtral-8x7b", "tp=2,ep=4,pp=2,schedule=chimera", Workload::forward)));

// What a forward alone does is a part of what training does, whatever the plan.
TEST(ForwardWorkload, IsThePartOfTrainingThatIsLeft) {
  for (const auto& [model, plan] : {std::pair{"llama-3-8b", "zero=0"},
                                    {"llama-3-8b", "tp=4,zero=3"},
                                    {"llama-3-8b", "tp=2,pp=4"},
                                    {"llama-3-8b", "tp=2,pp=4,chunks=2,zero=2"},
                                    {"llama-3-8b", "tp=2,cp=2,attention=unfused"},
                                    {"mixtral-8x7b", "tp=2,ep=4,pp=2,zero=3"}}) {
    SCOPED_TRACE(std::string(model) + " " + plan);
    const auto trained = predict(of_16(model, plan), catalog());
    const auto run = predict(of_16(model, plan, Workload::forward), catalog());
    ASSERT_TRUE(trained && run);
    const Estimate training = estimate(*trained);
    const Estimate forward = estimate(*run);
    EXPECT_GE(run->folded.time, lower_bound(run->costs));
    // The FLOPs of matrix products and attention of a backward are twice those of the forward.
    EXPECT_NEAR(
        3 * forward.mfu * forward.step_time.value() / (training.mfu * training.step_time.value()),
        1, 1e-12);
    EXPECT_LT(forward.step_time, 0.45 * training.step_time);
    EXPECT_GT(forward.step_time, 0.2 * training.step_time);
    EXPECT_EQ(forward.breakdown[Category::optimizer], Picoseconds(0));
    EXPECT_LE(forward.breakdown[Category::exposed_dp], training.breakdown[Category::exposed_dp]);
    ASSERT_EQ(forward.stages.size(), training.stages.size());
    for (std::size_t s = 0; s < forward.stages.size(); ++s) {
      EXPECT_EQ(forward.stages[s].forward, training.stages[s].forward);
      EXPECT_EQ(forward.stages[s].backward, Picoseconds(0));
      const MemoryReport& m = forward.stages[s].memory;
      EXPECT_EQ(m.parameters, training.stages[s].memory.parameters);
      EXPECT_EQ(m.gradients + m.optimizer_states + m.activations, 0);
      EXPECT_GT(m.transient, 0);
      EXPECT_LT(m.transient,
                training.stages[s].memory.activations + training.stages[s].memory.transient);
      EXPECT_LT(m.peak, training.stages[s].memory.peak);
    }
  }
}

// One microbatch passes the stages before the last, which then has them one after the other.
TEST(ForwardWorkload, FillsThePipelineOnce) {
  const auto step = predict(of_16("llama-3-8b", "tp=2,pp=4", Workload::forward), catalog());
  ASSERT_TRUE(step);
  const Estimate e = estimate(*step);
  Picoseconds ahead;
  for (std::size_t s = 0; s < 3; ++s) ahead += e.stages[s].forward + step->costs.transfer[s];
  EXPECT_EQ(e.critical_stage, 3);
  EXPECT_EQ(step->folded.time, ahead + e.stages[3].forward * e.microbatches);
  EXPECT_EQ(e.breakdown[Category::bubble] + e.breakdown[Category::exposed_pp], ahead);
}

// Products of 32 bits read tensors of 32 bits, and weights that are their own masters.
TEST(WidePrecision, DoublesTensorsAndNeedsNoMasterWeights) {
  for (const auto& [model, plan] : {std::pair{"llama-3-8b", "tp=2,zero=0"},
                                    {"llama-3-8b", "tp=2,pp=2,zero=1"},
                                    {"mixtral-8x7b", "tp=2,ep=4,zero=3"}}) {
    SCOPED_TRACE(std::string(model) + " " + plan);
    Scenario wide = of_16(model, plan);
    wide.training.precision = NumberFormat::tf32;
    const auto narrow = predict(of_16(model, plan), catalog());
    const auto step = predict(wide, catalog());
    ASSERT_TRUE(narrow && step) << step.error().text();
    const Estimate in16 = estimate(*narrow);
    const Estimate in32 = estimate(*step, *load_uncertainty(catalog()));
    EXPECT_GT(in32.step_time, 1.4 * in16.step_time);
    for (std::size_t s = 0; s < in32.stages.size(); ++s) {
      const MemoryReport& a = in16.stages[s].memory;
      const MemoryReport& b = in32.stages[s].memory;
      EXPECT_EQ(b.parameters, 2 * a.parameters);
      EXPECT_EQ(b.gradients, a.gradients);
      EXPECT_NEAR(static_cast<double>(b.optimizer_states),
                  static_cast<double>(a.optimizer_states) * 8 / 12, 2);
      EXPECT_GT(2 * b.activations, 3 * a.activations);
      EXPECT_LE(b.activations, 2 * a.activations);
    }
    EXPECT_THAT(in32.interval.distance,
                testing::HasSubstr("no 32-bit step was measured on hopper"));
  }
  Scenario wider = of_16("llama-3-8b", "tp=2");
  wider.training.precision = NumberFormat::fp64;
  EXPECT_THAT(predict(wider, catalog()).error().text(),
              testing::HasSubstr("precision fp64 is not modelled; fp32 is the widest"));
}

TEST(ForwardWorkload, HasNoMeasuredStepToJudgeItsErrorBy) {
  const auto step = predict(of_16("llama-3-8b", "tp=2", Workload::forward), catalog());
  ASSERT_TRUE(step);
  const Estimate e = estimate(*step, *load_uncertainty(catalog()));
  EXPECT_TRUE(e.interval.extrapolates);
  EXPECT_THAT(e.interval.distance, testing::HasSubstr("no forward step was measured on hopper"));
}

TEST(ForwardWorkload, IsReadAndWrittenBySpecifications) {
  const char* text = "model: llama-3-8b\ncluster: h100-sxm:16\nworkload: forward\n";
  const auto spec = read_spec(*parse_yaml(text, "spec.yaml"), "", catalog());
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->scenario.training.workload, Workload::forward);
  const Value again = specification(spec->scenario, catalog());
  EXPECT_EQ(again.find("workload")->scalar_text(), "forward");
  EXPECT_EQ(specification(of_16("llama-3-8b", ""), catalog()).find("workload"), nullptr);
  const auto wrong = read_spec(
      *parse_yaml("model: llama-3-8b\ncluster: h100-sxm:16\nworkload: foward\n", "spec.yaml"), "",
      catalog());
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().text(),
            "spec.yaml: line 3, workload: unknown value 'foward' (did you mean 'forward'?)");
}

TEST(PredictedStep, OfASharedScenarioIsThatOfTheScenario) {
  const auto alone = predict(of_16("llama-3-8b", "tp=2,pp=4"), catalog());
  const auto other = predict(of_16("llama-3-8b", "tp=4,pp=2"), catalog());
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
    const Scenario asked = of_16("llama-3-8b", "tp=2,pp=4");
    return predict(asked, catalog());
  }();
  ASSERT_TRUE(step);
  EXPECT_EQ(step->model().name, "llama-3-8b");
  EXPECT_EQ(step->training().source_length, 4096);  // as completed
  EXPECT_GT(launching_time(*step), Seconds(0));
}

TEST(PredictedStep, RefusesWithAllReasonsAtOnce) {
  Scenario s = of_16("llama-3-8b", "tp=16,ep=2,recompute_layers=3");
  s.training.sequence_length = 8190;
  const auto step = predict(s, catalog());
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, ErrorCode::bad_input);
  EXPECT_EQ(step.error().where, "plan");
  EXPECT_THAT(
      step.error().message,
      testing::AllOf(testing::HasSubstr("do not divide the sequence of 8190 tokens"),
                     testing::HasSubstr("; ep 2 needs experts"),
                     testing::HasSubstr("; recompute_layers 3 needs recompute=full, selective or "
                                        "alternate")));
}

TEST(PredictedStep, RefusesAStepThatIsTooLongToSimulate) {
  Scenario s = of_16("llama-3.1-405b", "tp=8");
  s.training.sequence_length = 1'000'000'000;
  const auto step = predict(s, catalog());
  ASSERT_FALSE(step);
  EXPECT_EQ(step.error().code, ErrorCode::unsupported);
  EXPECT_THAT(step.error().text(),
              testing::AllOf(testing::HasSubstr("times above 53 days are not simulated"),
                             testing::HasSubstr("(a smaller batch, shorter sequences")));
}

// A step of hours is priced again, on every site with the prices of its own accelerators.
TEST(PredictedStep, OfHoursKeepsThePricesOfSitesThatDiffer) {
  Scenario s = scenario("llama-3.1-405b", "h100-sxm:8+a100-80gb-sxm:8@metro-pair",
                        "tp=8,pp=2,placement=tp+cp+dp+pp", 8192, 1024);
  const auto once = predict(s, catalog());
  s.training.global_batch = 2048;
  const auto twice = predict(s, catalog());
  ASSERT_TRUE(once && twice);
  EXPECT_LT(once->folded.time, kLongestExact);
  EXPECT_GT(twice->folded.time, kLongestExact);
  EXPECT_NEAR(twice->folded.time.count() / once->folded.time.count(), 2, 0.01);
}

// A step of hours has coarser durations, sums of which are exact again.
TEST(PredictedStep, OfHoursIsExactInALongerTick) {
  Scenario hours = of_16("llama-3.1-8b", "cp=8,recompute=full,context_parallel=ring");
  hours.training.sequence_length = 4 << 20;
  hours.training.global_batch = 16;
  const auto step = predict(hours, catalog());
  ASSERT_TRUE(step) << step.error().text();
  const Picoseconds time = step->folded.time;
  EXPECT_GT(time, kLongestExact);
  const Picoseconds tick = step->costs.cache->context().tick;
  EXPECT_GT(tick, Picoseconds(1));
  EXPECT_EQ(std::fmod(time.count(), tick.count()), 0);
  EXPECT_LE(time.count() / tick.count(), kLongestExact.count());
  EXPECT_LE(lower_bound(step->costs), time);
  const Estimate figures = estimate(*step);
  EXPECT_EQ(figures.breakdown.total(), time);
  // Whoever compares steps in one tick gets none that is too long for it.
  const auto priced_once = priced(hours, catalog(), *load_training_conditions(catalog()));
  ASSERT_TRUE(priced_once) << priced_once.error().text();
  const auto refused = predict(*priced_once, step->plan(), LongStep::refused);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  EXPECT_THAT(refused.error().text(), testing::HasSubstr("with ticks of 1 ps times above 2.50 h"));
  const auto expanded = simulated(step->costs, Folding::expanded);
  ASSERT_TRUE(expanded) << expanded.error().text();
  EXPECT_EQ(expanded->time, time);
  // A step that needs none has none.
  hours.training.sequence_length = 1 << 18;
  const auto minutes = predict(hours, catalog());
  ASSERT_TRUE(minutes) << minutes.error().text();
  EXPECT_LT(minutes->folded.time, kLongestExact);
  EXPECT_EQ(minutes->costs.cache->context().tick, Picoseconds(1));
}

}  // namespace
}  // namespace orrery
