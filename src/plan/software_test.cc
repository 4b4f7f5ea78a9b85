// Profiles of the catalog: the default is the one of the code, every one reads, names are their
// own.
#include "plan/software.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/schedule.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;

TEST(Software, TheDefaultIsTheCatalogsEntry) {
  const SoftwareProfile code;
  const auto entry = load_software(Catalog::built_in(), code.name);
  ASSERT_TRUE(entry) << entry.error().text();
  EXPECT_EQ(entry->norm, code.norm);
  EXPECT_EQ(entry->activation, code.activation);
  EXPECT_EQ(entry->rotary, code.rotary);
  EXPECT_EQ(entry->residual, code.residual);
  EXPECT_EQ(entry->cross_entropy, code.cross_entropy);
  EXPECT_EQ(entry->optimizer, code.optimizer);
  EXPECT_EQ(entry->attention_copies, code.attention_copies);
  EXPECT_EQ(entry->attends_in_pieces, code.attends_in_pieces);
  EXPECT_EQ(entry->accumulation, code.accumulation);
  EXPECT_EQ(entry->transfers, code.transfers);
  EXPECT_EQ(entry->shard_transfers, code.shard_transfers);
  EXPECT_EQ(entry->gradient_exchange, code.gradient_exchange);
  EXPECT_EQ(entry->copies_sequence_shards, code.copies_sequence_shards);
  EXPECT_EQ(entry->memory, code.memory);
  EXPECT_EQ(entry->overlaps_input_gradients, code.overlaps_input_gradients);
  EXPECT_EQ(entry->clips_gradients, code.clips_gradients);
  EXPECT_EQ(entry->scales_loss, code.scales_loss);
  EXPECT_EQ(entry->host, code.host);
}

TEST(Software, FactsWithoutASourceAreRefused) {
  const auto profile =
      read_software(*parse_yaml("name: x\ntitle: X\nprovenance: {source: \"\"}\n", "x.yaml"));
  ASSERT_FALSE(profile);
  EXPECT_EQ(profile.error().text(),
            "x.yaml: provenance.source is empty (the paper, page or file that states the facts of "
            "the profile)");
}

TEST(Software, EveryEntryReadsAndIsNamedAsItsFile) {
  const auto names = Catalog::built_in().names("software");
  EXPECT_GE(names.size(), 10U);
  for (const std::string& name : names) {
    const auto entry = load_software(Catalog::built_in(), name);
    ASSERT_TRUE(entry) << entry.error().text();
    EXPECT_EQ(entry->name, name);
    EXPECT_FALSE(entry->title.empty()) << name;
    EXPECT_FALSE(entry->provenance.source.empty()) << name;
  }
}

// Every entry says which schedules it has, or that it has no pipeline; those of Megatron-Core are
// the two kinds of 1F1B, and the plans that it cannot run are named.
TEST(Software, EveryEntrySaysWhichSchedulesItHas) {
  for (const std::string& name : Catalog::built_in().names("software")) {
    const auto entry = load_software(Catalog::built_in(), name);
    ASSERT_TRUE(entry) << entry.error().text();
    ASSERT_TRUE(entry->schedules) << name;
    for (const std::string& schedule : *entry->schedules) {
      const auto known = find_schedule(schedule);
      ASSERT_TRUE(known) << known.error().text();
      EXPECT_EQ((*known)->name, schedule) << name;
      EXPECT_TRUE(has_schedule(*entry, schedule));
    }
  }
  const auto megatron = load_software(Catalog::built_in(), SoftwareProfile().name);
  EXPECT_EQ(megatron->schedules, (std::vector<std::string>{"1f1b", "interleaved_1f1b"}));
  Plan plan;
  plan.schedule = "dualpipev";
  EXPECT_EQ(lacking_schedule(*megatron, plan), "");  // one stage
  plan.pp = 4;
  EXPECT_EQ(lacking_schedule(*megatron, plan),
            "megatron-core-0.12 does not have dualpipev, only 1f1b, interleaved_1f1b");
  EXPECT_EQ(lacking_schedule(*load_software(Catalog::built_in(), "torchtitan"), plan), "");
  EXPECT_EQ(lacking_schedule(*load_software(Catalog::built_in(), "llm-foundry"), plan),
            "llm-foundry has no pipeline");
  plan.schedule = "interleaved-1f1b";
  EXPECT_EQ(lacking_schedule(*megatron, plan), "");
}

// A pipeline without a stated schedule runs one that the software has.
TEST(Software, ChoosesAScheduleThatItHas) {
  const auto chosen = [](const char* software, std::int64_t chunks) {
    Plan plan;
    plan.pp = 4;
    plan.chunks = chunks;
    choose_schedule(plan, *load_software(Catalog::built_in(), software));
    return plan.schedule;
  };
  EXPECT_EQ(chosen("maxtext", 1), "gpipe");
  EXPECT_EQ(chosen("maxtext", 3), "breadth_first");
  EXPECT_EQ(chosen("megatron-core-0.12", 3), "");  // 1F1B of either kind, as plans are completed
  EXPECT_EQ(chosen("llm-foundry", 1), "");
}

// A profile that does not say which schedules it has rules none out.
TEST(Software, SchedulesThatAreNotKnownAreNotRestricted) {
  const auto profile = [](const std::string& schedules) {
    return read_software(
        *parse_yaml("name: x\ntitle: y\n" + schedules + "provenance: {source: z}\n", "x.yaml"));
  };
  const auto silent = profile("");
  ASSERT_TRUE(silent) << silent.error().text();
  EXPECT_FALSE(silent->schedules);
  Plan plan;
  plan.pp = 2;
  plan.schedule = "chimera";
  EXPECT_EQ(lacking_schedule(*silent, plan), "");
  const auto hyphen = profile("schedules: [interleaved-1f1b]\n");
  ASSERT_TRUE(hyphen) << hyphen.error().text();
  EXPECT_EQ(hyphen->schedules, std::vector<std::string>{"interleaved_1f1b"});
  const auto wrong = profile("schedules: [1f1b, dualpip]\n");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().text(),
            "x.yaml: schedules: unknown schedule 'dualpip' (did you mean 'dualpipe'?)");
}

TEST(Software, AnUnknownNameSaysWhichIsNear) {
  const auto entry = load_software(Catalog::built_in(), "megatron-core-0.13");
  ASSERT_FALSE(entry);
  EXPECT_THAT(entry.error().text(), HasSubstr("megatron-core-0.12"));
}

TEST(Software, AnImpossibleHostTimeIsAnError) {
  const auto document =
      parse_yaml("name: x\ntitle: y\nhost: {kernel: -1 us}\nprovenance: {source: z}\n", "x.yaml");
  ASSERT_TRUE(document);
  const auto profile = read_software(*document);
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().text(), HasSubstr("kernel"));
}

TEST(Software, AnImpossibleCountOfHostWorkIsAnError) {
  for (const char* count : {"kernels: -1", "operators: 100001", "collectives: -2"}) {
    const auto profile =
        read_software(*parse_yaml("name: x\ntitle: y\nhost: {work: [{what: sorting, " +
                                      std::string(count) + "}]}\nprovenance: {source: z}\n",
                                  "x.yaml"));
    ASSERT_FALSE(profile);
    EXPECT_EQ(profile.error().text(),
              "x.yaml: host.work: a count of 'sorting' is out of range (kernels, operators and "
              "collectives from 0 to 100000)");
  }
}

// A graph of a module replaces single launches; other launches have none.
TEST(Software, GraphsOfModulesWithOtherLaunchesAreAnError) {
  const auto profile = [](const std::string& launches) {
    return read_software(*parse_yaml("name: x\ntitle: y\nhost: {launches: " + launches +
                                         ", graph_modules: [attention]}\nprovenance: {source: z}\n",
                                     "x.yaml"));
  };
  EXPECT_TRUE(profile("each"));
  for (const std::string launches : {"compiled", "graphs"}) {
    const auto refused = profile(launches);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().text(),
              "x.yaml: host.graph_modules are given with launches: " + launches +
                  " (write launches: each, or leave graph_modules out)");
  }
}

TEST(Software, AZeroStageThatIsNoneIsAnError) {
  for (const char* stage : {"-1", "4"}) {
    const auto profile = read_software(*parse_yaml(
        "name: x\ntitle: y\npipeline_zero: " + std::string(stage) + "\nprovenance: {source: z}\n",
        "x.yaml"));
    ASSERT_FALSE(profile);
    EXPECT_EQ(profile.error().text(), "x.yaml: pipeline_zero " + std::string(stage) +
                                          " is not a ZeRO stage (0, 1, 2 or 3)");
  }
}

TEST(Software, PlainOneForwardOneBackwardBlocksWhereOnlyChunksOverlap) {
  SoftwareProfile software;
  Plan plain, chunked;
  chunked.chunks = 2;
  blocking_transfers(plain, software);
  blocking_transfers(chunked, software);
  EXPECT_FALSE(plain.overlap.pipeline);
  EXPECT_TRUE(chunked.overlap.pipeline);
  software.transfers = PipelineTransfers::blocking;
  blocking_transfers(chunked, software);
  EXPECT_FALSE(chunked.overlap.pipeline);
}

}  // namespace
}  // namespace orrery
