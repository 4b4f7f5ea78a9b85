#include "measured/run_convention.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "catalog/catalog.h"
#include "plan/software.h"

namespace orrery {
namespace {

using testing::ElementsAre;

MeasuredRow row_of(std::string framework, std::string accelerator = "h100-sxm") {
  MeasuredRow row;
  row.source_id = "somebody";
  row.framework = std::move(framework);
  row.accelerator = std::move(accelerator);
  return row;
}
std::string software(const MeasuredRow& row) { return std::string(convention_of(row).software); }

// Every file can be read, every entry laid over the defaults, every profile found.
TEST(Conventions, NameProfilesAndFrameworksThatExist) {
  const auto folder = std::filesystem::path(ORRERY_SOURCE_DIR) / "validation/conventions";
  const auto sources = read_document((folder / "sources.yaml").string());
  const auto frameworks = read_document((folder / "frameworks.yaml").string());
  ASSERT_TRUE(sources && frameworks);
  for (const auto& [name, entry] : frameworks->root.find("frameworks")->members()) {
    const RunConvention c = convention_of(row_of(name));
    EXPECT_TRUE(load_software(Catalog::built_in(), c.software)) << name;
    EXPECT_NE(entry.find("source"), nullptr) << name;
  }
  for (const Value& entry : sources->root.find("sources")->items()) {
    EXPECT_NE(entry.find("source"), nullptr) << entry.line();
    const Value* framework = entry.find("framework");
    if (framework == nullptr) continue;
    EXPECT_NE(frameworks->root.find("frameworks")->find(framework->scalar_text()), nullptr)
        << framework->scalar_text();
  }
  EXPECT_FALSE(network_names().empty());
  EXPECT_FALSE(source_figures().empty());
}

TEST(Conventions, SourcesThatVaryAreJudgedApartAndWeighLess) {
  MeasuredRow row = row_of("Megatron-DeepSpeed", "v100-32gb-sxm2");
  EXPECT_EQ(convention_of(row).fit_weight, 1);
  row.source_id = "bigscience-v100";
  EXPECT_EQ(convention_of(row).fit_weight, 0.25);
  EXPECT_TRUE(judged_apart("bigscience-v100"));
  EXPECT_FALSE(judged_apart("bigscience-a100"));
}

// What is assumed of unknown software is what a plan without one gets.
TEST(Conventions, UsualSoftwareIsTheDefaultProfile) {
  EXPECT_EQ(kUsualSoftware, SoftwareProfile().name);
}

// Those of before Megatron-Core reduce gradients behind the step, and differ in the rest.
TEST(Conventions, OlderMegatronsReduceBehindTheStep) {
  for (const std::string name :
       {"megatron-lm-2021", "megatron-lm-2022", "megatron-deepspeed", "aleph-alpha"}) {
    const RunConvention c = convention_of(row_of(name));
    EXPECT_EQ(c.software, name);
    EXPECT_FALSE(c.overlap.gradient_reduction);
    EXPECT_FALSE(c.overlap.parameter_gather);
    EXPECT_FALSE(c.sequence_parallel);
    EXPECT_THAT(c.overlap_source, testing::HasSubstr("after the last microbatch"));
    const bool of_megatron = name.starts_with("megatron-lm");
    EXPECT_EQ(c.dropout, name != "aleph-alpha");
    EXPECT_EQ(c.zero, of_megatron ? 0 : 1);
    EXPECT_EQ(c.stage_layers == StageLayers::balanced_parameters, name == "aleph-alpha");
    EXPECT_EQ(c.vocab_multiple, name == "aleph-alpha" ? 0 : 128);
  }
}

// Every profile can be named by its own name.
TEST(Conventions, KnowTheNamesOfProfiles) {
  for (const std::string name :
       {"megatron-core-0.12", "nemo-24", "megatron-lm-2021", "megatron-lm-2022",
        "megatron-deepspeed", "deepspeed", "torchtitan", "llm-foundry", "pytorch-fsdp",
        "transformers", "maxtext", "internevo", "aleph-alpha"}) {
    EXPECT_EQ(software(row_of(name)), name);
  }
}

TEST(Conventions, GoByWholeWordsInAnyCase) {
  EXPECT_EQ(framework_of(row_of("TORCHTITAN (FSDP2)")), "torchtitan");
  EXPECT_EQ(framework_of(row_of("llm-foundry/Composer PyTorch FSDP, MP mode PURE")), "llm-foundry");
  EXPECT_EQ(framework_of(row_of("PyTorch FSDP2")), "pytorch-fsdp");
  EXPECT_EQ(framework_of(row_of("FMS-FSDP (PyTorch FSDP)")), "fms-fsdp");
  EXPECT_EQ(framework_of(row_of("Megatron+DeepSpeed 3D")), "megatron-deepspeed");
  EXPECT_EQ(framework_of(row_of("Megatron-Bridge (Megatron-Core, TE)")), "megatron-bridge");
  EXPECT_EQ(framework_of(row_of("AA-Scaling (Aleph Alpha; Megatron-style, PyTorch)")),
            "aleph-alpha");
  EXPECT_EQ(framework_of(row_of("Primus (TorchTitan)")), "torchtitan");
  EXPECT_EQ(framework_of(row_of("Primus (Megatron-LM)")), "megatron-core");
  EXPECT_EQ(framework_of(row_of("DeepSpeed with Hugging Face models")), "deepspeed");
  EXPECT_EQ(framework_of(row_of("MaxText (JAX)")), "maxtext");
  EXPECT_EQ(framework_of(row_of("AnemoneTrainer")), "");  // holds the letters of NeMo
  EXPECT_EQ(framework_of(row_of("in-house")), "");
  EXPECT_EQ(framework_of(row_of("")), "");
}

TEST(Conventions, MegatronIsAsOldAsItSaysOrAsItsAccelerator) {
  EXPECT_EQ(software(row_of("Megatron-LM (Jan 2021)")), "megatron-lm-2021");
  EXPECT_EQ(software(row_of("Megatron-LM v2.5")), "megatron-lm-2021");
  EXPECT_EQ(software(row_of("Megatron-LM 2022", "v100-32gb-sxm2")), "megatron-lm-2022");
  EXPECT_EQ(software(row_of("Megatron-LM 2025", "a100-80gb-sxm")), "megatron-core-0.12");
  EXPECT_EQ(software(row_of("Megatron-LM", "v100-32gb-sxm2")), "megatron-lm-2021");
  EXPECT_EQ(software(row_of("Megatron-LM", "a100-80gb-sxm")), "megatron-lm-2022");
  EXPECT_EQ(software(row_of("Megatron-LM", "h100-sxm")), "megatron-core-0.12");
  MeasuredRow later = row_of("Megatron-LM", "a100-80gb-sxm");
  later.attention_kernel = "flash-2";
  EXPECT_EQ(software(later), "megatron-core-0.12");
  EXPECT_EQ(software(row_of("Megatron-Core r0.8.0", "a100-80gb-sxm")), "megatron-core-0.12");
}

TEST(Conventions, NemoGoesByItsRelease) {
  EXPECT_EQ(software(row_of("NVIDIA NeMo Framework Release 24.09")), "nemo-24");
  EXPECT_EQ(software(row_of("NVIDIA NeMo Framework Release 25.04")), "megatron-core-0.12");
}

TEST(Conventions, ShardAsTheFrameworkDoes) {
  EXPECT_EQ(convention_of(row_of("TorchTitan")).zero, 3);
  EXPECT_EQ(convention_of(row_of("Megatron-DeepSpeed ZeRO-2")).zero, 2);
  EXPECT_EQ(convention_of(row_of("Hugging Face transformers")).zero, 0);
  EXPECT_EQ(convention_of(row_of("Hugging Face transformers, FSDP")).zero, 3);
}

// A known source wins over the text of its rows, and adds its own network.
TEST(Conventions, AddToTheirFramework) {
  MeasuredRow row = row_of("Megatron-LM", "a100-80gb-sxm");
  EXPECT_EQ(convention_of(row).link, "");
  EXPECT_TRUE(convention_of(row).dropout);
  row.source_id = "zero-bubble";
  EXPECT_EQ(convention_of(row).link, "4 x 200 Gb/s");
  EXPECT_FALSE(convention_of(row).dropout);
  row.source_id = "bigscience-v100";
  EXPECT_EQ(convention_of(row).software, "megatron-deepspeed");
}

TEST(Conventions, ChosenSoftwareIsForUnknownFrameworksOnly) {
  EXPECT_EQ(convention_of(row_of("in-house")).software, kUsualSoftware);
  EXPECT_EQ(convention_of(row_of("in-house"), "torchtitan").software, "torchtitan");
  EXPECT_EQ(convention_of(row_of("in-house"), "torchtitan").zero, 3);
  EXPECT_EQ(convention_of(row_of("in-house"), "a-profile-of-mine").software, "a-profile-of-mine");
  EXPECT_EQ(convention_of(row_of("MaxText"), "torchtitan").software, "maxtext");
}

MeasuredRow bridge(std::string model, std::string accelerator, std::int64_t pp, std::int64_t vpp,
                   std::string cuda_graphs = "") {
  MeasuredRow row;
  row.source_id = "megatron-bridge";
  row.model = std::move(model);
  row.accelerator = std::move(accelerator);
  row.num_experts = 256;
  row.num_layers = 61;
  row.precision = "mxfp8";
  row.pp = pp;
  row.vpp = vpp;
  row.ep = 64;
  row.cuda_graphs = std::move(cuda_graphs);
  return row;
}

// The recipe of DeepSeek-V3 with a graph of the full iteration.
TEST(Recipes, OfDeepSeekSendTokensOnceAndOverlapTheExchange) {
  const RunConvention c = convention_of(bridge("DeepSeekV3", "gb300", 2, 8, "full_iteration"));
  EXPECT_EQ(c.dispatch, ExpertDispatch::deduplicated);
  EXPECT_TRUE(c.overlap.expert_batches);
  EXPECT_EQ(c.gradients, "bf16");
  EXPECT_EQ(c.stage_layers, StageLayers::full_then_rest);
  EXPECT_THAT(
      c.assume,
      ElementsAre(
          "gradients accumulated and reduced in bf16: grad_reduce_in_fp32 is off in the recipe",
          "tokens sent once to each rank: HybridEP or DeepEP in the recipe",
          "exchanges of tokens beside the other pass of another microbatch"));
  EXPECT_FALSE(convention_of(bridge("DeepSeekV3", "gb300", 2, 8)).overlap.expert_batches);
}

TEST(Recipes, OfQwenOnServersOfEightUsePlainAllToAll) {
  EXPECT_EQ(convention_of(bridge("Qwen3-235B-A22B", "b200-sxm", 8, 1)).dispatch,
            ExpertDispatch::all_to_all);
  EXPECT_TRUE(convention_of(bridge("Qwen3-235B-A22B", "h100-sxm", 8, 4)).overlap.expert_batches);
}

TEST(Recipes, OfLlamaReduceInSixteenBits) {
  MeasuredRow row = bridge("Llama3-405B", "gb200", 16, 4);
  row.num_experts = std::nullopt;
  EXPECT_EQ(convention_of(row).gradients, "bf16");
  row.source_id = "mlperf";
  EXPECT_EQ(convention_of(row).gradients, "");
}

// What a submission ran counts, not the round of its results.
TEST(Recipes, OfAdaptersAreGraphsSinceTheReleaseThatHasThem) {
  MeasuredRow row;
  row.source_id = "mlperf";
  row.phase = "lora";
  row.accelerator = "h100-sxm";
  row.source = "MLPerf Training v5.0 results, NVIDIA, eos_ngpu8_ngc25.04_nemo";
  EXPECT_EQ(convention_of(row).launches, LaunchPath::graphs);
  row.source = "MLPerf Training v5.0 results, SCITIX, scitix_n8_ngc24.09_nemo";  // mlperf-0093
  EXPECT_EQ(convention_of(row).launches, LaunchPath::each);
}

TEST(Recipes, OfOneRankHaveNoExchange) {
  MeasuredRow row = bridge("DeepSeekV3", "gb300", 2, 8, "full_iteration");
  row.ep = 1;
  EXPECT_EQ(convention_of(row).dispatch, ExpertDispatch::all_to_all);
}

}  // namespace
}  // namespace orrery
