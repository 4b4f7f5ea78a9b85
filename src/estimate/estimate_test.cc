// An estimate adds up, obeys its definitions, and can be explained.
#include "estimate/estimate.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "document/value.h"
#include "estimate/built_in_scenario.h"
#include "estimate/spec.h"
#include "estimate/step_timeline.h"
#include "model/transformer/transformer.h"
#include "trace/perfetto/chrome_json.h"

namespace orrery {
namespace {

Result<Estimate> estimated(const Scenario& s) {
  ORRERY_TRY(const PredictedStep step, predict(s, catalog()));
  ORRERY_TRY(const Uncertainty errors, load_uncertainty(catalog()));
  return estimate(step, errors);
}

Scenario published() {
  return scenario("llama-3.1-405b", "h100-sxm:16384", "tp=8,pp=16,chunks=8", 8192, 2048);
}

// The causal count is half of the square of a long sequence; what has no causal mask has one count.
TEST(Estimate, CausalMfuLeavesOutHalfOfTheSquare) {
  const auto of = [](const char* model, const char* plan, std::int64_t sequence) {
    const auto e = estimated(scenario(model, "h100-sxm:8", plan, sequence, 8));
    EXPECT_TRUE(e) << e.error().text();
    return e ? *e : Estimate{};
  };
  const Estimate longest = of("llama-3.1-8b", "cp=8,recompute=full", 1048576);
  EXPECT_NEAR(longest.causal_mfu / longest.mfu, 0.52, 0.02);
  EXPECT_TRUE(differs_by_causality(longest));
  const Estimate usual = of("llama-3.1-8b", "cp=8", 8192);
  EXPECT_GT(usual.causal_mfu / usual.mfu, 0.85);
  EXPECT_FALSE(differs_by_causality(usual));
  const Estimate encoder = of("bert-large", "", 512);
  EXPECT_EQ(encoder.causal_mfu, encoder.mfu);
}

TEST(Estimate, TheBreakdownIsTheStepTime) {
  for (const char* plan : {"tp=8,pp=16,chunks=8", "tp=8,pp=16", "tp=4,cp=2,pp=16,zero=2",
                           "tp=8,pp=8,recompute=full,schedule=gpipe"}) {
    const auto e = estimated(scenario("llama-3.1-405b", "h100-sxm:16384", plan, 8192, 2048));
    ASSERT_TRUE(e) << e.error().text();
    EXPECT_EQ(e->breakdown.total().seconds(), e->step_time) << plan;
    EXPECT_EQ(e->breakdown[Category::recompute] > Picoseconds(0),
              e->plan.recompute != Recompute::none);
  }
}

TEST(Estimate, ShardingThatTheSoftwareLacksInAPipelineIsNamed) {
  const auto assumed = [](const char* plan, const char* software) {
    Scenario s = scenario("llama-3.1-8b", "h100-sxm:16", plan, 4096, 32);
    s.software = *load_software(catalog(), software);
    return estimated(s)->assumed;
  };
  const auto note = testing::Contains(testing::HasSubstr("has no ZeRO 2 beside a pipeline"));
  EXPECT_THAT(assumed("pp=4,zero=2", "megatron-core-0.12"), note);
  EXPECT_THAT(assumed("pp=4,zero=1", "megatron-core-0.12"), testing::Not(note));
  EXPECT_THAT(assumed("zero=2", "megatron-core-0.12"), testing::Not(note));
  EXPECT_THAT(assumed("pp=4,zero=2", "torchtitan"), testing::Not(note));
}

TEST(Estimate, UtilisationIsItsDefinition) {
  const auto e = estimated(published());
  ASSERT_TRUE(e);
  // 6 N per token and full attention 12 L s h (arXiv 2204.02311 App. B); N without the embedding.
  const double tokens = 2048.0 * 8192;
  const double matrices = 405.85e9 - 128256.0 * 16384;
  const double flops = tokens * (6 * matrices + 12.0 * 126 * 8192 * 16384);
  EXPECT_NEAR(e->mfu, flops / (e->step_time.value() * 16384 * 989e12), 0.001 * e->mfu);
  EXPECT_DOUBLE_EQ(e->achieved_per_gpu.value(), e->mfu * 989e12);
  EXPECT_DOUBLE_EQ(e->tokens_per_second, tokens / e->step_time.value());
  EXPECT_EQ(e->hfu, e->mfu);  // nothing is computed again
  Scenario again = published();
  again.plan.recompute = Recompute::full;
  const auto f = estimated(again);
  EXPECT_GT(f->hfu, 1.25 * f->mfu);
  EXPECT_LT(f->hfu, 1.34 * f->mfu);
  EXPECT_GT(f->step_time, e->step_time);
  EXPECT_LT(f->peak_memory, e->peak_memory);
}

// Experts compute next to nothing of tokens that are dropped, so that neither utilisation counts them.
TEST(Estimate, DroppedTokensAreNotUtilisation) {
  for (const char* halves : {"", ",micro_batch=2,halves=batch"}) {
    Scenario s = scenario("mixtral-8x7b", "h100-sxm:64",
                          std::string("ep=8,recompute=full") + halves, 4096, 256);
    const auto all = estimated(s);
    s.training.expert_load.capacity_factor = 0.01;
    const auto e = estimated(s);
    ASSERT_TRUE(all && e);
    EXPECT_LE(e->hfu, 1) << halves;
    EXPECT_LT(e->mfu, all->mfu) << halves;
    EXPECT_GT(e->tokens_per_second, all->tokens_per_second) << halves;
  }
}

// arXiv 2407.21783 Table 4: 430 and 400 TFLOP/s a GPU on its RoCE cluster with optimizer states and
// gradients sharded, and nothing computed again. Nothing was fitted to it. Its formula is not
// stated: of all pairs of tokens half are counted here.
TEST(Estimate, Llama3IsAsFastAsPublishedWithItsGradientsSharded) {
  for (const auto& [gpus, published] : {std::pair{8192, 430e12}, {16384, 400e12}}) {
    const auto e =
        estimated(scenario("llama-3.1-405b", ("meta-h100-24k-roce:" + std::to_string(gpus)).c_str(),
                           "tp=8,pp=16,chunks=8,zero=2", 8192, 2048));
    ASSERT_TRUE(e) << e.error().text();
    const double flops = 2048 * 8192.0 * (6 * 405.85e9 + 12.0 * 126 * 8192 * 16384 / 2);
    EXPECT_NEAR(e->step_time.value() / (flops / (gpus * published)), 1, 0.1) << gpus;
    EXPECT_LT(static_cast<double>(e->peak_memory), 1.05 * static_cast<double>(e->memory_capacity));
  }
}

// The same plan on the fabric that is assumed where none is stated, with whole gradients.
TEST(Estimate, ThePublishedRunIsWithinABand) {
  const auto e = estimated(published());
  EXPECT_GT(e->achieved_per_gpu.value(), 350e12);
  EXPECT_LT(e->achieved_per_gpu.value(), 520e12);
}

// arXiv 2412.19437 s.3: 2048 H800 without tensor parallelism, by RMSNorm, up-projections of
// attention and SwiGLU computed again and SwiGLU's inputs kept in FP8.
TEST(Estimate, DeepSeekV3FitsByWhatItsAuthorsComputeAgain) {
  const std::string plan = "pp=16,ep=64,schedule=dualpipe,dispatch=deduplicated";
  const std::string modules =
      ",recompute=selective,recompute_modules=layernorm+mla_up_proj+moe_act+mlp_act";
  const auto priced = [](const std::string& text, bool narrow_gate) {
    Scenario s = scenario("deepseek-v3", "deepseek-v3-h800", text, 4096, 15360);
    s.training.precision = NumberFormat::fp8;
    if (narrow_gate) s.software.memory.gate = Gate::narrow;
    return *estimated(s);
  };
  const Estimate kept = priced(plan, false);
  EXPECT_EQ(kept.verdict, Verdict::does_not_fit);
  const Estimate again = priced(plan + modules, false);
  EXPECT_LT(static_cast<double>(again.peak_memory), 0.7 * static_cast<double>(kept.peak_memory));
  EXPECT_LT(static_cast<double>(again.peak_memory),
            1.05 * static_cast<double>(again.memory_capacity));
  EXPECT_GT(again.step_time, kept.step_time);
  EXPECT_NE(priced(plan + modules, true).verdict, Verdict::does_not_fit);
}

// Only gradients of adapters are made, sent and optimized, and only their states are kept; frozen
// weights are 2 bytes each, divided over ranks under full sharding alone.
TEST(Estimate, AdaptersBesideAFrozenModelAreFasterAndLighter) {
  for (const char* plan : {"tp=4", "tp=4,zero=0", "tp=2,pp=2", "tp=4,zero=3,schedule=1f1b",
                           "pp=4,schedule=zb_h1", "tp=4,recompute=full"}) {
    const Scenario all = scenario("llama-3.1-8b", "h100-sxm:16", plan, 8192, 32);
    Scenario adapted = all;
    adapted.model = *with_adapters(all.model, {16});
    const auto whole = estimated(all);
    const auto low_rank = estimated(adapted);
    ASSERT_TRUE(whole) << plan;
    ASSERT_TRUE(low_rank) << plan << ": " << low_rank.error().text();
    EXPECT_EQ(low_rank->breakdown.total().seconds(), low_rank->step_time);
    // A third of the products' FLOPs is gone; what is left is computed again, waits in a pipeline
    // or is reduced as before.
    EXPECT_LT(low_rank->step_time, 0.97 * whole->step_time) << plan;
    EXPECT_GT(low_rank->step_time, 0.6 * whole->step_time) << plan;
    const double share = trained_parameters(adapted.model) / parameters(adapted.model);
    EXPECT_LT(low_rank->breakdown[Category::optimizer].count(),
              0.2 * whole->breakdown[Category::optimizer].count());
    const MemoryReport& kept = low_rank->stages[0].memory;
    const MemoryReport& before = whole->stages[0].memory;
    // Half of an adapter is whole on each of up to 4 ranks; embedding and head have none.
    EXPECT_LT(static_cast<double>(kept.gradients),
              4 * share * static_cast<double>(before.gradients));
    EXPECT_LT(static_cast<double>(kept.optimizer_states),
              4 * share * static_cast<double>(before.optimizer_states));
    EXPECT_NEAR(static_cast<double>(kept.parameters) / static_cast<double>(before.parameters),
                1 / (1 - share), 0.005)
        << plan;
    // Beside a column product the gathered input is kept whole.
    if (adapted.plan.tp == 1) {
      EXPECT_LT(kept.activations, before.activations) << plan;
    }
  }
}

// The S pass of vocab_1 already holds the input gradient, and a frozen head has no other.
TEST(Estimate, AFrozenHeadCostsBothVocabularySchedulesTheSame) {
  const auto logits = [](const char* plan, bool adapters) {
    Scenario s = scenario("gemma-2-27b", "h100-sxm:8", plan, 4096, 64);
    if (adapters) s.model = *with_adapters(s.model, {16});
    const auto e = estimated(s);
    EXPECT_TRUE(e) << plan;
    return e ? e->breakdown[Category::logits].count() : 0;
  };
  const double one = logits("pp=4,tp=2,schedule=vocab_1", true);
  EXPECT_NEAR(one / logits("pp=4,tp=2,schedule=vocab_2", true), 1, 0.02);
  EXPECT_NEAR(one / logits("pp=4,tp=2,schedule=vocab_1", false), 2.0 / 3, 0.05);
}

TEST(Estimate, NeverFasterThanPeak) {
  for (const char* model : {"llama-3-8b", "mixtral-8x7b", "deepseek-v2-lite", "gpt-3-1.3b"}) {
    const auto e = estimated(scenario(model, "b200-sxm:8", "", 2048, 64));
    ASSERT_TRUE(e) << model << ": " << e.error().text();
    EXPECT_LT(e->mfu, 1) << model;
    EXPECT_GT(e->mfu, 0) << model;
  }
}

TEST(Estimate, AnInvalidPlanGetsAllItsReasons) {
  const auto e = estimated(scenario("llama-3.1-405b", "h100-sxm:16384",
                                    "tp=64,pp=1,ep=2,recompute_layers=3", 8190, 2048));
  ASSERT_FALSE(e);
  EXPECT_THAT(e.error().text(), testing::HasSubstr("do not divide the sequence of 8190 tokens"));
  EXPECT_THAT(e.error().text(), testing::HasSubstr("; ep 2 needs experts"));
  EXPECT_THAT(e.error().text(),
              testing::HasSubstr("; recompute_layers 3 needs recompute=full, selective or "
                                 "alternate"));
}

TEST(Estimate, EveryFigureHasADerivationWithASource) {
  const auto step = predict(published(), catalog());
  const auto derivations = explain(*step, estimate(*step));
  EXPECT_GE(derivations.size(), 12U);
  for (const Derivation& d : derivations) {
    EXPECT_FALSE(d.figure.empty() || d.formula.empty() || d.inputs.empty() || d.value.empty() ||
                 d.source.empty())
        << d.figure;
  }
}

TEST(Estimate, WhatIsComputedAgainIsExplainedByItsModules) {
  const Scenario s = scenario("llama-3-8b", "h100-sxm:8",
                              "recompute=selective,recompute_modules=layernorm+mlp", 4096, 64);
  const auto step = predict(s, catalog());
  EXPECT_THAT(explain(*step, estimate(*step)),
              testing::Contains(testing::AllOf(
                  testing::Field(&Derivation::figure, "hfu"),
                  testing::Field(&Derivation::inputs,
                                 "recompute=selective, recompute_modules=layernorm+mlp"))));
}

TEST(StepTimeline, SpansCoverTheStepAndStreamsDoNotOverlap) {
  const Scenario s = scenario("llama-3-8b", "h100-sxm:16", "tp=2,pp=4,chunks=2,zero=2", 4096, 16);
  const auto predicted = predict(s, catalog());
  for (const Folding folding : {Folding::folded, Folding::expanded}) {
    const auto spans = timeline_spans(*simulated(predicted->costs, folding));
    Picoseconds last;
    for (std::size_t i = 0; i < spans.size(); ++i) {
      const TimelineSpan& span = spans[i];
      EXPECT_LT(span.start, span.end);
      last = std::max(last, span.end);
      if (i > 0 && spans[i - 1].stage == span.stage && spans[i - 1].stream == span.stream) {
        EXPECT_LE(spans[i - 1].end, span.start);
      }
    }
    EXPECT_EQ(last, predicted->folded.time);
  }
}

// Passes of a pair hide each other's exchanges (DualPipe): no stage is busier than the step lasts.
TEST(Estimate, PairsOfPassesKeepAStageBusyOnce) {
  const auto step = predict(scenario("mixtral-8x7b", "h100-sxm:64",
                                     "pp=4,ep=8,schedule=dualpipe,recompute=full", 4096, 512),
                            catalog());
  ASSERT_TRUE(step) << step.error().text();
  const Estimate e = estimate(*step);
  for (const StageReport& stage : e.stages) {
    EXPECT_GT(stage.busy, Picoseconds(0));
    EXPECT_LE(stage.busy, step->folded.time);
  }
  const StageReport& critical = e.stages[static_cast<std::size_t>(e.critical_stage)];
  EXPECT_LE(critical.busy + e.breakdown[Category::bubble], step->folded.time);
  EXPECT_LT(critical.busy, (critical.forward + critical.backward) * step->costs.passes_a_chunk());
}

// However a reader takes the decimals: no slice ends after the next one of its track begins.
TEST(StepTimeline, WrittenSlicesOfATrackNeverOverlap) {
  const Scenario s = scenario("llama-3-8b", "h100-sxm:16", "tp=2,pp=4,chunks=2,zero=2", 4096, 16);
  const auto predicted = predict(s, catalog());
  const auto us = [](const Value& event, std::string_view key) {
    return std::stod(event.find(key)->scalar_text());
  };
  const auto ps = [&](const Value& e, std::string_view key) {
    return std::round(us(e, key) * 1e6);
  };
  const auto ns = [&](const Value& e, std::string_view key) {
    return std::round(us(e, key) * 1e3);
  };
  const auto cut = [&](const Value& e, std::string_view key) {
    return std::trunc(us(e, key) * 1e3);
  };
  for (const Folding folding : {Folding::folded, Folding::expanded}) {
    const auto spans = timeline_spans(*simulated(predicted->costs, folding));
    const auto document = parse_json(chrome_json(spans, "test"), "step.json");
    ASSERT_TRUE(document);
    double shortened = 0;
    std::size_t slices = 0;
    const Value* before = nullptr;
    for (const Value& event : document->root.find("traceEvents")->items()) {
      if (event.find("ph")->scalar_text() != "X") continue;
      shortened += ps(event, "dur");
      ++slices;
      if (before != nullptr &&
          before->find("pid")->scalar_text() == event.find("pid")->scalar_text() &&
          before->find("tid")->scalar_text() == event.find("tid")->scalar_text()) {
        EXPECT_LE(us(*before, "ts") + us(*before, "dur"), us(event, "ts"));
        EXPECT_LE(ps(*before, "ts") + ps(*before, "dur"), ps(event, "ts"));
        EXPECT_LE(ns(*before, "ts") + ns(*before, "dur"), ns(event, "ts"));
        EXPECT_LE(cut(*before, "ts") + cut(*before, "dur"), cut(event, "ts"));
      }
      before = &event;
    }
    EXPECT_EQ(slices, spans.size());
    for (const TimelineSpan& span : spans) shortened -= (span.end - span.start).count();
    EXPECT_LE(shortened, 0);
    EXPECT_GT(shortened, -1001.0 * static_cast<double>(slices));
  }
}

TEST(StepTimeline, EveryPassIsDrawnOnce) {
  const Scenario s = scenario("llama-3-8b", "h100-sxm:8", "tp=2,pp=4", 4096, 8);
  const auto spans = pipeline_spans(*predict(s, catalog()));
  int forward = 0;
  int backward = 0;
  for (const PipelineSpan& span : spans) {
    forward += span.kind == PipelineSpan::Kind::forward ? 1 : 0;
    backward += span.kind == PipelineSpan::Kind::backward ? 1 : 0;
  }
  EXPECT_EQ(forward, 4 * 8);
  EXPECT_EQ(backward, 4 * 8);
}

Result<Spec> spec(const char* text) {
  return read_spec(*parse_yaml(text, "spec.yaml"), "", catalog());
}

TEST(Spec, ReadsTheNestedForm) {
  const auto s = spec(
      "model: llama-3.1-405b\n"
      "cluster: {name: meta-h100-24k-roce, gpus: 16384}\n"
      "training: {sequence_length: 8192, global_batch: 2048, precision: bf16, optimizer: adamw}\n"
      "plan:\n  tp: 8\n  pp: {degree: 16, schedule: interleaved_1f1b, chunks: 4}\n"
      "  dp: {sharding: zero-2}\n");
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_EQ(s->scenario.cluster.accelerators, 16384);
  EXPECT_EQ(to_text(s->scenario.plan), "tp=8,pp=16,schedule=interleaved_1f1b,chunks=4,zero=2");
  EXPECT_THAT(s->stated, testing::ElementsAre("tp", "pp", "schedule", "chunks", "zero"));
}

TEST(Spec, TakesTheZeroStageOfTheSoftwareIfThePlanStatesNone) {
  const auto zero = [](const char* plan) {
    const auto s = spec(
        fmt::format("model: llama-3-8b\ncluster: h100-sxm:8\nsoftware: torchtitan\nplan: {{{}}}\n",
                    plan)
            .c_str());
    EXPECT_EQ(read_spec(Document{"again", specification(s->scenario, catalog())}, "", catalog())
                  ->scenario.plan,
              s->scenario.plan);
    return s->scenario.plan.zero;
  };
  EXPECT_EQ(zero("tp: 2"), 3);
  EXPECT_EQ(zero("tp: 2, zero: 1"), 1);
  EXPECT_EQ(spec("model: llama-3-8b\ncluster: h100-sxm:8\n")->scenario.plan.zero, 1);
}

TEST(Spec, AdaptersStandBesideAnyModel) {
  const auto document = parse_yaml(
      "model: llama-3.1-8b\ncluster: h100-sxm:8\nadapters: {rank: 8, products: all}\n", "s.yaml");
  const auto spec = read_spec(*document, "", catalog());
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(architecture_of(spec->scenario.model)->adapters, (Adapters{8, AdaptedProducts::all}));
  EXPECT_LT(trained_parameters(spec->scenario.model), 0.01 * parameters(spec->scenario.model));
  const auto absurd =
      parse_yaml("model: llama-3.1-8b\ncluster: h100-sxm:8\nadapters: {rank: 0}\n", "s.yaml");
  EXPECT_THAT(read_spec(*absurd, "", catalog()).error().text(),
              testing::AllOf(testing::HasSubstr("s.yaml: line 3, adapters"),
                             testing::HasSubstr("adapters.rank 0 is outside")));
}

TEST(Spec, ErrorsGiveFileLineAndField) {
  EXPECT_EQ(spec("model: llama-3-8b\n").error().text(),
            "spec.yaml: missing field 'cluster' (write cluster: h100-sxm:1024, or give --on)");
  EXPECT_EQ(spec("model: llama-3-8b\nclutser: h100-sxm:8\n").error().text(),
            "spec.yaml: line 2: unknown field 'clutser' (did you mean 'cluster'?)");
  EXPECT_EQ(
      spec("model: llama-3-8b\ncluster: h100-sxm:8\nplan:\n  pp: {degre: 4}\n").error().text(),
      "spec.yaml: line 4, plan.pp.degre: unknown field 'degre' (known: degree, schedule, chunks, "
      "group, layers)");
  EXPECT_EQ(
      spec("model: llama-3-8b\ncluster: h100-sxm:8\ntraining: {precision: fp9}\n").error().text(),
      "spec.yaml: training: line 3, precision: unknown value 'fp9' (did you mean 'fp8'?)");
}

}  // namespace
}  // namespace orrery
