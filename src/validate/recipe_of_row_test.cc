// What recipes say of rows with experts.
#include "validate/recipe_of_row.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

MeasuredRow bridge(std::string model, std::string accelerator, std::int64_t pp, std::int64_t vpp,
                   std::string notes) {
  MeasuredRow row;
  row.source_id = "megatron-bridge";
  row.model = std::move(model);
  row.accelerator = std::move(accelerator);
  row.num_experts = 256;
  row.num_layers = 61;
  row.precision = "mxfp8";
  row.pp = pp;
  row.vpp = vpp;
  row.notes = std::move(notes);
  return row;
}

// DEEPSEEK_V3_PRETRAIN_CONFIG_GB300_FP8_MX_V1 of release 0.5: pp_layout "Et*4|(t*4|)*14tmL".
TEST(RecipeOfRow, TheLastVirtualStageOfDeepSeekHoldsOneLayer) {
  const Recipe r =
      recipe_of_row(bridge("DeepSeekV3", "gb300", 2, 8, "at tag v0.5.1; cuda_graph_scope=[]"));
  ASSERT_EQ(r.layers.size(), 16u);
  EXPECT_EQ(r.layers.front(), 4);
  EXPECT_EQ(r.layers.back(), 1);
  EXPECT_EQ(r.dispatch, ExpertDispatch::deduplicated);
  EXPECT_TRUE(r.expert_batches);
  EXPECT_TRUE(r.whole_step_graph);
  EXPECT_TRUE(r.narrow_gradients);
  // map_pp_vp_to_layout: (8, 1) is seven stages of 8 and one of 5.
  EXPECT_EQ(recipe_of_row(bridge("DeepSeekV3", "b300-sxm", 8, 1, "")).layers.back(), 5);
}

TEST(RecipeOfRow, EarlierReleasesOverlapNothing) {
  const Recipe r =
      recipe_of_row(bridge("DeepSeekV3", "gb300", 2, 8, "at tag v0.4.1; cuda_graph_scope=[]"));
  EXPECT_FALSE(r.expert_batches);
  EXPECT_FALSE(r.whole_step_graph);
}

TEST(RecipeOfRow, QwenOnServersOfEightUsesPlainAllToAll) {
  EXPECT_EQ(recipe_of_row(bridge("Qwen3-235B-A22B", "b200-sxm", 8, 1, "")).dispatch,
            ExpertDispatch::all_to_all);
  EXPECT_TRUE(recipe_of_row(bridge("Qwen3-235B-A22B", "h100-sxm", 8, 4, "")).expert_batches);
}

TEST(RecipeOfRow, LlamaReducesInSixteenBits) {
  MeasuredRow row = bridge("Llama3-405B", "gb200", 16, 4, "");
  row.num_experts = std::nullopt;
  EXPECT_TRUE(recipe_of_row(row).narrow_gradients);
  row.source_id = "mlperf";
  EXPECT_FALSE(recipe_of_row(row).narrow_gradients);
}

TEST(RecipeOfRow, OtherSourcesSayItInWords) {
  MeasuredRow row;
  row.num_experts = 128;
  row.source_id = "megatron-moe-modelzoo";
  row.notes = "DeepEP; 1F1B expert-communication overlap";
  const Recipe r = recipe_of_row(row);
  EXPECT_EQ(r.dispatch, ExpertDispatch::deduplicated);
  EXPECT_TRUE(r.expert_batches);
  EXPECT_TRUE(r.layers.empty());
  row.num_experts = 0;
  EXPECT_EQ(recipe_of_row(row).dispatch, ExpertDispatch::all_to_all);
}

}  // namespace
}  // namespace orrery
