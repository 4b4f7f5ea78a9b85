// What is written for a plan is what the framework then runs: the layers of its stages, its batch and
// its environment, by the rules that the sources of the frameworks have.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "estimate/spec.h"
#include "launch/launch.h"
#include "launch/launch_table.h"
#include "plan/completed_plan.h"
#include "plan/stage_layers.h"

namespace orrery {
namespace {

using testing::HasSubstr;
using testing::Not;

Result<EmittedLaunch> written(const std::string& model, const std::string& cluster,
                              const std::string& plan, const std::string& framework) {
  Scenario s;
  s.model = *load_model(model, Catalog::built_in());
  s.cluster = *parse_cluster(cluster, Catalog::built_in());
  s.training.global_batch = 512;
  const CompletedPlan whole = completed_plan(s.model, s.cluster, s.training, *parse_plan(plan));
  s.training = whole.training;
  s.plan = whole.plan;
  return emitted_launch(s, framework, Catalog::built_in());
}

std::map<std::string, std::string> by_last_key(const LaunchFlags& flags) {
  std::map<std::string, std::string> out;
  for (const LaunchFlag& flag : flags) out[flag.key.substr(flag.key.rfind('.') + 1)] = flag.value;
  return out;
}

using Flags = std::map<std::string, std::string>;

// Megatron-LM core_v0.12.0, get_num_layers_to_build; empty where it asserts.
std::vector<std::int64_t> megatron_layers(std::int64_t layers, std::int64_t pp, std::int64_t chunks,
                                          bool embedding, bool loss) {
  const std::int64_t counted = layers + (embedding ? 1 : 0) + (loss ? 1 : 0);
  if (counted % pp != 0 || counted / pp % chunks != 0) return {};
  std::vector<std::int64_t> out(static_cast<std::size_t>(pp * chunks), counted / pp / chunks);
  if (embedding) --out.front();
  if (loss) --out.back();
  return out;
}

// torchtitan v0.2.0, pipeline_llm and generate_llm_fqn_per_model_part; empty where it raises.
std::vector<std::int64_t> torchtitan_layers(std::int64_t layers, std::int64_t pp,
                                            const Flags& flags) {
  const auto number = [&](const char* key, std::int64_t absent) {
    const auto found = flags.find(std::string("pipeline_parallel_") + key);
    return found == flags.end() ? absent : std::stoll(found->second);
  };
  const std::int64_t first = number("first_stage_less_layers", 1);
  const std::int64_t last = number("last_stage_less_layers", 1);
  const std::int64_t counted = layers + first + last;
  const std::int64_t per_stage = number("layers_per_stage", 0);
  const bool single = flags.at("pipeline_parallel_schedule") == "1F1B";
  const std::int64_t stages =
      per_stage > 0 ? (counted + per_stage - 1) / per_stage : pp * (single ? 1 : 2);
  if (stages % pp != 0 || single != (stages == pp)) return {};
  std::vector<std::int64_t> out(static_cast<std::size_t>(stages), counted / stages);
  for (std::int64_t i = 0; i < counted % stages; ++i) ++out[static_cast<std::size_t>(i)];
  out.front() -= first;
  out.back() -= last;
  return out;
}

TEST(Emission, DividesLayersAsTheyWerePredictedOrIsRefused) {
  constexpr std::int64_t kLayers = 126;
  int files = 0;
  for (const std::int64_t pp : {2, 3, 4, 5, 8, 9, 16}) {
    for (const std::int64_t chunks : {1, 2, 4, 7, 16}) {
      if (pp * chunks > kLayers + 2) continue;
      const auto predicted = even_layers(kLayers, pp * chunks);
      const bool evenly = megatron_layers(kLayers, pp, chunks, false, false) == predicted;
      const bool can_be = evenly ||
                          megatron_layers(kLayers, pp, chunks, false, true) == predicted ||
                          megatron_layers(kLayers, pp, chunks, true, true) == predicted;
      const std::string plan =
          "tp=2,zero=1,pp=" + std::to_string(pp) + ",chunks=" + std::to_string(chunks);
      const std::string cluster = "h100-sxm:" + std::to_string(pp * 8);
      for (const char* framework : {"megatron-lm", "megatron-bridge", "nemo", "torchtitan"}) {
        const auto file = written("llama-3.1-405b", cluster, plan, framework);
        // Its Megatron-Core, of 2024, does not count the embedding and the loss.
        const bool counts = std::string(framework) != "nemo";
        ASSERT_EQ(file.has_value(), counts ? can_be : evenly) << framework << " " << plan;
        if (!file) {
          EXPECT_EQ(file.error().code, ErrorCode::unsupported);
          EXPECT_THAT(file.error().text(), HasSubstr("cannot divide 126 layers over"));
          EXPECT_THAT(file.error().text(), HasSubstr("(choose "));
          continue;
        }
        ++files;
        const Flags flags = by_last_key(file->flags);
        EXPECT_EQ(std::string(framework) == "torchtitan"
                      ? torchtitan_layers(kLayers, pp, flags)
                      : megatron_layers(kLayers, pp, chunks,
                                        flags.contains("account_for_embedding_in_pipeline_split"),
                                        flags.contains("account_for_loss_in_pipeline_split")),
                  predicted)
            << framework << " " << plan << "\n"
            << file->text;
      }
    }
  }
  EXPECT_GT(files, 40);
}

TEST(Emission, NamesTheChunksThatWouldDivideTheLayers) {
  const auto file = written("llama-3.1-405b", "h100-sxm:64", "tp=8,pp=8,chunks=5", "megatron-lm");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().hint, testing::StrEq("choose chunks=1, 2, 4, 8, 16"));
}

TEST(Emission, ReadsLayersPerStageWithTheFlagsThatCountInThem) {
  LaunchQuestion question;
  question.files.push_back(*parse_launch_file(
      "torchrun pretrain_gpt.py --pipeline-model-parallel-size 8 "
      "--num-layers-per-virtual-pipeline-stage 1 --account-for-embedding-in-pipeline-split "
      "--account-for-loss-in-pipeline-split --micro-batch-size 1 --global-batch-size 64",
      "a.sh"));
  question.cluster = "h100-sxm:64";
  question.model = "llama-3.1-405b";
  const auto launch = import_launch(question, Catalog::built_in());
  ASSERT_TRUE(launch) << launch.error().text();
  EXPECT_EQ(launch->plan.chunks, 16);
}

TEST(Emission, ExportsTheConnectionsThatMegatronAsksFor) {
  const std::string line = "export CUDA_DEVICE_MAX_CONNECTIONS=1\n";
  const auto text = [](const std::string& cluster, const std::string& plan) {
    const auto file = written("llama-3.1-8b", cluster, plan, "megatron-lm");
    return file ? file->text : file.error().text();
  };
  EXPECT_THAT(text("h100-sxm:64", "tp=2"), HasSubstr(line));
  EXPECT_THAT(text("h100-sxm:64", "cp=2"), HasSubstr(line));
  EXPECT_THAT(text("h100-sxm:64", "dp=64"), Not(HasSubstr(line)));
  EXPECT_THAT(text("b200-sxm:64", "cp=2"), Not(HasSubstr(line)));
  // Its FSDP asks for the contrary, and for gradients that products do not add up.
  const std::string sharded = text("h100-sxm:64", "tp=2,zero=3");
  EXPECT_THAT(sharded, Not(HasSubstr(line)));
  EXPECT_THAT(sharded, HasSubstr("--use-custom-fsdp"));
  EXPECT_THAT(sharded, HasSubstr("--no-gradient-accumulation-fusion"));
}

TEST(Emission, AddressesTheFirstOfSeveralNodes) {
  const std::string address = "--master_addr \"${MASTER_ADDR}\"";
  EXPECT_THAT(written("llama-3.1-8b", "h100-sxm:64", "dp=64", "megatron-lm")->text,
              testing::AllOf(HasSubstr(address), HasSubstr("--node_rank \"${NODE_RANK}\""),
                             HasSubstr("--master_port \"${MASTER_PORT}\"")));
  EXPECT_THAT(written("llama-3.1-8b", "h100-sxm:8", "dp=8", "megatron-lm")->text,
              Not(HasSubstr(address)));
}

TEST(Emission, SaysThatTheBaseOfRotaryPositionsIsToBeAdded) {
  const auto rotary = written("llama-3.1-8b", "h100-sxm:8", "dp=8", "megatron-lm");
  EXPECT_THAT(rotary->to_add, testing::ElementsAre(HasSubstr("--rotary-base")));
  EXPECT_THAT(rotary->text, HasSubstr("--rotary-base"));
  EXPECT_THAT(written("llama-3.1-8b", "h100-sxm:8", "dp=8", "nemo")->to_add,
              testing::ElementsAre(HasSubstr("model.rotary_base")));
  EXPECT_THAT(written("gpt-3-1.3b", "h100-sxm:8", "dp=8", "megatron-lm")->to_add,
              testing::IsEmpty());
}

TEST(Emission, HasSequenceParallelismOnlyBesideTensorParallelism) {
  for (const char* framework : {"megatron-lm", "megatron-bridge", "nemo"}) {
    EXPECT_FALSE(by_last_key(written("llama-3.1-8b", "h100-sxm:64", "dp=64", framework)->flags)
                     .contains("sequence_parallel"))
        << framework;
    EXPECT_EQ(by_last_key(written("llama-3.1-8b", "h100-sxm:64", "tp=2", framework)->flags)
                  .at("sequence_parallel"),
              "true")
        << framework;
  }
}

// DeepSpeed, runtime/config.py: the batch is that of a device times accumulation times replicas.
TEST(Emission, GivesDeepSpeedABatchThatAgreesWithItself) {
  for (const char* plan : {"dp=64", "tp=4,micro_batch=2", "cp=2,context_parallel=all-to-all",
                           "tp=2,cp=4,context_parallel=all-to-all,zero=3"}) {
    const auto file = written("llama-3.1-8b", "h100-sxm:64", plan, "deepspeed");
    ASSERT_TRUE(file) << file.error().text();
    Flags flags = by_last_key(file->flags);
    flags.emplace("sequence_parallel_size", "1");
    const std::int64_t replicas =
        64 / std::stoll(flags["autotp_size"]) / std::stoll(flags["sequence_parallel_size"]);
    EXPECT_EQ(std::stoll(flags["train_batch_size"]),
              std::stoll(flags["train_micro_batch_size_per_gpu"]) *
                  std::stoll(flags["gradient_accumulation_steps"]) * replicas)
        << plan;
  }
}

struct Lost {
  const char* framework;
  const char* plan;
  const char* what;
};

TEST(Emission, IsRefusedWhereItWouldLaunchAnotherPlan) {
  for (const Lost& lost : std::vector<Lost>{
           {"deepspeed", "cp=2,context_parallel=ring", "not as ring"},
           {"deepspeed", "pp=4", "pp=4"},
           {"deepspeed", "recompute=full", "recompute=full"},
           {"torchtitan", "recompute=selective", "recompute=selective"},
           {"torchtitan", "recompute=full,recompute_layers=4", "recompute_layers=4"},
           {"nemo", "cp=2,context_parallel=all-gather", "with context_parallel=ring"},
           {"megatron-lm", "recompute=alternate", "recompute=alternate"},
           {"megatron-lm", "pp=2,layers=15+17", "layers=15+17"},
           {"megatron-lm", "pp=2,chunks=2,overlap.pipeline=false", "overlap.pipeline=true"},
           {"llm-foundry", "tp=2", "tp=2"}}) {
    const auto file = written("llama-3.1-8b", "h100-sxm:64", lost.plan, lost.framework);
    ASSERT_FALSE(file) << lost.framework << " " << lost.plan << "\n" << file->text;
    EXPECT_EQ(file.error().code, ErrorCode::unsupported);
    EXPECT_THAT(file.error().text(), testing::AllOf(testing::StartsWith("--emit: "),
                                                    HasSubstr(lost.what), HasSubstr("choose ")));
  }
}

TEST(Emission, IsRefusedForAcceleratorsOfAnotherSoftware) {
  for (const std::string& framework : Catalog::built_in().names("launch")) {
    const auto file = written("llama-3.1-8b", "tpu-v5p:64", "dp=64", framework);
    ASSERT_FALSE(file) << framework;
    EXPECT_THAT(file.error().text(), HasSubstr("tpu-v5p runs maxtext"));
  }
}

}  // namespace
}  // namespace orrery
