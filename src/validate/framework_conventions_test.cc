#include "validate/framework_conventions.h"

#include <gmock/gmock.h>

#include <set>

#include "catalog/catalog.h"
#include "plan/software.h"
#include "validate/source_conventions.h"

namespace orrery {
namespace {

MeasuredRow row_of(std::string framework, std::string accelerator = "h100-sxm") {
  MeasuredRow row;
  row.source_id = "somebody";
  row.framework = std::move(framework);
  row.accelerator = std::move(accelerator);
  return row;
}
std::string software(const MeasuredRow& row) { return std::string(convention_of(row).software); }

TEST(FrameworkConventions, AreNamedOnceWithProfilesOfTheCatalog) {
  std::set<std::string_view> names;
  for (const RunConvention& c : framework_conventions()) {
    EXPECT_TRUE(names.insert(c.framework).second) << c.framework;
    EXPECT_TRUE(load_software(Catalog::built_in(), c.software)) << c.software;
    EXPECT_FALSE(c.overlap_source.empty());
  }
  for (const SourceConvention& s : source_conventions()) {
    EXPECT_TRUE(names.contains(s.framework)) << s.source_id;
  }
}

// What is assumed of unknown software is what a plan without one gets.
TEST(FrameworkConventions, UsualSoftwareIsTheDefaultProfile) {
  EXPECT_EQ(kUsualSoftware, SoftwareProfile().name);
}

TEST(FrameworkConventions, UnknownNamesHaveTheDefaultsOfAPlan) {
  EXPECT_EQ(framework_convention("aleph-alpha").framework, "aleph-alpha");
  EXPECT_EQ(framework_convention("of-nobody").framework, "");
}

// Those of before Megatron-Core reduce gradients behind the step, and differ in the rest.
TEST(FrameworkConventions, OlderMegatronsReduceBehindTheStep) {
  for (const std::string name :
       {"megatron-lm-2021", "megatron-lm-2022", "megatron-deepspeed", "aleph-alpha"}) {
    const RunConvention& c = framework_convention(name);
    EXPECT_EQ(c.software, name);
    EXPECT_EQ(c.gradients, Transfers::exposed);
    EXPECT_EQ(c.parameters, Transfers::exposed);
    EXPECT_EQ(c.sequence_parallel, SequenceParallelism::never);
    EXPECT_THAT(c.overlap_source, testing::HasSubstr("after the last microbatch"));
    const bool of_megatron = name.starts_with("megatron-lm");
    EXPECT_EQ(c.dropout, of_megatron);
    EXPECT_EQ(c.zero, of_megatron ? 0 : 1);
    EXPECT_EQ(c.balances_parameters, name == "aleph-alpha");
    EXPECT_EQ(c.padding,
              name == "aleph-alpha" ? VocabularyPadding::none : VocabularyPadding::megatron);
  }
}

// Every profile can be named by its own name.
TEST(FrameworkConventions, KnowTheNamesOfProfiles) {
  for (const std::string name :
       {"megatron-core-0.12", "nemo-24", "megatron-lm-2021", "megatron-lm-2022",
        "megatron-deepspeed", "deepspeed", "torchtitan", "llm-foundry", "pytorch-fsdp",
        "transformers", "maxtext", "internevo", "aleph-alpha"}) {
    EXPECT_EQ(software(row_of(name)), name);
  }
}

TEST(FrameworkConventions, GoByWholeWordsInAnyCase) {
  EXPECT_EQ(framework_named("TORCHTITAN (FSDP2)"), "torchtitan");
  EXPECT_EQ(framework_named("llm-foundry/Composer PyTorch FSDP, MP mode PURE"), "llm-foundry");
  EXPECT_EQ(framework_named("PyTorch FSDP2"), "pytorch-fsdp");
  EXPECT_EQ(framework_named("FMS-FSDP (PyTorch FSDP)"), "fms-fsdp");
  EXPECT_EQ(framework_named("Megatron+DeepSpeed 3D"), "megatron-deepspeed");
  EXPECT_EQ(framework_named("Megatron-Bridge (Megatron-Core, TE)"), "megatron-bridge");
  EXPECT_EQ(framework_named("AA-Scaling (Aleph Alpha; Megatron-style, PyTorch)"), "aleph-alpha");
  EXPECT_EQ(framework_named("Primus (TorchTitan)"), "torchtitan");
  EXPECT_EQ(framework_named("Primus (Megatron-LM)"), "megatron-core");
  EXPECT_EQ(framework_named("DeepSpeed with Hugging Face models"), "deepspeed");
  EXPECT_EQ(framework_named("MaxText (JAX)"), "maxtext");
  EXPECT_EQ(framework_named("AnemoneTrainer"), "");  // holds the letters of NeMo
  EXPECT_EQ(framework_named("in-house"), "");
  EXPECT_EQ(framework_named(""), "");
}

TEST(FrameworkConventions, MegatronIsAsOldAsItSaysOrAsItsAccelerator) {
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

TEST(FrameworkConventions, NemoGoesByItsRelease) {
  EXPECT_EQ(software(row_of("NVIDIA NeMo Framework Release 24.09")), "nemo-24");
  EXPECT_EQ(software(row_of("NVIDIA NeMo Framework Release 25.04")), "megatron-core-0.12");
}

TEST(FrameworkConventions, ShardAsTheFrameworkDoes) {
  EXPECT_EQ(convention_of(row_of("TorchTitan")).zero, 3);
  EXPECT_EQ(convention_of(row_of("Megatron-DeepSpeed ZeRO-2")).zero, 2);
  EXPECT_EQ(convention_of(row_of("Hugging Face transformers")).zero, 0);
  EXPECT_EQ(convention_of(row_of("Hugging Face transformers, FSDP")).zero, 3);
}

// A known source wins over the text of its rows, and adds its own network.
TEST(SourceConventions, AddToTheirFramework) {
  MeasuredRow row = row_of("Megatron-LM", "a100-80gb-sxm");
  EXPECT_EQ(convention_of(row).link, "");
  EXPECT_TRUE(convention_of(row).dropout);
  row.source_id = "zero-bubble";
  EXPECT_EQ(convention_of(row).link, "4 x 200 Gb/s");
  EXPECT_FALSE(convention_of(row).dropout);
  row.source_id = "bigscience-v100";
  EXPECT_EQ(convention_of(row).software, "megatron-deepspeed");
}

TEST(SourceConventions, ChosenSoftwareIsForUnknownFrameworksOnly) {
  EXPECT_EQ(convention_of(row_of("in-house")).software, kUsualSoftware);
  EXPECT_EQ(convention_of(row_of("in-house"), "torchtitan").software, "torchtitan");
  EXPECT_EQ(convention_of(row_of("in-house"), "torchtitan").zero, 3);
  EXPECT_EQ(convention_of(row_of("in-house"), "a-profile-of-mine").software, "a-profile-of-mine");
  EXPECT_EQ(convention_of(row_of("MaxText"), "torchtitan").software, "maxtext");
}

}  // namespace
}  // namespace orrery
