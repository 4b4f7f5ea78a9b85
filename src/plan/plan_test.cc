// Plans as text, their defaults, and every reason they can be refused for.
#include "plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "model/family.h"
#include "plan/completed_plan.h"
#include "plan/plan_rules.h"
#include "plan/stage_layers.h"

namespace orrery {
namespace {

Model model(const char* name) { return *read_model(*Catalog::built_in().find("models", name)); }
Cluster cluster(const char* text) { return *parse_cluster(text, Catalog::built_in()); }

std::string problems(const char* model_name, const char* cluster_text, const char* plan_text,
                     std::int64_t sequence = 8192, std::int64_t batch = 2048) {
  const Model m = model(model_name);
  const Cluster c = cluster(cluster_text);
  Training t;
  t.sequence_length = sequence;
  t.global_batch = batch;
  const CompletedPlan completed = completed_plan(m, c, t, *parse_plan(plan_text));
  std::string out;
  for (const std::string& p : plan_problems(m, c, completed.training, completed.plan))
    out += p + "\n";
  return out;
}

TEST(PlanText, ReadsWhatItWrites) {
  const Plan plan = *parse_plan(
      "tp=8,pp=4,vpp=2,mbs=2,recompute=full,recompute_layers=3,overlap.pipeline=off,"
      "placement=tp+cp+pp+dp,layers=1+2+3");
  EXPECT_EQ(plan.chunks, 2);
  EXPECT_EQ(plan.micro_batch, 2);
  EXPECT_FALSE(plan.overlap.pipeline);
  EXPECT_EQ(plan.layers, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(*parse_plan(to_text(plan)), plan);
  EXPECT_EQ(to_text(Plan{}), "");
  for (const auto& scheme : names_of(ContextParallel{})) {
    Plan cut;
    cut.cp = 4;
    cut.context_parallel = scheme.value;
    EXPECT_EQ(*parse_plan(to_text(cut)), cut) << scheme.name;
  }
  EXPECT_EQ(parse_plan("cp=2,context_parallel=all-to-all")->context_parallel,
            ContextParallel::all_to_all);
}

TEST(PlanText, ReadsTheNotationsPeopleType) {
  const Plan plan =
      *parse_plan("tp=8,pp=2,sequence_parallel=true,cp=2,context_parallel=all-to-all");
  EXPECT_EQ(*parse_plan("TP=8 PP = 2\tsp=1, cp=2 context_parallel=ulysses"), plan);
  EXPECT_FALSE(parse_plan("tp=8,sp=0")->sequence_parallel);
  EXPECT_EQ(stated_fields("TP=8 sp=1,vpp=2"),
            (std::vector<std::string>{"tp", "sequence_parallel", "chunks"}));
}

TEST(PlanText, ErrorsSayWhatIsWrong) {
  EXPECT_EQ(parse_plan("tpp=8").error().text(),
            "plan: unknown field 'tpp' in plan (did you mean 'tp'?)");
  EXPECT_EQ(parse_plan("tp").error().text(),
            "plan: 'tp' is not key=value (write a plan such as \"tp=8,pp=16,micro_batch=1\")");
  EXPECT_EQ(parse_plan("tp=8=4").error().text(),
            "plan: 'tp=8=4' is not key=value (write a plan such as \"tp=8,pp=16,micro_batch=1\")");
  EXPECT_EQ(parse_plan("tp=2,tp=4").error().text(), "plan: 'tp' is given twice");
  EXPECT_EQ(parse_plan("tp=eight").error().text(),
            "plan: tp: 'eight' is not a whole number (tensor-parallel degree)");
  EXPECT_EQ(parse_plan("recompute=ful").error().text(),
            "plan: recompute: unknown value 'ful' (did you mean 'full'?)");
}

TEST(PlanText, RecomputeModulesAreAList) {
  const Plan plan = *parse_plan("recompute=selective,recompute_modules=core_attn+moe_act");
  EXPECT_EQ(plan.recompute_modules,
            (std::vector{RecomputeModule::core_attn, RecomputeModule::moe_act}));
  EXPECT_EQ(*parse_plan(to_text(plan)), plan);
  EXPECT_EQ(parse_plan("recompute=selective,recompute_modules=core_attn+experts").error().text(),
            "plan: recompute_modules: [1]: unknown module 'experts' (known: core_attn, layernorm, "
            "mla_up_proj, moe_act, mlp_act, mlp, moe, shared_experts)");
}

TEST(PlanRules, AFormatThatTheAcceleratorLacksIsRefusedWithThoseItHas) {
  EXPECT_EQ(
      format_problem(cluster("h100-sxm:8").accelerator, NumberFormat::mxfp8),
      "h100-sxm has no mxfp8 units; its number formats are bf16, fp16, fp8, fp32, tf32, fp64");
  EXPECT_EQ(format_problem(cluster("v100-32gb-sxm2:8").accelerator, NumberFormat::bf16),
            "v100-32gb-sxm2 has no bf16 units; its number formats are fp16, fp32, fp64");
  EXPECT_EQ(format_problem(cluster("gb200:8").accelerator, NumberFormat::mxfp8), "");

  const Model m = model("llama-3-8b");
  const Cluster c = cluster("mi300x:8");
  Training t;
  t.precision = NumberFormat::nvfp4;
  const CompletedPlan completed = completed_plan(m, c, t, *parse_plan("tp=8"));
  EXPECT_EQ(plan_problems(m, c, completed.training, completed.plan),
            std::vector<std::string>{format_problem(c.accelerator, NumberFormat::nvfp4)});
}

TEST(StageLayers, FirstAndLastHoldFewer) {
  // arXiv 2407.21783 s.3.3.2: 126 layers on 128 virtual stages.
  const auto llama = even_layers(126, 128);
  EXPECT_EQ(llama.front(), 0);
  EXPECT_EQ(llama.back(), 0);
  EXPECT_EQ(std::count(llama.begin(), llama.end(), 1), 126);
  EXPECT_EQ(even_layers(61, 16),
            (std::vector<std::int64_t>{3, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 3, 3}));
  EXPECT_EQ(even_layers(8, 4), (std::vector<std::int64_t>{2, 2, 2, 2}));
}

TEST(StageLayers, KeepsEveryLayerAndIsEven) {
  for (std::int64_t layers = 1; layers < 130; ++layers) {
    for (std::int64_t stages = 1; stages <= layers + 2; ++stages) {
      const auto split = even_layers(layers, stages);
      EXPECT_EQ(std::accumulate(split.begin(), split.end(), std::int64_t{0}), layers);
      const auto [least, most] = std::minmax_element(split.begin(), split.end());
      EXPECT_LE(*most - *least, 1);
      EXPECT_GE(*least, 0);
    }
  }
}

TEST(PlanText, OverlapAsAWholeAndByKindIsAnError) {
  const auto plan = parse_plan("overlap=16,overlap.pipeline=on");
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().text(), testing::HasSubstr("'overlap.pipeline' is given beside"));
}

TEST(PlanRules, ThePublishedPlanIsValid) {
  EXPECT_EQ(problems("llama-3.1-405b", "h100-sxm:16384", "tp=8,pp=16,chunks=8"), "");
}

TEST(PlanRules, SaysEveryReasonWithItsNumbers) {
  const std::string all =
      problems("llama-3.1-405b", "h100-sxm:16384", "tp=64,cp=2,pp=128,ep=2", 8191);
  EXPECT_THAT(all, testing::HasSubstr("do not divide the sequence of 8191 tokens"));
  EXPECT_THAT(all, testing::HasSubstr("ep 2 needs experts; llama-3.1-405b has none"));
  EXPECT_EQ(problems("llama-3.1-405b", "h100-sxm:16384", "tp=3"),
            "tp 3 x cp 1 x pp 1 does not divide 16384 GPUs\n"
            "tp 3 does not divide 128 attention heads\n"
            "tp 3 and 8 key-value heads: neither divides the other, so that heads would be split\n"
            "tp 3 does not divide the feed-forward width 53248\n"
            "cp 1 and sequence parallelism over tp 3 do not divide the sequence of 8192 tokens\n");
  EXPECT_EQ(problems("llama-3.1-405b", "h100-sxm:16384", "tp=8,pp=16,dp=4"),
            "tp 8 x cp 1 x pp 16 x dp 4 is not the 16384 GPUs of the cluster\n");
  EXPECT_EQ(problems("llama-3.1-405b", "h100-sxm:16384", "tp=8,pp=256,schedule=1f1b"),
            "pp 256 x chunks 1 = 256 virtual stages for 126 layers: some would be empty\n");
  EXPECT_EQ(problems("llama-3.1-405b", "h100-sxm:16384", "tp=8,pp=16,chunks=4", 8192, 1152),
            "interleaved_1f1b passes microbatches in groups of one a device: 9 microbatches are "
            "not a multiple "
            "of 16\n");
  EXPECT_EQ(problems("llama-3.1-405b", "h100-sxm:16384", "tp=8,pp=16", 8192, 100),
            "global batch 100 is not a multiple of dp 128 x micro_batch 1: write 128\n");
  EXPECT_EQ(problems("llama-3.1-405b", "h100-sxm:16384", "tp=8,pp=16", 8192, 1000),
            "global batch 1000 is not a multiple of dp 128 x micro_batch 1: write 896 or 1024\n");
  EXPECT_EQ(problems("llama-3.1-405b", "h100-sxm:16384", "tp=8,pp=16,layers=1+2"),
            "layers lists 2 virtual stages, pp x chunks are 16\n");
  EXPECT_EQ(problems("llama-3.1-405b", "h100-sxm:16384", "tp=0"),
            "tp 0 is outside 1 to 10000000\n");
  EXPECT_EQ(problems("mixtral-8x7b", "h100-sxm:64", "tp=2,ep=16", 4096, 64),
            "ep 16 does not divide 8 experts\n");
  EXPECT_EQ(problems("llama-3-8b", "h100-sxm:8", "dispatch=deduplicated"),
            "dispatch=deduplicated needs experts; llama-3-8b has none\n");
  EXPECT_EQ(problems("mixtral-8x7b", "h100-sxm:64",
                     "pp=2,schedule=gpipe,recompute=full,overlap.expert_batches=on", 4096, 64),
            "overlap.expert_batches needs ep above 1\n"
            "overlap.expert_batches needs schedule 1f1b or interleaved_1f1b, whose forwards and "
            "backwards alternate; this is gpipe\n"
            "overlap.expert_batches and recompute=full exclude each other: the backward would "
            "send tokens away again\n");
  EXPECT_EQ(problems("llama-2-7b", "h100-sxm:8", "pp=10000,chunks=10000", 4096, 64),
            "tp 1 x cp 1 x pp 10000 does not divide 8 GPUs\n"
            "pp 10000 x chunks 10000 = 100000000 virtual stages for 32 layers: some would be "
            "empty\n");
}

TEST(PlanRules, RecomputeModulesFitThePlanAndTheModel) {
  const auto said = [](const char* name, const char* plan) {
    return problems(name, "h100-sxm:8", plan, 4096, 64);
  };
  EXPECT_EQ(said("llama-3-8b", "recompute_modules=layernorm"),
            "recompute_modules layernorm needs recompute=selective\n");
  EXPECT_EQ(said("llama-3-8b", "recompute=full,recompute_modules=layernorm+mlp"),
            "recompute_modules layernorm+mlp needs recompute=selective\n");
  EXPECT_EQ(said("llama-3-8b",
                 "recompute=selective,recompute_modules=mla_up_proj+moe+moe_act+shared_experts"),
            "recompute_modules mla_up_proj needs latent attention; llama-3-8b has none\n"
            "recompute_modules moe needs experts; llama-3-8b has none\n"
            "recompute_modules moe_act needs experts; llama-3-8b has none\n"
            "recompute_modules shared_experts needs a shared expert; llama-3-8b has none\n");
  EXPECT_EQ(said("mixtral-8x7b", "recompute=selective,recompute_modules=mlp+mlp_act"),
            "recompute_modules mlp needs a dense layer; mixtral-8x7b has none\n"
            "recompute_modules mlp_act needs a dense layer or a shared expert; mixtral-8x7b has "
            "none\n");
  EXPECT_EQ(said("llama-3-8b", "recompute=selective,recompute_modules=mlp+mlp"),
            "recompute_modules names mlp twice\n");
  EXPECT_THAT(said("deepseek-v2-lite",
                   "ep=8,recompute=selective,recompute_modules=moe,overlap.expert_batches=on"),
              testing::HasSubstr("would send tokens away again"));
  EXPECT_THAT(said("deepseek-v2-lite",
                   "ep=8,recompute=selective,recompute_modules=shared_experts,overlap.expert=on"),
              testing::HasSubstr("exclude each other"));
  EXPECT_EQ(said("deepseek-v2-lite",
                 "ep=8,recompute=selective,recompute_modules=core_attn+layernorm+mla_up_proj+"
                 "moe_act+mlp_act+mlp+moe+shared_experts"),
            "");
}

TEST(PlanRules, KeyValueHeadsAreDividedOrCopied) {
  EXPECT_EQ(problems("llama-3.1-405b", "h100-sxm:16384", "tp=16,pp=16"), "");
  EXPECT_EQ(problems("palm-8b", "h100-sxm:64", "tp=4"), "");  // one head
  const Model m = model("llama-3.1-405b");
  EXPECT_THAT(completed_plan(m, cluster("gb200:144"), {}, *parse_plan("tp=16,pp=9")).assumed,
              testing::Contains("each of 8 key-value heads is held by 2 tensor-parallel ranks"));
  EXPECT_THAT(problems("phi-3-medium", "h100-sxm:16", "tp=4"),
              testing::HasSubstr("tp 4 and 10 key-value heads: neither divides the other"));
}

TEST(PlanRules, AllToAllsDivideWholeHeads) {
  const auto said = [](const char* plan) {
    return problems("llama-3-70b", "h100-sxm:64", plan, 32768, 64);
  };
  EXPECT_EQ(said("tp=2,cp=4,context_parallel=all-to-all"), "");
  EXPECT_EQ(said("cp=8,context_parallel=all-to-all"), "");
  EXPECT_EQ(said("tp=4,cp=4,context_parallel=all-to-all"),
            "context_parallel=all-to-all divides whole heads over tp 4 x cp 4 = 16 ranks: 64 "
            "attention heads and 8 key-value heads are not both a multiple; use "
            "context_parallel=ring,ulysses=2\n");
  EXPECT_EQ(said("tp=4,cp=4,context_parallel=ring,ulysses=2"), "");
  EXPECT_EQ(
      said("tp=4,cp=4,context_parallel=all-to-all,ulysses=2"),
      "context_parallel=all-to-all exchanges heads among all cp 4 ranks; with ulysses 2 write "
      "context_parallel=ring or all-gather for the others\n");
  EXPECT_THAT(said("cp=4,context_parallel=all-to-all,context_balance=striped"),
              testing::HasSubstr("context_balance=striped needs ranks that share the queries"));
  EXPECT_EQ(
      said("cp=4,ulysses=4,context_placement=context-first"),
      "context_placement=context-first needs two context-parallel groups: 1 < ulysses < cp\n");
  EXPECT_EQ(said("tp=4,cp=4,context_parallel=ring"), "");
  EXPECT_EQ(said("tp=16,context_parallel=all-to-all"), "");  // nothing to exchange
  // A latent is multiplied out to keys and values of every head.
  EXPECT_EQ(
      problems("deepseek-v2-lite", "h100-sxm:16", "cp=16,context_parallel=all-to-all", 32768, 64),
      "");
}

// Every rule of the table refuses one plan, and nothing else does.
TEST(PlanRules, EachHasItsOwnSentence) {
  struct Broken {
    const char* rule;
    const char* model;
    const char* plan;
    const char* sentence;
    std::int64_t sequence = 4096;
    std::int64_t batch = 64;
    NumberFormat precision = NumberFormat::bf16;
    Workload workload = Workload::training;
    Documents documents = {};
    const char* on = "h100-sxm:16";
  };
  const std::vector<Broken> cases = {
      {"ranges", "llama-3-8b", "zero=4", "zero 4 is outside 0 to 3"},
      {"ranks", "llama-3-8b", "tp=2,dp=3",
       "tp 2 x cp 1 x pp 1 x dp 3 is not the 16 GPUs of the cluster"},
      {"context parallelism", "llama-3-8b", "cp=2,ulysses=4", "ulysses 4 does not divide cp 2"},
      {"documents",
       "llama-3-8b",
       "tp=2",
       "documents: lengths[0]: a document of 5000 tokens does not fit into a row of 4096; "
       "packing=concatenated cuts it",
       4096,
       64,
       NumberFormat::bf16,
       Workload::training,
       {.lengths = {{5000}}, .packing = Packing::packed}},
      {"division", "mixtral-8x7b", "ep=16", "ep 16 does not divide 8 experts"},
      {"expert tensor parallelism", "llama-3-8b", "tp=2,etp=4", "etp 4 does not divide tp 2"},
      {"expert ranks", "mixtral-8x7b", "tp=2,pp=4,ep=4,etp=2",
       "ep 4 x etp 2 does not divide the 4 ranks of one stage (tp x cp x dp)"},
      {"tables", "llama-3-8b", "towers=2", "towers needs embedding tables; llama-3-8b has none"},
      {"token dispatch", "llama-3-8b", "dispatch=deduplicated",
       "dispatch=deduplicated needs experts; llama-3-8b has none"},
      {"expert batches", "mixtral-8x7b", "overlap.expert_batches=on",
       "overlap.expert_batches needs ep above 1"},
      {"halves", "llama-3-8b", "tp=4,halves=batch,micro_batch=2",
       "halves=batch hides all-reduces: with sequence_parallel=true each product waits for its own "
       "gather; write sequence_parallel=false, or overlap.tensor_parallel=on"},
      {"reductions", "llama-3-8b", "gradient_bucket_mib=25,zero=2",
       "gradient_bucket_mib 25 needs zero=0 or 1 and overlap.gradient_reduction=on; this is zero "
       "2"},
      {"gradients in place", "llama-3-8b", "gradients_in_place=on,micro_batch=4",
       "gradients_in_place needs gradients as wide as the weights whose place they take; they are "
       "fp32: write gradients: bf16 in training"},
      {"stages", "gpt-3-125m", "pp=16,tp=1,schedule=1f1b",
       "pp 16 x chunks 1 = 16 virtual stages for 12 layers: some would be empty", 2048},
      {"stated layers", "llama-3-8b", "pp=2,layers=10+10", "layers add up to 20, the model has 32"},
      {"batch", "llama-3-8b", "micro_batch=3",
       "global batch 64 is not a multiple of dp 16 x micro_batch 3: write 48 or 96"},
      {"schedule", "llama-3-8b", "pp=2,schedule=pipedream",
       "pipedream updates weights between microbatches: it has no step to estimate; `orrery "
       "schedule pipedream` draws it"},
      {"shard group", "llama-3-8b", "shard_group=3",
       "shard_group 3 does not divide cp 1 and dp 16 in the order of placement"},
      {"unequal shards", "llama-3-8b", "weight_shard=4",
       "weight_shard 4 needs zero=3; this is zero 1"},
      {"sequence tiles", "llama-3-8b", "mlp_tiles=4,recompute=alternate",
       "mlp_tiles and recompute=alternate exclude each other; use none, selective or full"},
      {"offload", "llama-3-8b", "offload_optimizer=cpu,offload_parameters=cpu",
       "offload_parameters=cpu needs zero=3, which keeps shards between uses; with zero 1 "
       "offload_optimizer=cpu works"},
      {"compression", "llama-3-8b", "quantized_weights=on",
       "quantized_weights needs zero=3 without a pipeline; this is zero 1, pp 1"},
      {"local steps", "llama-3-8b", "local_steps=500",
       "local_steps 500 needs several copies of the model: state shard_group, the ranks of one, as "
       "a part of the 16 replicas (dp x cp)"},
      {"recomputed layers", "llama-3-8b", "recompute_layers=3",
       "recompute_layers 3 needs recompute=full, selective or alternate"},
      {"recomputed modules", "llama-3-8b", "recompute_modules=mlp",
       "recompute_modules mlp needs recompute=selective"},
      {"placement", "llama-3-8b", "placement=tp+cp+pp",
       "placement must name tp, cp, pp and dp once each"},
      {"sites",
       "llama-3-8b",
       "cp=2,placement=tp+dp+pp+cp",
       "cp lies outermost, and sites that differ may divide pp or dp alone: end the placement with "
       "one of them",
       4096,
       64,
       NumberFormat::bf16,
       Workload::training,
       {},
       "h100-sxm:8+a100-80gb-sxm:8@metro-pair"},
      {"workload", "llama-3-8b", "recompute=full",
       "recompute=full needs a backward; workload forward has none", 4096, 64, NumberFormat::bf16,
       Workload::forward},
      {"number format", "llama-3-8b", "tp=2",
       "h100-sxm has no mxfp8 units; its number formats are bf16, fp16, fp8, fp32, tf32, fp64",
       4096, 64, NumberFormat::mxfp8}};
  EXPECT_EQ(cases.size(), plan_rules().size());
  for (const Broken& c : cases) {
    const Model m = model(c.model);
    const Cluster on = cluster(c.on);
    Training training;
    training.sequence_length = c.sequence;
    training.global_batch = c.batch;
    training.precision = c.precision;
    training.workload = c.workload;
    training.documents = c.documents;
    const CompletedPlan completed = completed_plan(m, on, training, *parse_plan(c.plan));
    bool without_replicas = false;
    for (const PlanRule& rule : plan_rules()) {
      if (without_replicas && rule.kind == PlanRule::Kind::needs_replicas) continue;
      const auto reasons = rule.broken({m, on, completed.training, completed.plan});
      if (rule.name == c.rule) {
        ASSERT_FALSE(reasons.empty()) << c.rule;
        EXPECT_EQ(reasons.front(), c.sentence) << c.rule;
        if (rule.kind == PlanRule::Kind::stops) break;  // no other rule is asked
        without_replicas |= rule.kind == PlanRule::Kind::gives_replicas;
      } else {
        EXPECT_TRUE(reasons.empty()) << c.rule << " and " << rule.name << ": " << reasons.front();
      }
    }
  }
}

TEST(PlanRules, WhatLiesOutsideNeedsAPlaceAndARate) {
  const auto said = [](const char* plan, const NodeHost& host) {
    Cluster c = cluster("h100-sxm:8");
    c.host = host;
    const Model m = model("gpt-3-175b");
    Training training;
    training.sequence_length = 2048;
    training.global_batch = 8;
    const CompletedPlan completed = completed_plan(m, c, training, *parse_plan(plan));
    std::string all;
    for (const std::string& p : plan_problems(m, c, completed.training, completed.plan))
      all += p + "\n";
    return all;
  };
  const Bytes tera(1e12);
  const BytesPerSecond giga(1e9);
  NodeHost host;
  host.memory = 2 * tera;
  const char* cpu = "zero=3,offload_optimizer=cpu";
  EXPECT_THAT(said(cpu, host),
              testing::HasSubstr("host: {memory_bandwidth: 400 GB/s} in the cluster"));
  host.memory_bandwidth = 400 * giga;
  // 16 bytes (states 12, gradients 4) of each of 175 G parameters are 2.8 TB (2.54 TiB) in one node.
  EXPECT_THAT(
      said(cpu, host),
      testing::AllOf(testing::HasSubstr("host memory does not hold the 2.54 TiB"),
                     testing::HasSubstr(
                         "; use offload_optimizer=nvme if the nodes have storage, or more nodes")));
  const char* nvme = "zero=3,offload_optimizer=nvme,offload_parameters=nvme";
  EXPECT_THAT(said(nvme, host), testing::HasSubstr("nvme needs storage in the nodes"));
  host.local_storage = 2 * tera;
  host.storage_read = host.storage_write = 25 * giga;
  EXPECT_THAT(
      said(nvme, host),
      testing::HasSubstr("of storage does not hold the 2.22 TiB of its ranks; use more nodes"));
  host.local_storage = 30 * tera;
  EXPECT_EQ(said(nvme, host), "");
  host.memory = 0.1 * tera;
  EXPECT_THAT(said("zero=0,offload_optimizer=nvme", host),
              testing::HasSubstr("; use zero=3 or more nodes"));
  EXPECT_THAT(said("zero=3,offload_optimizer=nvme,offload_parameters=cpu", host),
              testing::HasSubstr("; use offload_parameters=nvme or more nodes"));
  EXPECT_THAT(said("pp=8,zero=1,offload_activations=cpu", host),
              testing::HasSubstr("offload_activations and pp 8 are not modelled together"));
}

TEST(PlanRules, CompressionAndLocalStepsNameWhatWorks) {
  const auto said = [](const char* name, const char* plan) {
    return problems(name, "h100-sxm:64", plan, 4096, 64);
  };
  EXPECT_EQ(
      said("llama-3-8b", "zero=3,quantized_weights=on,quantized_gradients=on,secondary_shard=8"),
      "");
  EXPECT_EQ(said("llama-3-8b", "zero=3,secondary_shard=12"),
            "secondary_shard 12 does not divide the 64 ranks that share the weights; a node's 8 "
            "usually do\n");
  EXPECT_EQ(said("llama-3-8b", "shard_group=8,local_steps=100"), "");
  EXPECT_EQ(said("llama-3-8b", "overlap.outer=on"),
            "overlap.outer needs local_steps above 1: there is nothing to average\n");
  EXPECT_EQ(
      said("mixtral-8x7b", "ep=8,shard_group=4,local_steps=100"),
      "local_steps 100: ep 8 reaches beyond the 4 ranks of one copy (tp x shard_group), which "
      "send each other tokens in every step\n");
  EXPECT_EQ(said("llama-3-8b", "dispatch_format=fp8"),
            "dispatch_format=fp8 needs experts; llama-3-8b has none\n");
  EXPECT_EQ(said("mixtral-8x7b", "ep=8,dispatch_format=fp8"),
            "dispatch_format=fp8 needs products of 8 bits, whose operands are sent; with precision "
            "bf16 tokens travel in 16\n");
}

// arXiv 2310.14423 s.2: with alpha 0.0175 the rates 0.008 to 0.0005 allow 4, 19, 76, 306 and 1,225
// local steps. A run whose rate stays at the peak for all of its one round says which.
TEST(QuadraticRule, AllowsWhatThePaperDoes) {
  const std::pair<double, double> cases[] = {
      {0.008, 4}, {0.004, 19}, {0.002, 76}, {0.001, 306}, {0.0005, 1225}};
  for (const auto& [rate, local] : cases) {
    Plan plan;
    plan.quadratic = {0.0175, rate, 10'000'000};
    // The first round of a run so long is at the peak, and no round is shorter.
    EXPECT_GE(mean_local_steps(plan), local);
    plan.quadratic.steps = static_cast<std::int64_t>(local);
    EXPECT_EQ(mean_local_steps(plan), local);
  }
}

// Jumping over equal rounds gives the rounds of the recursion.
TEST(QuadraticRule, IsTheRecursionOfThePaper) {
  for (const std::int64_t steps : {1, 7, 1000, 93'600}) {
    for (const std::int64_t least : {1, 4, 8}) {
      Plan plan;
      plan.local_steps = least;
      plan.quadratic = {0.0175, 0.008, steps};
      double rounds = 0;
      for (double t = 0; t < static_cast<double>(steps); ++rounds) {
        const double rate =
            0.008 * (1 + std::cos(std::numbers::pi * t / static_cast<double>(steps))) / 2;
        t += std::max(static_cast<double>(least), std::floor(0.0175 / rate * (0.0175 / rate)));
      }
      EXPECT_EQ(mean_local_steps(plan), static_cast<double>(steps) / rounds);
    }
  }
  // The paper averages in 9 to 25 % of the steps, its warm-up included (arXiv 2310.14423 table 1).
  Plan plan;
  plan.local_steps = 4;
  plan.quadratic = {0.0175, 0.008, 93'600};
  EXPECT_LT(1 / mean_local_steps(plan), 0.25);
  EXPECT_GT(1 / mean_local_steps(plan), 0.08);
}

TEST(PlanText, MapsAreGivenFieldByField) {
  const auto plan =
      parse_plan("local_steps=4,quadratic.alpha=0.0175,quadratic.learning_rate=0.008");
  ASSERT_TRUE(plan) << plan.error().text();
  EXPECT_EQ(plan->quadratic.alpha, 0.0175);
  EXPECT_EQ(*parse_plan(to_text(*plan)), *plan);
  EXPECT_FALSE(parse_plan("quadratic.beta=1"));
  EXPECT_FALSE(parse_plan("tp.x=1"));
  EXPECT_FALSE(parse_plan("quadratic.=1"));
}

TEST(PlanRules, ScatteredProductsReadTheRowsOfTheirOwnRank) {
  const auto said = [](const char* name, const char* plan) {
    return problems(name, "h100-sxm:16", plan, 4096, 64);
  };
  EXPECT_EQ(said("mixtral-8x7b", "ep=1,expert_products=scattered"), "");
  EXPECT_EQ(said("llama-3-8b", "expert_products=scattered"),
            "expert_products=scattered needs experts; llama-3-8b has none\n");
  EXPECT_EQ(said("mixtral-8x7b", "ep=8,expert_products=scattered"),
            "expert_products=scattered reads the rows of a rank's own tokens; with ep 8 tokens of "
            "other ranks arrive as copies: write ep=1, or expert_products=grouped\n");
}

TEST(PlanRules, GradientsTakeThePlaceOfWeightsAsWideOnceAStep) {
  const Model m = model("llama-3-8b");
  const Cluster c = cluster("h100-sxm:16");
  const auto said = [&](const char* plan, std::int64_t batch, NumberFormat gradients,
                        NumberFormat precision = NumberFormat::bf16) {
    Training t;
    t.sequence_length = 4096;
    t.global_batch = batch;
    t.gradients = gradients;
    t.precision = precision;
    const CompletedPlan completed = completed_plan(m, c, t, *parse_plan(plan));
    return plan_problems(m, c, completed.training, completed.plan);
  };
  using Reasons = std::vector<std::string>;
  EXPECT_EQ(said("zero=3,gradients_in_place=on", 16, NumberFormat::bf16), Reasons{});
  EXPECT_EQ(said("zero=3,gradients_in_place=on", 16, NumberFormat::fp32),
            Reasons{"gradients_in_place needs gradients as wide as the weights whose place they "
                    "take; they are fp32: write gradients: bf16 in training"});
  EXPECT_EQ(said("zero=3,gradients_in_place=on", 16, NumberFormat::fp32, NumberFormat::fp8),
            Reasons{"gradients_in_place needs gradients as wide as the weights whose place they "
                    "take; they are fp32: write gradients: bf16 in training"});
  EXPECT_EQ(said("zero=3,gradients_in_place=on", 16, NumberFormat::fp16, NumberFormat::fp16),
            Reasons{});
  EXPECT_EQ(said("zero=3,gradients_in_place=on", 16, NumberFormat::fp32, NumberFormat::fp16),
            Reasons{"gradients_in_place needs gradients as wide as the weights whose place they "
                    "take; they are fp32: write gradients: fp16 in training"});
  EXPECT_EQ(said("zero=3,gradients_in_place=on", 16, NumberFormat::fp32, NumberFormat::fp32),
            Reasons{"gradients_in_place needs 16-bit weights; with precision fp32 the weights are "
                    "their own master: leave it out"});
  EXPECT_EQ(
      said("zero=3,gradient_shard=8,gradients_in_place=on", 16, NumberFormat::bf16),
      Reasons{"gradients_in_place needs gradients that are shared as their weights are: leave "
              "out gradient_shard and weight_shard"});
  EXPECT_EQ(said("zero=3,gradients_in_place=on,micro_batch=2", 128, NumberFormat::bf16),
            Reasons{"gradients_in_place leaves no weights for a second microbatch, and a replica "
                    "has 4: write micro_batch=8, or use more replicas"});
}

TEST(PlanRules, HiddenCommunicationNamesWhatWorks) {
  const auto problems_of = [](const char* name, const std::string& plan) {
    std::string out = problems(name, "h100-sxm:16", plan.c_str(), 2048, 64);
    if (!out.empty()) out.pop_back();  // the end of its only line
    return out;
  };
  const std::string flat = "tp=4,sequence_parallel=false,";
  EXPECT_EQ(problems_of("llama-3-8b", (flat + "halves=sequence")), "");
  EXPECT_EQ(problems_of("llama-3-8b", (flat + "halves=batch,micro_batch=2")), "");
  EXPECT_EQ(problems_of("mixtral-8x7b", "ep=8,halves=batch,micro_batch=2"), "");
  EXPECT_EQ(problems_of("llama-3-8b", (flat + "halves=batch")),
            "halves=batch needs an even number of sequences; micro_batch is 1");
  EXPECT_EQ(problems_of("llama-3-8b", "halves=batch,micro_batch=2"),
            "halves=batch hides collectives between the layers; with tp 1 and ep 1 there are none");
  EXPECT_EQ(problems_of("bert-large", (flat + "halves=sequence")),
            "halves=sequence needs attention to earlier tokens alone; bert-large has other "
            "attention");
  EXPECT_EQ(problems_of("llama-3-8b", (flat + "cp=2,halves=sequence")),
            "halves=sequence and cp 2 both cut sequences: write halves=batch");
  EXPECT_EQ(problems_of("llama-3-8b", "tp=4,overlap.tensor_tiles=on"), "");
  EXPECT_EQ(problems_of("llama-3-8b", "overlap.tensor_tiles=on"),
            "overlap.tensor_tiles needs tp above 1: there is nothing to reduce");
  EXPECT_EQ(
      problems_of("llama-3-8b", "zero=3,gradient_code=ternary"),
      "gradient_code=ternary needs zero 0, 1 or 2 and excludes quantized_gradients; with zero=3 "
      "use quantized_gradients=on alone");
  EXPECT_EQ(problems_of("llama-3-8b", "gradient_shard=4"),
            "gradient_shard 4 needs zero=2 or 3; this is zero 1");
  EXPECT_EQ(problems_of("llama-3-8b", "redundant_experts=3"),
            "redundant_experts=3 needs experts; llama-3-8b has none");
  EXPECT_EQ(problems_of("llama-3-8b", "recompute=optimal,recompute_layers=3"),
            "recompute=optimal chooses recompute_layers itself: leave out recompute_layers=3");
  EXPECT_EQ(problems_of("llama-3-8b", "cp=4,context_parallel=ring,inner_ring=3"),
            "inner_ring 3 must divide the 4 ranks of the ring and be neither 1 nor 4");
  EXPECT_EQ(problems_of("llama-3-8b", "offload_optimizer=cpu,offload_share=0").substr(0, 108),
            "offload_share 0 must be above 0 and at most 1; to keep all states on the device write "
            "offload_optimizer=none");
  EXPECT_EQ(
      problems_of("llama-3-8b", "averaging=ring"),
      "averaging=ring needs several copies of the model: state shard_group, the ranks of one, "
      "as a part of the 16 replicas (dp x cp)");
  EXPECT_EQ(problems_of("llama-3-8b", "zero=0,shard_group=1,quadratic.steps=100"),
            "quadratic needs alpha, learning_rate and steps above 0; they are 0, 0 and 100");
}

TEST(CompletedPlan, DefaultsAreSaid) {
  const CompletedPlan c = completed_plan(model("llama-3-8b"), cluster("h100-sxm:64"), {},
                                         *parse_plan("tp=4,pp=2,chunks=2"));
  EXPECT_EQ(c.plan.dp, 8);
  EXPECT_EQ(c.plan.schedule, "interleaved_1f1b");
  EXPECT_THAT(c.assumed, testing::Contains("dp = 8: 64 GPUs / (tp 4 x cp 1 x pp 2)"));
}

}  // namespace
}  // namespace orrery
