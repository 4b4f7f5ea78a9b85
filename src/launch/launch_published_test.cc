// Published launches of every framework, of its oldest and newest release: tests/launch/published.
#include <gmock/gmock.h>

#include <ostream>
#include <string>
#include <vector>

#include "estimate/spec.h"
#include "launch/emission.h"
#include "launch/launch.h"
#include "model/transformer/transformer.h"
#include "plan/completed_plan.h"
#include "plan/plan_rules.h"

namespace orrery {
namespace {

std::string published(const std::string& name) {
  return std::string(ORRERY_SOURCE_DIR) + "/tests/launch/published/" + name;
}

Result<ImportedLaunch> import(const std::vector<std::string>& names, const std::string& cluster,
                              const std::string& model = "") {
  LaunchQuestion question;
  for (const std::string& name : names) {
    auto file = read_launch_file(published(name));
    if (!file) return fail(file.error());
    question.files.push_back(*std::move(file));
  }
  question.cluster = cluster;
  question.model = model;
  return import_launch(question, Catalog::built_in());
}

struct Published {
  std::vector<std::string> files;
  std::string cluster;
  std::string given_model;
  std::string framework;
  std::string model;
  std::string plan;  // without defaults
  std::int64_t sequence_length;
  std::int64_t global_batch;
  NumberFormat precision;
  std::vector<std::string> not_understood;
};

std::ostream& operator<<(std::ostream& out, const Published& p) { return out << p.files.front(); }

// A model of the catalog with as many layers: it stands for one that a file cannot name.
std::string model_of_layers(const Model& model) {
  const std::int64_t layers = architecture_of(model)->num_layers;
  for (const std::string& name : Catalog::built_in().names("models")) {
    const auto other = load_model(name, Catalog::built_in());
    const Architecture* architecture = other ? architecture_of(*other) : nullptr;
    if (architecture != nullptr && architecture->num_layers == layers) return name;
  }
  return "llama-3.1-8b";
}

class PublishedLaunch : public testing::TestWithParam<Published> {};

TEST_P(PublishedLaunch, IsWhatItsAuthorsRan) {
  const Published& p = GetParam();
  const auto launch = import(p.files, p.cluster, p.given_model);
  ASSERT_TRUE(launch) << launch.error().text();
  EXPECT_EQ(launch->framework, p.framework);
  EXPECT_EQ(launch->model, p.model);
  EXPECT_EQ(to_text(launch->plan), p.plan);
  EXPECT_EQ(launch->training.sequence_length, p.sequence_length);
  EXPECT_EQ(launch->training.global_batch, p.global_batch);
  EXPECT_EQ(launch->training.precision, p.precision);
  EXPECT_EQ(not_understood(*launch), p.not_understood);
  for (const AccountedFlag& f : launch->flags) EXPECT_FALSE(f.what.empty()) << f.flag.key;
}

TEST_P(PublishedLaunch, IsASpecificationThatCanBeRead) {
  const auto launch = import(GetParam().files, GetParam().cluster, GetParam().given_model);
  ASSERT_TRUE(launch) << launch.error().text();
  const auto document = parse_yaml(to_yaml(launch->specification), "imported");
  ASSERT_TRUE(document) << document.error().text();
  ASSERT_TRUE(is_spec(*document));
  const auto spec = read_spec(*document, "", Catalog::built_in());
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->scenario.plan, launch->plan);
  const Scenario& s = spec->scenario;
  const CompletedPlan plan = completed_plan(s.model, s.cluster, s.training, s.plan);
  EXPECT_THAT(plan_problems(s.model, s.cluster, plan.training, plan.plan), testing::IsEmpty());
}

TEST_P(PublishedLaunch, IsEmittedForEveryFrameworkAndReadBack) {
  const Published& p = GetParam();
  const auto launch = import(p.files, p.cluster, p.given_model);
  ASSERT_TRUE(launch) << launch.error().text();
  const auto document = parse_yaml(to_yaml(launch->specification), "imported");
  ASSERT_TRUE(document) << document.error().text();
  const auto spec = read_spec(*document, "", Catalog::built_in());
  ASSERT_TRUE(spec) << spec.error().text();
  Scenario s = spec->scenario;
  const CompletedPlan whole = completed_plan(s.model, s.cluster, s.training, s.plan);
  s.plan = whole.plan;
  s.training = whole.training;
  const std::string cluster = s.cluster.accelerator.name + ":" +
                              std::to_string(s.plan.dp * s.plan.tp * s.plan.pp * s.plan.cp);
  const std::string model = launch->model == "imported" ? model_of_layers(s.model) : launch->model;
  for (const std::string& framework : Catalog::built_in().names("launch")) {
    expect_nothing_lost_unsaid(
        s, framework, cluster,
        framework == p.framework && launch->model == "imported" ? "" : model);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, PublishedLaunch,
    testing::Values(
        Published{{"megatron-lm-2022-345m.sh"},
                  "a100-80gb-sxm",
                  "",
                  "megatron-lm",
                  "gpt-3-350m",
                  "tp=2,pp=2,dp=2,sequence_parallel=false,micro_batch=4,zero=0,recompute=full,"
                  "overlap.gradient_reduction=false,overlap.pipeline=false",
                  1024,
                  16,
                  NumberFormat::fp16,
                  {}},
        Published{{"megatron-lm-2026-gpt3-175b.sh"},
                  "a100-80gb-sxm:1024",
                  "",
                  "megatron-lm",
                  "gpt-3-175b",
                  "tp=8,pp=16,dp=8,sequence_parallel=false,zero=0,overlap.gradient_reduction=false,"
                  "overlap.pipeline=false",
                  2048,
                  1536,
                  NumberFormat::fp16,
                  {}},
        Published{{"megatron-lm-2026-llama3-8b-fp8.sh"},
                  "h100-sxm",
                  "",
                  "megatron-lm",
                  "imported",
                  "dp=8",
                  8192,
                  128,
                  NumberFormat::fp8,
                  {"fp8_param_gather"}},
        Published{{"megatron-lm-arguments.log"},
                  "h100-sxm",
                  "",
                  "megatron-lm",
                  "llama-2-70b",
                  "tp=8,pp=4,dp=2,chunks=5",
                  4096,
                  512,
                  NumberFormat::bf16,
                  {}},
        Published{{"torchtitan-2024-llama3-70b.toml"},
                  "a100-80gb-sxm:64",
                  "",
                  "torchtitan",
                  "llama-3.1-70b",
                  "tp=8,dp=8,micro_batch=8,zero=3,recompute=full",
                  8192,
                  64,
                  NumberFormat::bf16,
                  {}},
        Published{{"torchtitan-2025-llama3-8b.toml"},
                  "a100-80gb-sxm:64",
                  "",
                  "torchtitan",
                  "llama-3.1-8b",
                  "dp=64,zero=3,recompute=alternate",
                  8192,
                  64,
                  NumberFormat::bf16,
                  {}},
        Published{{"torchtitan-2025-llama3-405b.toml"},
                  "h100-sxm:128",
                  "",
                  "torchtitan",
                  "llama-3.1-405b",
                  "tp=8,dp=16,micro_batch=2,zero=3,recompute=full,overlap.tensor_parallel=true",
                  8192,
                  32,
                  NumberFormat::fp8,
                  {}},
        Published{{"deepspeed-zero3.json"},
                  "a100-80gb-sxm:8",
                  "llama-2-7b",
                  "deepspeed",
                  "llama-2-7b",
                  "dp=8,zero=3,offload_optimizer=cpu,offload_parameters=cpu",
                  0,
                  0,
                  NumberFormat::fp16,
                  {}},
        Published{{"deepspeed-auto.json", "deepspeed-trainer.sh"},
                  "a100-80gb-sxm",
                  "",
                  "deepspeed",
                  "llama-2-7b",
                  "dp=8,micro_batch=2,zero=2,recompute=full,overlap.parameter_gather=false",
                  4096,
                  64,
                  NumberFormat::bf16,
                  {}},
        Published{{"nemo-2024-llama3-8b.yaml"},
                  "h100-sxm",
                  "",
                  "nemo",
                  "imported",
                  "dp=128,context_parallel=ring",
                  8192,
                  2048,
                  NumberFormat::bf16,
                  {}},
        Published{
            {"nemo-2024-llama3.1-405b.yaml"},
            "h100-sxm",
            "",
            "nemo",
            "imported",
            "tp=8,cp=2,pp=9,dp=32,context_parallel=ring,chunks=7,overlap.tensor_parallel=true",
            8192,
            2016,
            NumberFormat::bf16,
            {}},
        Published{{"megatron-bridge-2025-llama3-8b.yaml"},
                  "h100-sxm:64",
                  "llama-3-8b",
                  "megatron-bridge",
                  "llama-3-8b",
                  "tp=2,pp=2,dp=16,sequence_parallel=false,micro_batch=4,overlap.gradient_"
                  "reduction=false,overlap.parameter_gather=false,overlap.pipeline=false",
                  0,
                  256,
                  NumberFormat::bf16,
                  {}},
        Published{
            {"megatron-bridge-2026-deepseek-v3.yaml"},
            "h100-sxm:1024",
            "",
            "megatron-bridge",
            "deepseek-v3",
            "tp=2,pp=8,dp=64,ep=64,dispatch=deduplicated,chunks=4,recompute=selective,recompute_"
            "modules=mla_up_proj+mlp,overlap.gradient_reduction=false,overlap.pipeline=false",
            4096,
            8192,
            NumberFormat::fp8,
            {"model.pipeline_model_parallel_layout"}},
        Published{{"deepspeed-2020-gpt2-zero2.json"},
                  "v100-16gb-sxm2:4",
                  "gpt-3-350m",
                  "deepspeed",
                  "gpt-3-350m",
                  "dp=4,micro_batch=2,zero=2,overlap.gradient_reduction=false,overlap.parameter_"
                  "gather=false",
                  0,
                  8,
                  NumberFormat::fp16,
                  {"activation_checkpointing.partition_activations",
                   "activation_checkpointing.contiguous_memory_optimization"}},
        Published{{"deepspeed-2026-zero3.json"},
                  "h100-sxm:8",
                  "llama-3.1-8b",
                  "deepspeed",
                  "llama-3.1-8b",
                  "dp=8,zero=3,overlap.gradient_reduction=false,overlap.parameter_gather=false",
                  0,
                  8,
                  NumberFormat::bf16,
                  {}},
        Published{{"nemo-2023-gpt3-5b.yaml"},
                  "a100-80gb-sxm",
                  "",
                  "nemo",
                  "imported",
                  "dp=128,context_parallel=ring,micro_batch=2,recompute="
                  "selective,attention=unfused,overlap.gradient_reduction=false,overlap.parameter_"
                  "gather=false",
                  2048,
                  2048,
                  NumberFormat::bf16,
                  {}},
        Published{{"nemo-2024-mixtral-8x7b.yaml"},
                  "h100-sxm",
                  "",
                  "nemo",
                  "mixtral-8x7b",
                  "pp=4,dp=16,ep=8,context_parallel=ring,chunks=8",
                  4096,
                  256,
                  NumberFormat::bf16,
                  {"model.moe_pad_expert_input_to_capacity", "model.moe_expert_capacity_factor"}},
        Published{{"llm-foundry-2025-llama3.1-8b.yaml"},
                  "h100-sxm:8",
                  "",
                  "llm-foundry",
                  "llama-3.1-8b",
                  "dp=8,zero=3",
                  2048,
                  8,
                  NumberFormat::bf16,
                  {}},
        Published{{"llm-foundry-2023-mpt-7b.yaml"},
                  "a100-80gb-sxm:64",
                  "",
                  "llm-foundry",
                  "imported",
                  "dp=64,micro_batch=8,zero=3,recompute=full",
                  2048,
                  1024,
                  NumberFormat::bf16,
                  {}},
        Published{{"llm-foundry-2023-mpt-1b.yaml"},
                  "a100-80gb-sxm:8",
                  "",
                  "llm-foundry",
                  "imported",
                  "dp=8,micro_batch=4,zero=3",
                  2048,
                  512,
                  NumberFormat::bf16,
                  {}}));

}  // namespace
}  // namespace orrery
