#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cluster/cluster.h"
#include "estimate/forward_pass.h"
#include "infer/inferred_comparison.h"
#include "infer/recorded_parallelism.h"
#include "infer/recorded_software.h"
#include "model/transformer/transformer.h"
#include "trace/recorded_run.h"

namespace orrery {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<RecordedTrace> traces_of(const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  for (const std::string& file : files) {
    paths.push_back(std::string(ORRERY_SOURCE_DIR) + "/validation/traces/" + file);
  }
  auto run = read_run(paths);
  EXPECT_TRUE(run) << run.error().text();
  return run ? std::move(run->ranks) : std::vector<RecordedTrace>{};
}

std::vector<std::string> megatron_files() {
  std::vector<std::string> out;
  for (int rank = 0; rank < 8; ++rank) {
    out.push_back("astra-sim/megatron-tp8/kineto_rank" + std::to_string(rank) + ".json.gz");
  }
  return out;
}

TEST(InferredSpec, FindsMegatronOnEightRanks) {
  // validation/traces/astra-sim/README.md: 40 layers, hidden 4096, 64 heads, sequence 2048,
  // micro-batch 4, fp16, vocabulary 51200, forward only, TP 8 on A100.
  const auto spec = inferred_spec(traces_of(megatron_files()), Catalog::built_in());
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->architecture.num_layers, 40);
  EXPECT_EQ(spec->architecture.hidden, 4096);
  EXPECT_EQ(spec->architecture.num_heads, 64);
  EXPECT_EQ(spec->architecture.num_kv_heads, 64);
  EXPECT_EQ(spec->architecture.head_dim, 64);
  EXPECT_EQ(spec->architecture.ffn_hidden, 16384);
  EXPECT_EQ(spec->architecture.ffn, FeedForwardKind::gelu);
  EXPECT_EQ(spec->architecture.vocab, 51200);
  EXPECT_EQ(spec->training.sequence_length, 2048);
  EXPECT_EQ(spec->training.precision, NumberFormat::fp16);
  EXPECT_EQ(spec->plan.micro_batch, 4);
  EXPECT_EQ(spec->plan.tp, 8);
  EXPECT_EQ(spec->plan.dp, 1);
  EXPECT_EQ(spec->cluster, "a100-80gb-sxm:8");
  EXPECT_FALSE(spec->backward);
}

TEST(InferredSpec, FindsQwenOnBothAccelerators) {
  // Qwen1.5-0.5B as its authors publish it (catalog/models), batch 16.
  for (const auto& [file, cluster] :
       {std::pair{"h100", "h100-sxm:1"}, std::pair{"mi300", "mi300x:1"}}) {
    const auto spec = inferred_spec(
        traces_of({std::string("TraceLens/") + file + "/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"}),
        Catalog::built_in());
    ASSERT_TRUE(spec) << spec.error().text();
    EXPECT_EQ(spec->architecture.num_layers, 24);
    EXPECT_EQ(spec->architecture.hidden, 1024);
    EXPECT_EQ(spec->architecture.num_heads, 16);
    EXPECT_EQ(spec->architecture.ffn_hidden, 2816);
    EXPECT_EQ(spec->architecture.ffn, FeedForwardKind::swiglu);
    EXPECT_EQ(spec->architecture.vocab, 151936);
    EXPECT_EQ(spec->plan.micro_batch, 16);
    EXPECT_EQ(spec->plan.tp, 1);
    EXPECT_EQ(spec->training.precision, NumberFormat::bf16);
    EXPECT_EQ(spec->cluster, cluster);
  }
}

TEST(InferredSpec, IsPredictedBesideWhatWasRecorded) {
  const auto compared = inferred_comparison(traces_of(megatron_files()), Catalog::built_in());
  ASSERT_TRUE(compared) << compared.error().text();
  // Kernels without waiting: 130 ms of computing and 50 ms of transfers (README of the recording).
  EXPECT_NEAR(compared->recorded.value(), 0.180, 0.005);
  EXPECT_NEAR(compared->predicted / compared->recorded, 1, 0.2);
  EXPECT_EQ(compared->spec.software, "megatron-lm-2022");
  EXPECT_EQ(compared->earlier, Seconds(0));
  const auto part = [&](StepPart p) { return compared->parts[static_cast<std::size_t>(p)]; };
  EXPECT_NEAR(part(StepPart::communication).recorded.value(), 0.050, 0.002);
  // The share of NVLink that measured steps leave on A100 (0.84, catalog/step) is less than this
  // run had: 22 % too much.
  EXPECT_NEAR(part(StepPart::communication).predicted / part(StepPart::communication).recorded, 1.1,
              0.15);
}

TEST(InferredComparison, ExplainsAnEagerModel) {
  // The recordings begin while the device still works on the pass before: a third of its kernels
  // have no launch. What is left is 24 layers in chains of small kernels.
  for (const char* file : {"h100", "mi300"}) {
    const auto c = inferred_comparison(
        traces_of({std::string("TraceLens/") + file + "/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"}),
        Catalog::built_in());
    ASSERT_TRUE(c) << c.error().text();
    EXPECT_EQ(c->spec.software, "transformers");
    EXPECT_FALSE(c->spec.logits);
    EXPECT_FALSE(c->spec.loss);
    EXPECT_NEAR(c->earlier.value(), 0.0133, 0.0005);
    EXPECT_NEAR(c->predicted / c->recorded, 1, 0.12) << file;
    Seconds predicted;
    Seconds recorded;
    for (const ComparedPart& p : c->parts) {
      predicted += p.predicted;
      recorded += p.recorded;
    }
    EXPECT_NEAR(predicted.value(), c->predicted.value(), 1e-12);
    EXPECT_NEAR(recorded.value(), c->recorded.value(), 1e-12);
    // The same specification in a framework that fuses its chains is faster where memory binds.
    Scenario fused;
    fused.model = *build_model(c->spec.architecture);
    fused.cluster = *parse_cluster_name(c->spec.cluster, Catalog::built_in());
    fused.training = c->spec.training;
    fused.plan = c->spec.plan;
    const auto faster = predict(fused, Catalog::built_in());
    ASSERT_TRUE(faster) << faster.error().text();
    EXPECT_LT(estimate(*faster).stages[0].forward, c->estimate.stages[0].forward);
  }
}

TEST(InferredComparison, AddsUpToTheForwardPassOfTheEstimate) {
  const auto c = inferred_comparison(traces_of(megatron_files()), Catalog::built_in());
  ASSERT_TRUE(c) << c.error().text();
  // With logits, without a loss of its own in the recording's operators.
  Scenario scenario;
  scenario.model = *build_model(c->spec.architecture);
  scenario.cluster = *parse_cluster_name(c->spec.cluster, Catalog::built_in());
  scenario.training = c->spec.training;
  scenario.plan = c->spec.plan;
  const auto step = predict(scenario, Catalog::built_in());
  ASSERT_TRUE(step) << step.error().text();
  EXPECT_EQ(forward_breakdown(*step).total(), estimate(*step).stages[0].forward);
}

std::vector<RecordedTrace> fork_traces() { return traces_of({"megatron-lm-fork/tp2"}); }

TEST(InferredSpec, CountsOperatorsOfTheForwardPass) {
  // A training step: backward products have the shapes of forward ones. Two layers of 12 with a
  // plain feed-forward of 48 (README of the recording, aten::gelu).
  const auto spec = inferred_spec(fork_traces(), Catalog::built_in());
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_TRUE(spec->complete);
  EXPECT_TRUE(spec->backward);
  EXPECT_EQ(spec->architecture.num_layers, 2);
  EXPECT_EQ(spec->architecture.ffn_hidden, 48);
  EXPECT_EQ(spec->architecture.ffn, FeedForwardKind::gelu);
  EXPECT_EQ(spec->architecture.norm, NormKind::layernorm);
  EXPECT_EQ(spec->architecture.position_encoding, PositionEncoding::learned);
  EXPECT_EQ(spec->architecture.head_dim, 3);
  EXPECT_EQ(spec->plan.tp, 2);
  EXPECT_EQ(spec->plan.recompute, Recompute::none);
}

TEST(InferredComparison, SaysWhyAHostBoundStepDiffers) {
  const auto c = inferred_comparison(fork_traces(), Catalog::built_in());
  ASSERT_TRUE(c) << c.error().text();
  const auto part = [&](StepPart p) { return c->parts[static_cast<std::size_t>(p)]; };
  // Tiny kernels: nothing that computes takes a millisecond, whatever the size of its heads.
  for (const StepPart p : {StepPart::products, StepPart::attention, StepPart::memory_bound}) {
    EXPECT_LT(part(p).predicted.value(), 0.5e-3) << to_text(p);
  }
  // The prediction too waits for its host, for as long as launching takes beyond the kernels.
  EXPECT_GT(part(StepPart::host).predicted.value(), 0.5e-3);
  EXPECT_GT(c->launching, part(StepPart::host).predicted);
  // Rank 1 waits 48.2 ms, rank 0 not at all (README of the recording).
  EXPECT_NEAR(part(StepPart::waiting).recorded.value(), 0.0241, 0.0003);
  EXPECT_EQ(part(StepPart::waiting).predicted, Seconds(0));
  EXPECT_EQ(part(StepPart::waiting).recorded, c->step_waiting);
  EXPECT_NEAR(c->step_launches, 245, 1);
  ASSERT_EQ(c->causes.size(), 2u);
  EXPECT_EQ(c->causes[0].part, StepPart::host);
  // One rank shares its device with another process; what its host did then is no reason.
  EXPECT_THAT(c->causes[0].why, HasSubstr("another process has the device for 74 % of the time"));
  EXPECT_THAT(c->causes[0].why, HasSubstr("it waits for its host"));
  EXPECT_THAT(c->causes[0].why, HasSubstr("55 % loading data"));
  EXPECT_THAT(c->causes[0].why, HasSubstr("245 kernels and copies a step"));
  EXPECT_EQ(c->causes[1].part, StepPart::waiting);
  EXPECT_THAT(c->causes[1].why, HasSubstr("rank 0 arrives last 13 times of 13"));
  EXPECT_LT(c->causes[0].difference, Seconds(0));
}

TEST(InferredComparison, SaysThatMostOfWhatRanIsAnotherModel) {
  // A diffusion transformer of 2432, whose text encoder alone has an embedding.
  const auto c = inferred_comparison(
      traces_of({"TraceLens/inference/xdit_sd_3.5/profile_trace_rank_0.json.gz"}),
      Catalog::built_in());
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_LT(c->model_share, 0.1);
  ASSERT_FALSE(c->causes.empty());
  EXPECT_THAT(c->causes[0].why, HasSubstr("shapes that the inferred model does not have"));
  // Of a rank alone waiting cannot be told.
  const auto alone = inferred_comparison(traces_of({"astra-sim/megatron-tp8/kineto_rank4.json.gz"}),
                                         Catalog::built_in());
  ASSERT_TRUE(alone) << alone.error().text();
  EXPECT_GT(alone->model_share, 0.95);
  EXPECT_THAT(alone->causes.at(0).why, HasSubstr("one rank is recorded"));
}

// Of forward passes neither is compared, but a reader sees both in the recorded step.
TEST(InferredComparison, ExplainsIdleTimeAndWaitingOfForwardPasses) {
  const auto c = inferred_comparison(traces_of({"astra-sim/megatron-tp8"}), Catalog::built_in());
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_FALSE(c->spec.backward);
  const auto gap = [&](StepPart part) {
    return *std::find_if(c->causes.begin(), c->causes.end(),
                         [&](const PredictionGap& cause) { return cause.part == part; });
  };
  const PredictionGap idle = gap(StepPart::host);
  EXPECT_FALSE(idle.compared);
  EXPECT_EQ(idle.difference, Seconds(0) - c->step_idle);
  EXPECT_THAT(idle.why, HasSubstr("the device waits for its host, which meanwhile is"));
  EXPECT_THAT(idle.why, Not(HasSubstr("software profile")));  // that launches whole steps
  const PredictionGap waiting = gap(StepPart::waiting);
  EXPECT_FALSE(waiting.compared);
  EXPECT_EQ(waiting.difference, Seconds(0) - c->step_waiting);
  EXPECT_THAT(waiting.why, HasSubstr("rank 0 arrives last 32 times of 84"));
  EXPECT_EQ(c->parts[static_cast<std::size_t>(StepPart::host)].recorded, Seconds(0));
}

TEST(InferredComparison, ReadsAnEncoderOfPatches) {
  // OWLv2-large: CLIP ViT-L/14 on 1008 x 1008 pixels, 24 layers of 1024, eager (its config.json).
  for (const auto& [file, most] : {std::pair{"h100", 0.1}, std::pair{"mi300", 0.3}}) {
    const auto c =
        inferred_comparison(traces_of({std::string("TraceLens/") + file +
                                       "/google_owlv2-large-patch14-ensemble__1016001.json.gz"}),
                            Catalog::built_in());
    ASSERT_TRUE(c) << c.error().text();
    EXPECT_TRUE(c->is_predicted);
    const Architecture& a = c->spec.architecture;
    EXPECT_EQ(a.kind, ModelKind::vision_encoder);
    ASSERT_TRUE(a.vision);
    EXPECT_EQ(a.vision->patch, 14);
    EXPECT_EQ(a.vision->tokens, 5184);
    EXPECT_EQ(a.num_layers, 24);
    EXPECT_EQ(a.ffn_hidden, 4096);
    EXPECT_EQ(c->spec.microbatches, 5);
    EXPECT_EQ(c->spec.software, "transformers");
    EXPECT_NEAR(c->predicted / c->recorded, 1, most) << file;
    EXPECT_GT(c->model_share, 0.95);
    EXPECT_FALSE(c->causes.empty());
  }
}

const InferredFact* fact_of(const InferredSpec& spec, std::string_view name) {
  for (const InferredFact& fact : spec.facts) {
    if (fact.name == name) return &fact;
  }
  return nullptr;
}

TEST(InferredSpec, GivesTheFactsItHasWithoutASpecification) {
  // A layer of experts: hidden 7168, 2048 in each (validation/traces/ao).
  const auto experts = inferred_spec(traces_of({"ao/ref_ep_moe_fwd.json.gz"}), Catalog::built_in());
  ASSERT_TRUE(experts) << experts.error().text();
  EXPECT_FALSE(experts->complete);
  ASSERT_NE(fact_of(*experts, "experts of a rank"), nullptr);
  EXPECT_EQ(fact_of(*experts, "experts of a rank")->value, "4");
  EXPECT_EQ(fact_of(*experts, "product of experts")->value, "7168 to 2048");
  EXPECT_THAT(experts->not_inferred, testing::Contains(HasSubstr("a model of experts")));
  EXPECT_THAT(experts->not_inferred, testing::Contains(HasSubstr("ranks exchange all-to-all")));

  const auto unshaped = inferred_comparison(
      traces_of({"megatron-lm-fork/tp2/kineto_rank0.json.gz"}), Catalog::built_in());
  ASSERT_TRUE(unshaped) << unshaped.error().text();
  EXPECT_FALSE(unshaped->is_predicted);
  EXPECT_THAT(unshaped->spec.not_inferred,
              testing::Contains("shapes of operators: record with record_shapes=True"));
  EXPECT_GT(unshaped->recorded, Seconds(0));
}

TEST(InferredSpec, TakesNoTableForAModelThatNoProductContinues) {
  // A table of 64 position biases in a diffusion model is looked up by the most entries.
  const auto spec =
      inferred_spec(traces_of({"TraceLens/inference/xdit_sd_3.5/profile_trace_rank_0.json.gz"}),
                    Catalog::built_in());
  if (spec) {
    const InferredFact* hidden = fact_of(*spec, "hidden");
    EXPECT_TRUE(hidden == nullptr || hidden->value != "64");
  } else {
    EXPECT_THAT(spec.error().text(), HasSubstr("nothing can be told"));
  }
}

TEST(InferredSpec, SaysWhatCannotBeTold) {
  auto spec = inferred_spec(
      traces_of({"HolisticTraceAnalysis/cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz"}),
      Catalog::built_in());
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().text(), HasSubstr("the model and its parallelism cannot be inferred"));
  EXPECT_THAT(spec.error().text(), HasSubstr("shapes of operators: record with"));
  spec = inferred_spec({}, Catalog::built_in());
  ASSERT_FALSE(spec);
}

// A step of a framework that names its groups: what is not in the recordings at hand.
RecordedTrace named_groups() {
  RecordedTrace trace;
  trace.world_size = 64;
  trace.groups = {{"1", "TENSOR_MODEL_PARALLEL_GROUP", 4, {}},
                  {"2", "PIPELINE_MODEL_PARALLEL_GROUP", 2, {}},
                  {"3", "TENSOR_AND_DATA_PARALLEL_GROUP", 32, {}},
                  {"4", "mesh_cp", 2, {}}};
  trace.lanes.push_back({});
  trace.append(EventKind::cpu_operator, "aten::empty", 0, 0, 1000);
  return trace;
}

TEST(RecordedParallelism, ReadsTheNamesOfGroups) {
  const RecordedTrace trace = named_groups();
  const RecordedParallelism p = recorded_parallelism(trace, marked_steps(trace).at(0));
  EXPECT_EQ(p.tp.size, 4);
  EXPECT_EQ(p.pp.size, 2);
  EXPECT_EQ(p.cp.size, 2);
  EXPECT_EQ(p.ep.size, 0);
  EXPECT_FALSE(p.sends);
  const auto spec = inferred_spec(std::span(&trace, 1), Catalog::built_in());
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_FALSE(spec->complete);
  EXPECT_EQ(fact_of(*spec, "pp")->value, "2");
  EXPECT_EQ(fact_of(*spec, "tp")->value, "4");
}

TEST(RecordedParallelism, FindsTheGroupThatCarriesActivations) {
  RecordedParallelism p;
  p.exchanges = {{"allreduce", 8, 1000, "", 4},
                 {"_reduce_scatter_base", 4, 1000, "", 10},
                 {"_allgather_base", 4, 1000, "", 12},
                 {"allreduce", 2, 7, "", 99}};
  EXPECT_EQ(p.carrying(1000).group_size, 4);
  EXPECT_EQ(p.carrying(1000).calls, 10);
  EXPECT_TRUE(p.carrying(1000).scattered);
  EXPECT_EQ(p.carrying(7).group_size, 2);
  EXPECT_EQ(p.carrying(5).calls, 0);
}

TEST(RecordedSoftware, GoesByOperators) {
  const RecordedTrace trace = named_groups();
  const auto used = [](std::string_view name, std::int64_t calls) {
    return OperatorUse{name, "", "", {}, calls, 0, 0};
  };
  EXPECT_EQ(recorded_software(trace, {used("aten::rsqrt", 9)}, 4).profile, "transformers");
  EXPECT_EQ(recorded_software(trace, {used("aten::rsqrt", 1)}, 4).profile, "");
  EXPECT_EQ(recorded_software(trace, {used("aten::gelu", 4)}, 4).profile, "transformers");
  EXPECT_EQ(recorded_software(trace, {used("aten::gelu", 1)}, 4).profile, "");
  EXPECT_EQ(
      recorded_software(trace, {used("aten::gelu", 4), used("_LayerNormLinear", 4)}, 4).profile,
      "megatron-core-0.12");
  EXPECT_EQ(recorded_software(trace, {used("_LayerNormLinear", 4)}, 4).profile,
            "megatron-core-0.12");
  EXPECT_EQ(recorded_software(trace, {}, 0).profile, "");
}

}  // namespace
}  // namespace orrery
