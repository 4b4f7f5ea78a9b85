#include "launch/launch_import.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Files = std::vector<std::pair<std::string, std::string>>;  // names and texts

const Catalog& built_in() { return Catalog::built_in(); }

Result<ImportedLaunch> imported(const Files& files, const std::string& cluster = "h100-sxm:64") {
  LaunchQuestion question;
  for (const auto& [name, text] : files) {
    auto file = parse_launch_file(text, name);
    if (!file) return fail(file.error());
    question.files.push_back(*std::move(file));
  }
  question.cluster = cluster;
  return import_launch(question, built_in());
}

// A dense model of 32 layers on 64 GPUs with more flags.
Result<ImportedLaunch> megatron(const std::string& flags) {
  return imported({{"run.sh",
                    "torchrun --nproc_per_node 8 --nnodes 8 pretrain_gpt.py --num-layers 32 "
                    "--hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
                    "--max-position-embeddings 4096 --micro-batch-size 1 --global-batch-size 64 "
                    "--vocab-size 32000 --bf16 " +
                        flags + "\n"}});
}

Result<ImportedLaunch> torchtitan(const std::string& text) {
  return imported({{"run.toml", "[model]\nname='llama3'\nflavor='8B'\n" + text}});
}

Result<ImportedLaunch> bridge(const std::string& text) {
  return imported({{"run.yaml",
                    "model: {hf_model_id: meta-llama/Llama-3.1-8B, seq_length: 8192}\n"
                    "train: {global_batch_size: 128, micro_batch_size: 1}\n" +
                        text}});
}

// Why a flag is not understood; empty if it is.
std::string why_not(const ImportedLaunch& launch, const std::string& key) {
  for (const AccountedFlag& f : launch.flags) {
    if (f.flag.key == key && f.use == FlagUse::not_understood) return f.what;
  }
  return "";
}

std::string value_of(const ImportedLaunch& launch, const char* part, const char* field) {
  const Value* value = launch.specification.find(part);
  value = value == nullptr ? nullptr : value->find(field);
  return value == nullptr ? "unset" : value->scalar_text();
}

#define ORRERY_ASSERT_IMPORTED(launch) ASSERT_TRUE(launch) << (launch).error().text()

// ---- Megatron-LM ----

TEST(ImportOfMegatron, TakesTheShardingOfItsFsdpOnlyFromAStrategy) {
  const std::vector<std::pair<std::string, int>> strategies = {
      {"no_shard", 0}, {"optim", 1}, {"optim_grads", 2}, {"optim_grads_params", 3}};
  for (const auto& [strategy, zero] : strategies) {
    for (const char* fsdp : {"--use-megatron-fsdp", "--use-custom-fsdp"}) {
      const auto launch = megatron(std::string(fsdp) + " --data-parallel-sharding-strategy " +
                                   strategy + " --use-distributed-optimizer");
      ORRERY_ASSERT_IMPORTED(launch);
      EXPECT_EQ(launch->plan.zero, zero) << fsdp << " " << strategy;
      EXPECT_EQ(why_not(*launch, "data_parallel_sharding_strategy"), "");
    }
  }
  const auto silent = megatron("--use-megatron-fsdp");
  ORRERY_ASSERT_IMPORTED(silent);
  EXPECT_EQ(value_of(*silent, "plan", "zero"), "unset");
  EXPECT_THAT(why_not(*silent, "use_megatron_fsdp"), HasSubstr("shards nothing up to"));
}

TEST(ImportOfMegatron, OverlapsPipelineTransfersOnlyWhenInterleaved) {
  const std::string stages = "--pipeline-model-parallel-size 4 ";
  EXPECT_FALSE(megatron(stages)->plan.overlap.pipeline);
  EXPECT_FALSE(megatron(stages + "--no-overlap-p2p-communication")->plan.overlap.pipeline);
  EXPECT_TRUE(megatron(stages + "--num-virtual-stages-per-pipeline-rank 2")->plan.overlap.pipeline);
  EXPECT_TRUE(
      megatron(stages + "--num-layers-per-virtual-pipeline-stage 4")->plan.overlap.pipeline);
  EXPECT_FALSE(megatron(stages + "--num-virtual-stages-per-pipeline-rank 2 "
                                 "--no-overlap-p2p-communication")
                   ->plan.overlap.pipeline);
}

TEST(ImportOfMegatron, SaysThatItsDispatcherGathersTokens) {
  const std::string experts = "--num-experts 8 --expert-model-parallel-size 8 ";
  const auto silent = megatron(experts);
  ORRERY_ASSERT_IMPORTED(silent);
  EXPECT_THAT(silent->unsaid, Contains(HasSubstr("gathers all tokens on every rank")));
  const auto stated = megatron(experts + "--moe-token-dispatcher-type allgather");
  ORRERY_ASSERT_IMPORTED(stated);
  EXPECT_THAT(why_not(*stated, "moe_token_dispatcher_type"), HasSubstr("gathers all tokens"));
  const auto dense = megatron("");
  ORRERY_ASSERT_IMPORTED(dense);
  EXPECT_THAT(dense->unsaid, IsEmpty());
}

TEST(ImportOfMegatron, KnowsTheWidthsThatItComputes) {
  const auto ffn = [](const std::string& flags) {
    const auto launch = megatron(flags);
    return launch ? value_of(*launch, "model", "ffn_hidden") : launch.error().text();
  };
  EXPECT_EQ(ffn("--swiglu"), "10880");  // int(4 * 4096 * 2 / 3 / 64) * 64
  EXPECT_EQ(ffn("--squared-relu"), "16384");
  EXPECT_EQ(ffn(""), "16384");
  EXPECT_EQ(ffn("--swiglu --ffn-hidden-size 11008 --kv-channels 64"), "11008");
  const auto grouped = megatron("--group-query-attention");
  ORRERY_ASSERT_IMPORTED(grouped);
  EXPECT_EQ(value_of(*grouped, "model", "num_kv_heads"), "1");
  EXPECT_EQ(why_not(*grouped, "group_query_attention"), "");
}

TEST(ImportOfMegatron, RefusesDegreesBelowOne) {
  for (const char* degree : {"0", "-2"}) {
    const auto launch = megatron("\\\n--tensor-model-parallel-size " + std::string(degree));
    ASSERT_FALSE(launch);
    EXPECT_EQ(launch.error().code, ErrorCode::bad_input);
    EXPECT_EQ(launch.error().text(),
              "line 2: tensor_model_parallel_size: must be at least 1, not " + std::string(degree));
  }
}

TEST(ImportOfMegatron, ReadsWhatALogPrintsOfEveryArgument) {
  const auto launch = imported({{"run.log",
                                 "  num_layers ...................................... 32\n"
                                 "  hidden_size ..................................... 4096\n"
                                 "  num_attention_heads ............................. 32\n"
                                 "  seq_length ...................................... 4096\n"
                                 "  max_position_embeddings ......................... 4096\n"
                                 "  vocab_size ...................................... 32000\n"
                                 "  micro_batch_size ................................ 1\n"
                                 "  global_batch_size ............................... 64\n"
                                 "  bf16 ............................................ True\n"
                                 "  window_size ..................................... (127, 0)\n"
                                 "  kv_lora_rank .................................... 512\n"
                                 "  cpu_offloading .................................. False\n"
                                 "  mtp_standalone .................................. True\n"
                                 "  inference_max_requests .......................... 8\n"}});
  ORRERY_ASSERT_IMPORTED(launch);
  EXPECT_EQ(value_of(*launch, "model", "sliding_window"), "128");
  for (const char* key : {"kv_lora_rank", "cpu_offloading", "inference_max_requests"}) {
    EXPECT_EQ(why_not(*launch, key), "") << key;
  }
  EXPECT_THAT(why_not(*launch, "mtp_standalone"), HasSubstr("not a flag"));
}

TEST(ImportOfMegatron, SaysThatTheModelIsInAFunction) {
  const auto launch =
      imported({{"a.sh", "f() {\n  torchrun pretrain_gpt.py --num-layers 32\n}\nf\n"}});
  ASSERT_FALSE(launch);
  EXPECT_THAT(launch.error().text(),
              HasSubstr("the files do not name the model, and num_layers: given in a function"));
}

// ---- the list of what is irrelevant ----

TEST(Import, NeverCallsAnUnknownValueOfAKnownFlagIrrelevantByAPattern) {
  const auto titan = torchtitan("[training]\nlocal_batch_size=2\n[optimizer]\nname='SGD'\nlr=1\n");
  ORRERY_ASSERT_IMPORTED(titan);
  EXPECT_THAT(why_not(*titan, "optimizer.name"), HasSubstr("has no counterpart"));
  EXPECT_EQ(why_not(*titan, "optimizer.lr"), "");
  const auto muon = bridge("optimizer: {optimizer: muon, lr: 0.1}\n");
  ORRERY_ASSERT_IMPORTED(muon);
  EXPECT_THAT(why_not(*muon, "optimizer.optimizer"), HasSubstr("has no counterpart"));
  const auto strategy = megatron("--data-parallel-sharding-strategy optim");
  ORRERY_ASSERT_IMPORTED(strategy);
  EXPECT_NE(why_not(*strategy, "data_parallel_sharding_strategy"), "");
}

// ---- Megatron-Bridge and NeMo ----

TEST(ImportOfMegatronBridge, ReducesGradientsAsMixedPrecisionSays) {
  const auto gradients = [](const std::string& text) {
    const auto launch = bridge(text);
    return launch ? value_of(*launch, "training", "gradients") : launch.error().text();
  };
  EXPECT_EQ(gradients("mixed_precision: bf16_mixed\nddp: {grad_reduce_in_fp32: false}\n"), "fp32");
  EXPECT_EQ(gradients("mixed_precision: {bf16: true}\n"), "fp32");
  EXPECT_EQ(gradients("mixed_precision: {bf16: true, grad_reduce_in_fp32: false}\n"), "bf16");
  EXPECT_EQ(gradients("mixed_precision: fp16_mixed\n"), "fp16");
  EXPECT_EQ(gradients("ddp: {grad_reduce_in_fp32: false}\n"), "bf16");
  EXPECT_EQ(gradients(""), "unset");
  EXPECT_THAT(bridge("")->unsaid, Contains(HasSubstr("training.gradients: those of the recipe")));
}

TEST(ImportOfMegatronBridge, OverlapsPipelineTransfersOnlyWhenInterleaved) {
  const auto overlaps = [](const std::string& model) {
    const auto launch = bridge("model_config: {pipeline_model_parallel_size: 4, " + model + "}\n");
    return launch ? value_of(*launch, "plan", "chunks") + " " +
                        (launch->plan.overlap.pipeline ? "on" : "off")
                  : launch.error().text();
  };
  EXPECT_EQ(overlaps("overlap_p2p_comm: true"), "1 off");
  EXPECT_EQ(overlaps("virtual_pipeline_model_parallel_size: 2, overlap_p2p_comm: true"), "2 on");
}

TEST(ImportOfNemo, OverlapsPipelineTransfersOnlyWhenInterleaved) {
  const auto overlaps = [](const std::string& model) {
    const auto launch = imported(
        {{"a.yaml",
          "trainer: {devices: 8, num_nodes: 8, precision: bf16}\n"
          "model: {num_layers: 32, hidden_size: 4096, ffn_hidden_size: 16384, "
          "num_attention_heads: 32, encoder_seq_length: 2048, max_position_embeddings: 2048, "
          "micro_batch_size: 1, global_batch_size: 64, pipeline_model_parallel_size: 4, "
          "overlap_p2p_comm: true" +
              model + "}\n"}});
    return launch ? (launch->plan.overlap.pipeline ? "on" : "off") : launch.error().text();
  };
  EXPECT_EQ(overlaps(""), "off");
  EXPECT_EQ(overlaps(", virtual_pipeline_model_parallel_size: 2"), "on");
}

// The fields of one NeMo run of 32 layers on 64 GPUs, with more keys of its model.
Result<ImportedLaunch> nemo(const std::string& model) {
  return imported({{"a.yaml",
                    "trainer: {devices: 8, num_nodes: 8, precision: bf16}\n"
                    "model: {num_layers: 32, hidden_size: 4096, ffn_hidden_size: 16384, "
                    "num_attention_heads: 32, encoder_seq_length: 2048, micro_batch_size: 1, "
                    "max_position_embeddings: 2048, global_batch_size: 64, " +
                        model + "}\n"}});
}

TEST(ImportOfNemo, ShardsAndReducesAsItsFsdpSays) {
  const auto full = nemo("fsdp: true, fsdp_grad_reduce_dtype: bf16");
  ORRERY_ASSERT_IMPORTED(full);
  EXPECT_EQ(full->plan.zero, 3);
  EXPECT_EQ(value_of(*full, "training", "gradients"), "bf16");
  const auto grad = nemo("fsdp: true, fsdp_sharding_strategy: grad, fsdp_grad_reduce_dtype: 32");
  ORRERY_ASSERT_IMPORTED(grad);
  EXPECT_EQ(grad->plan.zero, 2);
  EXPECT_EQ(value_of(*grad, "training", "gradients"), "fp32");
  const auto hybrid = nemo("fsdp: true, fsdp_sharding_strategy: hybrid");
  ORRERY_ASSERT_IMPORTED(hybrid);
  EXPECT_THAT(why_not(*hybrid, "model.fsdp_sharding_strategy"), HasSubstr("within the group"));
  const auto off = nemo("fsdp: false, fsdp_sharding_strategy: full, fsdp_grad_reduce_dtype: 32");
  ORRERY_ASSERT_IMPORTED(off);
  EXPECT_EQ(why_not(*off, "model.fsdp_sharding_strategy"), "");
}

TEST(ImportOfNemo, RecomputesSelectivelyInAllLayers) {
  const auto launch = nemo(
      "activations_checkpoint_granularity: selective, activations_checkpoint_method: block, "
      "activations_checkpoint_num_layers: 0");
  ORRERY_ASSERT_IMPORTED(launch);
  EXPECT_EQ(value_of(*launch, "plan", "recompute"), "selective");
  EXPECT_EQ(why_not(*launch, "model.activations_checkpoint_method"), "");
}

TEST(ImportOfNemo, SaysWhatItCannotModelOnlyWhereItIsOn) {
  const auto off = nemo("cpu_offloading: false, sharp: false, bias_activation_fusion: true");
  ORRERY_ASSERT_IMPORTED(off);
  EXPECT_EQ(why_not(*off, "model.cpu_offloading"), "");
  EXPECT_EQ(why_not(*off, "model.bias_activation_fusion"), "");
  const auto on = nemo("cpu_offloading: true");
  ORRERY_ASSERT_IMPORTED(on);
  EXPECT_THAT(why_not(*on, "model.cpu_offloading"), HasSubstr("not a flag"));
}

// Dumped configurations have every field: those that are as in the framework's classes hide nothing.
TEST(ImportOfMegatronBridge, ListsFieldsOnlyWhereTheyDifferFromTheirDefault) {
  const auto dumped = bridge(
      "model_config: {cpu_offloading: false, mtp_standalone: true, window_size: [127, 0], "
      "window_attn_skip_freq: 2}\n"
      "ddp: {nccl_ub: false, fsdp_double_buffer: true, use_megatron_fsdp: false, "
      "use_distributed_optimizer: true, data_parallel_sharding_strategy: optim_grads_params}\n");
  ORRERY_ASSERT_IMPORTED(dumped);
  EXPECT_EQ(why_not(*dumped, "model.cpu_offloading"), "");
  EXPECT_EQ(why_not(*dumped, "ddp.nccl_ub"), "");
  EXPECT_NE(why_not(*dumped, "model_config.mtp_standalone"), "");
  EXPECT_NE(why_not(*dumped, "ddp.fsdp_double_buffer"), "");
  EXPECT_EQ(why_not(*dumped, "model_config.window_size"), "");
  EXPECT_EQ(why_not(*dumped, "ddp.data_parallel_sharding_strategy"), "");
  EXPECT_EQ(dumped->plan.zero, 1);
}

// ---- torchtitan ----

TEST(ImportOfTorchtitan, SaysThatEverySecondLayerIsRecomputedUnlessToldOtherwise) {
  const auto silent = torchtitan("[training]\nlocal_batch_size=2\n");
  ORRERY_ASSERT_IMPORTED(silent);
  EXPECT_EQ(value_of(*silent, "plan", "recompute"), "unset");
  EXPECT_THAT(silent->unsaid, Contains(HasSubstr("recomputes every second layer")));
  const auto stated = torchtitan(
      "[training]\nlocal_batch_size=2\n"
      "[activation_checkpoint]\nmode='selective'\nselective_ac_option='2'\n");
  ORRERY_ASSERT_IMPORTED(stated);
  EXPECT_THAT(why_not(*stated, "activation_checkpoint.selective_ac_option"),
              HasSubstr("recomputes every second layer"));
  const auto none = torchtitan(
      "[training]\nlocal_batch_size=2\n"
      "[activation_checkpoint]\nmode='none'\nselective_ac_option='op'\n");
  ORRERY_ASSERT_IMPORTED(none);
  EXPECT_EQ(value_of(*none, "plan", "recompute"), "none");
  EXPECT_EQ(why_not(*none, "activation_checkpoint.selective_ac_option"), "");
}

TEST(ImportOfTorchtitan, KeepsTheBatchUnderAPipeline) {
  const std::string stages = "[parallelism]\npipeline_parallel_degree=4\n";
  const auto once = torchtitan(stages + "[training]\nlocal_batch_size=8\nglobal_batch_size=128\n");
  ORRERY_ASSERT_IMPORTED(once);
  EXPECT_EQ(once->training.global_batch, 128);
  EXPECT_EQ(once->plan.micro_batch, 1);
  EXPECT_THAT(once->unsaid, Not(Contains(HasSubstr("drains"))));
  const auto twice = torchtitan(stages +
                                "pipeline_parallel_microbatch_size=2\n"
                                "[training]\nlocal_batch_size=8\nglobal_batch_size=256\n");
  ORRERY_ASSERT_IMPORTED(twice);
  EXPECT_EQ(twice->training.global_batch, 256);
  EXPECT_EQ(twice->plan.micro_batch, 2);
  EXPECT_THAT(twice->unsaid, Contains(HasSubstr("drains")));
}

TEST(ImportOfTorchtitan, CountsTheStagesThatLayersPerStageMakes) {
  const auto launch = torchtitan(
      "[parallelism]\npipeline_parallel_degree=4\npipeline_parallel_schedule='Interleaved1F1B'\n"
      "pipeline_parallel_layers_per_stage=2\npipeline_parallel_first_stage_less_layers=0\n"
      "pipeline_parallel_last_stage_less_layers=0\n[training]\nlocal_batch_size=8\n");
  ORRERY_ASSERT_IMPORTED(launch);
  EXPECT_EQ(launch->plan.chunks, 4);  // 32 layers
  EXPECT_EQ(launch->plan.schedule, "interleaved_1f1b");
}

// The embedding and the output count as a layer each: 34 of them make 17 stages, not 4 for each device.
TEST(ImportOfTorchtitan, DoesNotGuessTheStagesThatLayersPerStageMakes) {
  const auto launch = torchtitan(
      "[parallelism]\npipeline_parallel_degree=4\npipeline_parallel_schedule='Interleaved1F1B'\n"
      "pipeline_parallel_layers_per_stage=2\n[training]\nlocal_batch_size=8\n");
  ORRERY_ASSERT_IMPORTED(launch);
  EXPECT_EQ(value_of(*launch, "plan", "chunks"), "unset");
  EXPECT_THAT(why_not(*launch, "parallelism.pipeline_parallel_layers_per_stage"),
              HasSubstr("as many stages as"));
}

// ---- DeepSpeed ----

const std::pair<std::string, std::string> kTrainer = {
    "train.sh",
    "deepspeed --num_gpus 8 train.py --model_name_or_path meta-llama/Llama-2-7b-hf "
    "--per_device_train_batch_size 2 --gradient_accumulation_steps 4 --bf16 true"};
const std::pair<std::string, std::string> kAuto = {
    "ds.json",
    R"({"train_batch_size": "auto", "train_micro_batch_size_per_gpu": "auto",
        "gradient_accumulation_steps": "auto", "bf16": {"enabled": "auto"}})"};

TEST(ImportOfDeepSpeed, FillsAutoWhateverTheOrderOfTheFiles) {
  for (const Files& files : {Files{kTrainer, kAuto}, Files{kAuto, kTrainer}}) {
    const auto launch = imported(files, "h100-sxm:8");
    ORRERY_ASSERT_IMPORTED(launch);
    EXPECT_EQ(launch->training.global_batch, 64);
    EXPECT_EQ(launch->plan.micro_batch, 2);
  }
}

TEST(ImportOfDeepSpeed, ListsAnAutoThatNothingFills) {
  LaunchQuestion question;
  question.files.push_back(*parse_launch_file(kAuto.second, kAuto.first));
  question.cluster = "h100-sxm:8";
  question.model = "llama-2-7b";
  const auto launch = import_launch(question, built_in());
  ORRERY_ASSERT_IMPORTED(launch);
  EXPECT_EQ(value_of(*launch, "training", "global_batch"), "unset");
  EXPECT_EQ(why_not(*launch, "train_batch_size"),
            "depends on plan.micro_batch, which is not known");
}

TEST(ImportOfDeepSpeed, ComputesTheBatchThatTwoOfThreeKeysGive) {
  const auto read = [](const std::string& keys) {
    LaunchQuestion question;
    question.files.push_back(*parse_launch_file("{" + keys + "}", "ds.json"));
    question.cluster = "h100-sxm:8";
    question.model = "llama-2-7b";
    return import_launch(question, built_in());
  };
  EXPECT_EQ(read(R"("train_batch_size": 64, "gradient_accumulation_steps": 4)")->plan.micro_batch,
            2);
  EXPECT_EQ(read(R"("train_batch_size": 64)")->plan.micro_batch, 8);
  const auto uneven = read(R"("train_batch_size": 12)");
  ORRERY_ASSERT_IMPORTED(uneven);
  EXPECT_EQ(value_of(*uneven, "plan", "micro_batch"), "unset");
}

TEST(ImportOfDeepSpeed, ReadsTheOptimizerOfTheTrainer) {
  const auto with = [](const std::string& optim) {
    return imported({{kTrainer.first, kTrainer.second + " --optim " + optim}}, "h100-sxm:8");
  };
  EXPECT_EQ(with("adamw_torch_fused")->training.optimizer, Optimizer::adamw);
  EXPECT_EQ(with("sgd")->training.optimizer, Optimizer::sgd);
  EXPECT_THAT(why_not(*with("adafactor"), "optim"), HasSubstr("has no counterpart"));
}

}  // namespace
}  // namespace orrery
