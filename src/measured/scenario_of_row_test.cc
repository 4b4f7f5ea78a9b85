#include "measured/scenario_of_row.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "model/transformer/transformer.h"

namespace orrery {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// All rows we ship, by id.
const std::map<std::string, MeasuredRow>& shipped() {
  static const auto rows = [] {
    std::map<std::string, MeasuredRow> out;
    const auto folder = std::filesystem::path(ORRERY_SOURCE_DIR) / "validation/measured";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".csv") continue;
      auto read = read_measured_rows(entry.path().string());
      if (!read) ADD_FAILURE() << read.error().text();
      for (MeasuredRow& row : read->rows) out.emplace(row.row_id, std::move(row));
    }
    return out;
  }();
  return rows;
}

Expressible<RowScenario> mapped(const MeasuredRow& row) {
  return scenario_of_row(row, Catalog::built_in());
}
RowScenario mapped(const std::string& id) {
  auto s = mapped(shipped().at(id));
  EXPECT_TRUE(s) << id << ": " << s.error().because;
  return s ? *s : RowScenario{};
}
std::string reason(const MeasuredRow& row) {
  auto s = mapped(row);
  return s ? "not skipped" : s.error().because;
}
MeasuredRow changed(const std::string& id, void (*change)(MeasuredRow&)) {
  MeasuredRow row = shipped().at(id);
  change(row);
  return row;
}

// LLaMA-13B layout without sequence parallelism; the network is the README's assumption.
TEST(ScenarioOfRow, AlephAlpha) {
  const RowScenario s = mapped("aleph-alpha-layouts-0087");
  const Plan& p = s.scenario.plan;
  EXPECT_EQ(to_text(p),
            to_text(*parse_plan("tp=2,pp=2,dp=16,sequence_parallel=false,schedule=1f1b,"
                                "zero=1,layers=20+20,attention=flash-1,"
                                "overlap.gradient_reduction=false,"
                                "overlap.parameter_gather=false,overlap.pipeline=false")));
  const Architecture& a = *architecture_of(s.scenario.model);
  EXPECT_EQ(a.vocab, 128000);
  EXPECT_EQ(a.num_layers, 40);
  EXPECT_EQ(a.ffn, FeedForwardKind::swiglu);
  EXPECT_FALSE(a.tie_embeddings);
  ASSERT_EQ(s.scenario.cluster.levels.size(), 2u);
  EXPECT_EQ(s.scenario.cluster.levels[0].accelerators, 8);
  EXPECT_DOUBLE_EQ(s.scenario.cluster.levels[1].bandwidth.value(), 200e9 / 8);
  EXPECT_THAT(s.assumed,
              Contains("network: 8 x 200 Gb/s per node, infiniband-hdr, since the source "
                       "states none"));
  EXPECT_THAT(s.assumed, Contains("ZeRO stage 1"));
  EXPECT_THAT(s.assumed, Contains("norms modelled as fused kernels, though the source ran unfused "
                                  "ones"));
}

// 405B with 126 layers on 9 x 7 virtual stages; NeMo's defaults.
TEST(ScenarioOfRow, DgxcInterleaved) {
  const RowScenario s = mapped("dgxc-0032");
  EXPECT_EQ(to_text(s.scenario.plan),
            to_text(*parse_plan("tp=8,cp=2,pp=9,dp=4,chunks=7,schedule=interleaved_1f1b,zero=1,"
                                "context_parallel=ring,attention=library,"
                                "overlap.tensor_parallel=true")));
  // NeMo accumulates and reduces in 16 bits.
  EXPECT_EQ(s.scenario.training.gradients, NumberFormat::bf16);
  EXPECT_EQ(s.scenario.training.precision, NumberFormat::fp8);
  EXPECT_EQ(s.scenario.training.global_batch, 252);
  EXPECT_EQ(s.scenario.model.layers.size(), 126u);
  EXPECT_NEAR(parameters(s.scenario.model) / 405.85e9, 1, 0.001);
  EXPECT_DOUBLE_EQ(s.scenario.cluster.levels[1].bandwidth.value(), 50e9);
}

// FSDP: fully sharded, no tensor or pipeline parallelism, MPT blocks.
TEST(ScenarioOfRow, LlmFoundry) {
  const RowScenario s = mapped("llm-foundry-0019");
  EXPECT_EQ(to_text(s.scenario.plan),
            to_text(*parse_plan("dp=64,schedule=1f1b,micro_batch=8,zero=3,recompute=full,"
                                "attention=flash-1")));
  EXPECT_EQ(s.scenario.training.gradients, NumberFormat::fp32);
  EXPECT_EQ(architecture_of(s.scenario.model)->position_encoding, PositionEncoding::learned);
  // The table prints 64.862437e9; tied embedding counted once.
  EXPECT_NEAR(parameters(s.scenario.model) / 64.862437e9, 1, 0.001);
}

// The source's own H100: 96 GB at 2.4 TB/s; asynchronous tensor parallelism.
TEST(ScenarioOfRow, TorchtitanOwnParts) {
  const RowScenario s = mapped("torchtitan-0012");
  EXPECT_TRUE(s.scenario.plan.overlap.tensor_parallel);
  EXPECT_TRUE(s.scenario.plan.sequence_parallel);
  EXPECT_EQ(s.scenario.plan.zero, 3);
  EXPECT_DOUBLE_EQ(s.scenario.cluster.accelerator.memory.capacity.value(), 96.0 * (1 << 30));
  EXPECT_DOUBLE_EQ(s.scenario.cluster.accelerator.memory.bandwidth.value(), 2.4e12);
  EXPECT_FALSE(mapped("torchtitan-0011").scenario.plan.overlap.tensor_parallel);
  // 500 W instead of 700 W.
  const Accelerator usual = *load_accelerator(Catalog::built_in(), "h100-sxm");
  EXPECT_NEAR(*s.scenario.cluster.accelerator.peaks.bf16 / *usual.peaks.bf16, std::cbrt(5.0 / 7),
              1e-12);
  EXPECT_THAT(s.assumed,
              Contains("power limit 500 W: matrix rates with the cube root of the power"));
}

// Transformer Engine's choice and tensor-parallel overlap as the launcher's files have them.
TEST(ScenarioOfRow, NemoLauncher) {
  const auto plan = [](const char* id) { return mapped(id).scenario.plan; };
  EXPECT_EQ(plan("nemo-0002").attention, AttentionKernel::flash_2);  // cuDNN's was turned off
  EXPECT_EQ(plan("nemo-0064").attention, AttentionKernel::flash_2);
  EXPECT_EQ(plan("nemo-0003").attention, AttentionKernel::library);  // but not for this recipe
  EXPECT_TRUE(plan("nemo-0002").overlap.tensor_parallel);            // GPT3-20B
  EXPECT_TRUE(plan("nemo-0007").overlap.tensor_parallel);            // Llama2-70B
  EXPECT_TRUE(plan("nemo-0003").overlap.tensor_parallel);   // GPT3-175B with six virtual stages
  EXPECT_FALSE(plan("nemo-0049").overlap.tensor_parallel);  // with twelve, which the recipe has
  EXPECT_EQ(plan("nemo-0049").chunks, 12);
  EXPECT_FALSE(plan("nemo-0066").overlap.tensor_parallel);  // Llama2-7B
}

// Which kernels of attention and of the loss a run had, by the script of its model and release.
TEST(ScenarioOfRow, KernelsOfDgxcByScript) {
  const auto scenario = [](const char* id) { return mapped(id).scenario; };
  EXPECT_EQ(scenario("dgxc-0001").plan.attention, AttentionKernel::library);  // Llama 3.1 8B
  EXPECT_EQ(scenario("dgxc-0044").plan.attention, AttentionKernel::flash_2);  // GPT-3 in v25.01
  EXPECT_EQ(scenario("dgxc-0144").plan.attention, AttentionKernel::library);  // and v25.02
  EXPECT_EQ(scenario("dgxc-0001").software.cross_entropy, Kernels::fused);
  EXPECT_EQ(scenario("dgxc-0044").software.cross_entropy, Kernels::eager);
  EXPECT_TRUE(scenario("dgxc-0044").training.dropout);
  EXPECT_FALSE(scenario("dgxc-0001").training.dropout);
  EXPECT_EQ(scenario("nemo-0011").software.cross_entropy, Kernels::fused);  // Llama 3 8B
  EXPECT_EQ(scenario("nemo-0005").software.cross_entropy, Kernels::eager);  // Llama 2 7B
}

// HybridEP, and exchanges beside another microbatch, by model, accelerator and release.
TEST(ScenarioOfRow, MegatronBridgeByRelease) {
  const auto plan = [](const char* id) { return mapped(id).scenario.plan; };
  EXPECT_EQ(plan("megatron-bridge-0139").dispatch, ExpertDispatch::all_to_all);    // B300, 26.04
  EXPECT_EQ(plan("megatron-bridge-0138").dispatch, ExpertDispatch::deduplicated);  // GB200
  EXPECT_EQ(plan("megatron-bridge-0126").dispatch, ExpertDispatch::deduplicated);  // DeepSeek-V3
  EXPECT_TRUE(plan("megatron-bridge-0219").overlap.expert_batches);                // B300, 26.02
  EXPECT_FALSE(plan("megatron-bridge-0139").overlap.expert_batches);               // 26.04
  EXPECT_TRUE(plan("megatron-bridge-0051").overlap.expert_batches);  // one graph a step
  EXPECT_FALSE(plan("megatron-bridge-0138").overlap.expert_batches);
}

// What experts launch, by what the recipe of a release captured and fused.
TEST(ScenarioOfRow, LaunchesOfExpertsByRelease) {
  const auto software = [](const char* id) { return mapped(id).scenario.software; };
  const std::vector<GraphModule> parts = {GraphModule::attention, GraphModule::router,
                                          GraphModule::counting};
  EXPECT_EQ(software("megatron-bridge-0138").host.graph_modules, parts);        // GB200, 26.04
  EXPECT_THAT(software("megatron-bridge-0139").host.graph_modules, IsEmpty());  // B300
  EXPECT_EQ(software("megatron-bridge-0051").host.launches, LaunchPath::graphs);
  EXPECT_EQ(software("megatron-bridge-0139").router, Kernels::fused);
  EXPECT_EQ(software("megatron-bridge-0095").fp8_scaling, Fp8Scaling::current);  // FP8_CS
  EXPECT_EQ(software("megatron-moe-modelzoo-0001").router, Kernels::eager);      // May 2025
  EXPECT_EQ(software("megatron-moe-modelzoo-0001").cross_entropy, Kernels::eager);
  EXPECT_EQ(software("simumax-b200-0005").cross_entropy, Kernels::fused);
  EXPECT_EQ(software("mlperf-0077").host.launches, LaunchPath::graphs);  // v5.0, adapters
  EXPECT_EQ(software("mlperf-0053").host.launches, LaunchPath::each);    // v4.1
}

// A scope that is not modelled is no row without graphs.
TEST(ScenarioOfRow, UnknownScopesOfGraphsAreNotModelled) {
  EXPECT_EQ(reason(changed("megatron-bridge-0138",
                           [](MeasuredRow& row) { row.cuda_graphs = "attn mlp"; })),
            "cuda_graphs 'mlp' is not modelled");
  EXPECT_EQ(
      reason(changed("megatron-bridge-0138", [](MeasuredRow& row) { row.cuda_graphs = "None"; })),
      "not skipped");
}

// DeepSpeed with everything it can move in the memory of the host.
TEST(ScenarioOfRow, OffloadIsRead) {
  const Plan p = mapped("bigscience-v100-0055").scenario.plan;
  EXPECT_EQ(p.offload_optimizer, Offload::cpu);
  EXPECT_EQ(p.offload_parameters, Offload::cpu);
  EXPECT_EQ(p.offload_activations, Offload::cpu);
  EXPECT_EQ(mapped("bigscience-v100-0013").scenario.plan.offload_optimizer, Offload::none);
}

// The kernel column says which softmax; autograd's gradients have 16 bits.
TEST(ScenarioOfRow, AlephAlphaKernels) {
  const auto rows = read_measured_rows(std::string(ORRERY_SOURCE_DIR) +
                                       "/validation/measured/aleph-alpha-layouts.csv");
  for (const MeasuredRow& row : rows->rows) {
    const auto s = scenario_of_row(row, Catalog::built_in());
    if (!s || row.attention_kernel != "unfused") continue;
    EXPECT_EQ(s->scenario.software.softmax,
              row.softmax_kernel == "unfused" ? Kernels::eager : Kernels::fused);
    EXPECT_EQ(s->scenario.training.gradients, NumberFormat::bf16);
  }
}

// A 4-layer cut of DeepSeek-V3 with one dense layer, on one node, everything exposed.
TEST(ScenarioOfRow, SimumaxProxy) {
  const RowScenario s = mapped("simumax-b200-0007");
  const Architecture& a = *architecture_of(s.scenario.model);
  EXPECT_EQ(a.num_layers, 4);
  ASSERT_TRUE(a.moe);
  EXPECT_EQ(a.moe->num_experts, 256);
  EXPECT_EQ(a.moe->first_dense_layers, 1);
  EXPECT_EQ(a.num_multi_token_prediction, 0);
  ASSERT_TRUE(a.latent_attention);
  EXPECT_FALSE(s.scenario.plan.overlap.gradient_reduction);
  EXPECT_FALSE(s.scenario.plan.overlap.parameter_gather);
  EXPECT_EQ(s.scenario.plan.ep, 8);
  EXPECT_EQ(s.scenario.cluster.levels.size(), 1u);
}

// GB200: 512 GPUs fill eight NVLink domains of 64; data-parallel ranks outermost.
TEST(ScenarioOfRow, MlperfRacks) {
  const RowScenario s = mapped("mlperf-0080");
  ASSERT_EQ(s.scenario.cluster.levels.size(), 2u);
  EXPECT_EQ(s.scenario.cluster.levels[0].accelerators, 64);
  EXPECT_EQ(s.scenario.cluster.accelerators_per_node, 4);
  EXPECT_DOUBLE_EQ(s.scenario.cluster.levels[1].bandwidth.value(), 50e9);
  EXPECT_EQ(s.scenario.plan.placement.back(), MeshAxis::dp);
  EXPECT_TRUE(s.scenario.plan.overlap.tensor_parallel);
}

// A row that contradicts itself says which cell was trusted.
TEST(ScenarioOfRow, TrustsTheAcceleratorsAndTheGlobalBatch) {
  // 576 GPUs hold 4 replicas of tp 8, cp 2 and pp 9.
  const auto replicas = mapped(changed("dgxc-0032", [](MeasuredRow& r) { r.dp = 5; }));
  ASSERT_TRUE(replicas);
  EXPECT_EQ(replicas->scenario.plan.dp, 4);
  EXPECT_THAT(replicas->assumed,
              Contains("dp 4, where tp 8 x cp 2 x pp 9 x dp 5 as published is not the 576 GPUs"));
  // Replicas would be no whole number of 4 x 8 GPUs, stages are.
  const RowScenario stages = mapped("bigscience-v100-0011");
  EXPECT_EQ(stages.scenario.plan.pp, 4);
  EXPECT_THAT(stages.assumed,
              Contains("pp 4, where tp 4 x cp 1 x pp 8 x dp 1 as published is not the 16 GPUs"));
  const auto batch = mapped(changed("dgxc-0032", [](MeasuredRow& r) { r.microbatches = 64; }));
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->scenario.training.global_batch, 252);
  EXPECT_THAT(batch->assumed,
              Contains("the global batch trusted: 64 microbatches as published are not global "
                       "batch 252 / (micro-batch 1 x dp 4)"));
  // 8 sequences are too few for 16 replicas.
  EXPECT_EQ(reason(shipped().at("mlperf-0069")),
            "1 microbatches as published are not global batch 8 / (micro-batch 1 x dp 16)");
}

// The columns alone describe a mixture, as far as columns go.
TEST(ScenarioOfRow, MixturesWithoutACatalogEntry) {
  const RowScenario known = mapped("megatron-bridge-0025");
  const auto columns =
      mapped(changed("megatron-bridge-0025", [](MeasuredRow& r) { r.catalog_model.clear(); }));
  ASSERT_TRUE(columns);
  EXPECT_THAT(columns->assumed,
              Contains(HasSubstr("experts without a shared one, in every layer")));
  EXPECT_NEAR(parameters(columns->scenario.model) / parameters(known.scenario.model), 1, 0.01);
  EXPECT_EQ(reason(changed("megatron-bridge-0025",
                           [](MeasuredRow& r) {
                             r.catalog_model.clear();
                             r.top_k.reset();
                           })),
            "the source does not state: top_k");
}

// SQuAD packed to 4,096 tokens: NeMo-Framework-Launcher, examples/README.md.
TEST(ScenarioOfRow, PackedFineTuning) {
  const RowScenario whole = mapped("nemo-0015");
  EXPECT_EQ(whole.scenario.plan.chunks, 20);
  EXPECT_GT(trained_parameters(whole.scenario.model), 6e10);
  EXPECT_LT(trained_parameters(mapped("nemo-0018").scenario.model), 1e9);
}

// The logits weigh 0.8, 1.6, 3.1 and 6.2 of its layers.
TEST(ScenarioOfRow, VocabularyMethods) {
  using Layers = std::vector<std::int64_t>;
  const auto plan = [](const char* id) { return mapped(id).scenario.plan; };
  EXPECT_EQ(plan("vocabulary-parallelism-0001").layers, Layers());
  EXPECT_EQ(plan("vocabulary-parallelism-0002").layers, Layers(8, 4));  // one less elsewhere: 5
  EXPECT_EQ(plan("vocabulary-parallelism-0007").layers, (Layers{4, 4, 4, 4, 4, 4, 5, 3}));
  EXPECT_EQ(plan("vocabulary-parallelism-0012").layers, (Layers{4, 4, 4, 4, 5, 5, 5, 1}));
  EXPECT_EQ(plan("vocabulary-parallelism-0017").layers, (Layers{4, 4, 4, 5, 5, 5, 5, 0}));
  EXPECT_EQ(plan("vocabulary-parallelism-0003").schedule, "vocab_2");
  EXPECT_EQ(plan("vocabulary-parallelism-0004").schedule, "vocab_1");
  EXPECT_EQ(
      reason(changed("vocabulary-parallelism-0002", [](MeasuredRow& r) { r.num_layers = 4; })),
      "4 layers cannot be redistributed over 8 stages");
}

TEST(ScenarioOfRow, ZeroBubbleIsValidatedAfterwards) {
  EXPECT_TRUE(mapped("zero-bubble-0001").scenario.plan.overlap.optimizer);
  EXPECT_FALSE(mapped("zero-bubble-0025").scenario.plan.overlap.optimizer);
}

// Nodes of four V100; the vocabulary as Megatron pads it: 50,257 to a multiple of 128 x 4.
TEST(ScenarioOfRow, BigscienceV100) {
  const RowScenario s = mapped("bigscience-v100-0025");
  EXPECT_EQ(s.scenario.cluster.accelerators_per_node, 4);
  EXPECT_EQ(s.scenario.cluster.levels[0].accelerators, 4);
  EXPECT_EQ(s.scenario.cluster.levels[1].accelerators, 64);
  EXPECT_DOUBLE_EQ(s.scenario.cluster.levels[1].bandwidth.value(), 12.5e9);
  EXPECT_EQ(architecture_of(s.scenario.model)->vocab, 50688);
  EXPECT_EQ(s.scenario.training.gradients, NumberFormat::fp16);
  EXPECT_EQ(s.scenario.plan.recompute, Recompute::full);
  EXPECT_EQ(s.scenario.plan.attention, AttentionKernel::unfused);
  // Published as 52e9 parameters.
  EXPECT_NEAR(parameters(s.scenario.model) / 52e9, 1, 0.01);
}

TEST(ScenarioOfRow, InternevoShardsInsideANode) {
  EXPECT_EQ(mapped("internevo-0036").scenario.plan.shard_group, 8);
  EXPECT_EQ(mapped("internevo-0005").scenario.plan.shard_group, 0);
}

// The rules of the benchmark fix the rank, and its sequences are packed.
TEST(ScenarioOfRow, LowRankAdaptersOfTheBenchmark) {
  const Scenario s = mapped("mlperf-0014").scenario;
  EXPECT_EQ(architecture_of(s.model)->adapters, (Adapters{16, AdaptedProducts::attention}));
  EXPECT_TRUE(s.software.memory.narrow_frozen_weights);
  EXPECT_FALSE(architecture_of(mapped("mlperf-0062").scenario.model)->adapters);
}

TEST(ScenarioOfRow, ARowMayStateTheGradientFormat) {
  EXPECT_EQ(mapped("bigscience-a100-0020").scenario.training.gradients, NumberFormat::fp16);
  const MeasuredRow row =
      changed("bigscience-a100-0020", [](MeasuredRow& r) { r.gradient_format = "fp32"; });
  EXPECT_EQ(mapped(row)->scenario.training.gradients, NumberFormat::fp32);
  EXPECT_EQ(
      reason(changed("bigscience-a100-0020", [](MeasuredRow& r) { r.gradient_format = "posit"; })),
      "gradient format 'posit' is not modelled");
}

// tp 2 x cp 4 and cp 8 divide the 8 key-value heads of Llama 3 70B.
TEST(ScenarioOfRow, ARowMayStateItsSchemeOfContextParallelism) {
  for (const char* id : {"simumax-b200-0037", "simumax-b200-0038"}) {
    const RowScenario s = mapped(id);
    EXPECT_EQ(s.scenario.plan.context_parallel, ContextParallel::all_to_all) << id;
    EXPECT_THAT(s.assumed, Not(Contains(HasSubstr("context parallelism")))) << id;
  }
  const MeasuredRow row =
      changed("simumax-b200-0037", [](MeasuredRow& r) { r.context_parallel.clear(); });
  EXPECT_EQ(mapped(row)->scenario.plan.context_parallel, ContextParallel::ring);
  EXPECT_THAT(mapped(row)->assumed, Contains("context parallelism by ring"));
}

TEST(ScenarioOfRow, WhatVariantHoldsBesideColumnsIsSaid) {
  const auto row = mapped(changed("dgxc-0032", [](MeasuredRow& r) { r.unread = "router"; }));
  ASSERT_TRUE(row);
  EXPECT_THAT(row->assumed, Contains("of variant not read, for no column has that name: router"));
}

TEST(ScenarioOfRow, EveryReasonNamesWhatIsNotModelled) {
  const std::string base = "dgxc-0032";
  EXPECT_THAT(reason(changed(base, [](MeasuredRow& r) { r.phase = "lora"; })),
              HasSubstr("how full its sequences are is not stated"));
  EXPECT_THAT(reason(changed(base, [](MeasuredRow& r) { r.phase = "sft"; })),
              HasSubstr("how full its sequences are is not stated"));
  EXPECT_EQ(reason(changed(base, [](MeasuredRow& r) { r.phase = "layer"; })),
            "one transformer layer timed alone, not a training step");
  EXPECT_EQ(reason(changed(base, [](MeasuredRow& r) { r.schedule = "pipemare"; })),
            "schedule pipemare is not modelled");
  EXPECT_EQ(reason(changed(base, [](MeasuredRow& r) { r.offload = "optimizer expert_fc1"; })),
            "offload of 'expert_fc1' is not modelled");
  EXPECT_EQ(reason(changed(base, [](MeasuredRow& r) { r.token_drop = "yes"; })),
            "dropping tokens of full experts is not modelled");
  EXPECT_EQ(reason(changed(base, [](MeasuredRow& r) { r.vocabulary_method = "interlaced"; })),
            "interlaced vocabulary layers, which stop all stages at once, are not modelled");
  EXPECT_EQ(reason(changed(base, [](MeasuredRow& r) { r.status = "kernel-unavailable"; })),
            "the run failed: kernel-unavailable");
  EXPECT_EQ(reason(changed(base, [](MeasuredRow& r) { r.missing = "micro_batch"; })),
            "the source does not state: micro_batch");
  EXPECT_EQ(reason(changed(base, [](MeasuredRow& r) { r.tp.reset(); })),
            "the source does not state: tp");
  EXPECT_EQ(reason(changed(base,
                           [](MeasuredRow& r) {
                             r.pp = 7;
                             r.dp = 5;
                           })),
            "tp 8 x cp 2 x pp 7 x dp 5 as published is not the 576 GPUs");
  EXPECT_EQ(reason(changed(base, [](MeasuredRow& r) { r.recompute = "some"; })),
            "recomputation 'some' is not modelled");
  EXPECT_EQ(reason(changed(base,
                           [](MeasuredRow& r) {
                             r.recompute = "selective";
                             r.recompute_detail = "['mlp', 'every other layer']";
                           })),
            "selective recomputation of ['mlp', 'every other layer'] is not modelled");
  EXPECT_EQ(reason(changed(base, [](MeasuredRow& r) { r.precision = "int4"; })),
            "precision 'int4' is not modelled");
  EXPECT_EQ(reason(changed(base, [](MeasuredRow& r) { r.attention_kernel = "xformers"; })),
            "attention kernel 'xformers' is not modelled");
  EXPECT_THAT(reason(changed(base, [](MeasuredRow& r) { r.accelerator = "h900-sxm"; })),
              HasSubstr("the cluster: "));
  EXPECT_THAT(reason(changed(base, [](MeasuredRow& r) { r.catalog_model = "llama-9"; })),
              HasSubstr("the model: "));
  EXPECT_THAT(reason(changed(base,
                             [](MeasuredRow& r) {
                               r.catalog_model.clear();
                               r.ffn_kind = "maxout";
                             })),
              HasSubstr("feed-forward kind 'maxout' is not modelled"));
}

TEST(ScenarioOfRow, SchedulesHaveTheNamesOfTablesAndPapers) {
  const auto schedule = [](const char* name, std::int64_t vpp) {
    MeasuredRow row = shipped().at("dgxc-0032");
    row.schedule = name;
    row.vpp = vpp;
    const auto s = mapped(row);
    return s ? s->scenario.plan.schedule : s.error().because;
  };
  for (const char* name : {"interleaved", "Interleaved 1F1B", "1f1b-interleaved"}) {
    EXPECT_EQ(schedule(name, 7), "interleaved_1f1b") << name;
  }
  EXPECT_EQ(schedule("1F1B", 1), "1f1b");
  EXPECT_EQ(schedule("PipeDream-Flush", 1), "1f1b");
  EXPECT_EQ(schedule("GPipe", 1), "gpipe");
}

// What follows from the row is no reason to leave it out, and is said.
TEST(ScenarioOfRow, CellsThatFollowFromOthersAreFilled) {
  const auto s = mapped("mlperf-0022");  // states its microbatches, not its micro-batch
  EXPECT_EQ(s.scenario.plan.micro_batch, 1);
  EXPECT_THAT(s.assumed, Contains("micro-batch 1: global batch / (dp x microbatches)"));
}

TEST(ScenarioOfRow, RecomputedLayersOfAStageAreSpreadOverItsChunks) {
  const MeasuredRow row = changed("dgxc-0032", [](MeasuredRow& r) {
    r.recompute = "full";
    r.recompute_detail = "block, first 14 layers of each stage";
  });
  const auto s = mapped(row);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->scenario.plan.recompute, Recompute::full);
  EXPECT_EQ(s->scenario.plan.recompute_layers, 2);
}

// A dense model has no experts to cut, whatever the table prints.
TEST(ScenarioOfRow, ExpertTensorDegreeOfADenseModelIsIgnored) {
  const MeasuredRow row = changed("dgxc-0032", [](MeasuredRow& r) { r.etp = 128; });
  const auto s = mapped(row);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->scenario.plan.etp, 0);
}

// Any source: what nobody stated is said.
TEST(ScenarioOfRow, UnknownSourcesGetTheDefaultsOfAPlan) {
  const MeasuredRow row = changed("dgxc-0032", [](MeasuredRow& r) { r.source_id = "mine"; });
  const auto s = mapped(row);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->scenario.plan.zero, 1);
  EXPECT_THAT(s->assumed, Contains("network: the usual one of h100-sxm"));
  EXPECT_THAT(s->assumed, Not(IsEmpty()));
}

// Absurd numbers are reasons, never crashes.
TEST(ScenarioOfRow, AbsurdNumbersAreSkipped) {
  const auto absurd = [](MeasuredRow& r) {
    for (auto* cell : {&r.num_gpus, &r.tp, &r.pp, &r.dp, &r.micro_batch, &r.global_batch,
                       &r.num_layers, &r.vocab, &r.microbatches}) {
      *cell = 1'000'000'000'000'000'000;
    }
  };
  EXPECT_THAT(reason(changed("dgxc-0032", absurd)), Not(HasSubstr("not skipped")));
  const MeasuredRow vocab =
      changed("dgxc-0032", [](MeasuredRow& r) { r.vocab = 1'000'000'000'000'000'000; });
  EXPECT_THAT(reason(vocab), HasSubstr("the model: "));
  const MeasuredRow gpus = changed("dgxc-0032", [](MeasuredRow& r) {
    r.num_gpus = r.dp = 1'000'000'000'000'000'000;
    r.tp = r.pp = r.cp = 1;
    r.microbatches.reset();
  });
  EXPECT_THAT(reason(gpus), HasSubstr("more than can be described"));
}

// At least 900 of the 1,062 complete rows can be expressed.
TEST(ScenarioOfRow, ExpressesMostCompleteRows) {
  int complete = 0;
  int expressed = 0;
  for (const auto& [id, row] : shipped()) {
    auto s = mapped(row);
    if (!s) {
      EXPECT_FALSE(s.error().because.empty()) << id;
    }
    if (!row.missing.empty() || !row.step_time) continue;
    ++complete;
    expressed += s.has_value();
  }
  EXPECT_EQ(complete, 1062);
  EXPECT_GE(expressed, 900);
}

}  // namespace
}  // namespace orrery
