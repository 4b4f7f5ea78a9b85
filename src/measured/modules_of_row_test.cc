// Which modules a row's words name.
#include "measured/modules_of_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "catalog/catalog.h"
#include "model/transformer/transformer.h"

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

std::optional<std::vector<RecomputeModule>> named(const char* detail, std::int64_t experts = 0) {
  MeasuredRow row;
  row.recompute = "selective";
  row.recompute_detail = detail;
  row.num_experts = experts;
  return modules_of_row(row, convention_of(row));
}

TEST(ModulesOfRow, AreReadInTheWordsOfEachSource) {
  using enum RecomputeModule;
  EXPECT_THAT(named(""), Optional(IsEmpty()));
  EXPECT_THAT(named("['moe', 'layernorm', 'core_attn', 'moe_act']", 128),
              Optional(ElementsAre(moe, layernorm, core_attn, moe_act)));
  EXPECT_THAT(named("moe_act layernorm", 128), Optional(ElementsAre(moe_act, layernorm)));
  EXPECT_THAT(named("norm, act", 128), Optional(ElementsAre(layernorm, moe_act)));
  EXPECT_THAT(named("norm, act"), Optional(ElementsAre(layernorm, mlp_act)));
  EXPECT_THAT(named("['mlp']", 256), Optional(ElementsAre(mlp)));
  EXPECT_THAT(named("remat minimal_with_context"), Optional(ElementsAre(layernorm, mlp_act)));
  EXPECT_EQ(named("remat minimal"), std::nullopt);
  EXPECT_EQ(named("remat custom: MLP recomputed"), std::nullopt);
}

TEST(ModulesOfRow, WhatTheModelHasNotIsLeftOutAndSaid) {
  const Model dense =
      *build_model(*read_architecture(*Catalog::built_in().find("models", "llama-3-8b")));
  Plan plan = *parse_plan("recompute=selective,recompute_modules=layernorm+moe_act");
  std::vector<std::string> assumed;
  drop_absent_modules(plan, dense, assumed);
  EXPECT_THAT(plan.recompute_modules, ElementsAre(RecomputeModule::layernorm));
  EXPECT_THAT(assumed, ElementsAre("recompute module moe_act left out: it needs experts"));
  // Without any module nothing runs again: not the attention core, which none stated would be.
  plan = *parse_plan("recompute=selective,recompute_modules=moe_act");
  drop_absent_modules(plan, dense, assumed);
  EXPECT_EQ(plan.recompute, Recompute::none);
  plan = *parse_plan("recompute=selective");
  drop_absent_modules(plan, dense, assumed);
  EXPECT_EQ(plan.recompute, Recompute::selective);
}

}  // namespace
}  // namespace orrery
