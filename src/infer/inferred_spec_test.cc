#include "infer/inferred_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/recorded_run.h"

namespace orrery {
namespace {

using testing::HasSubstr;

std::vector<RecordedTrace> run_of(const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  for (const std::string& file : files) {
    paths.push_back(std::string(ORRERY_SOURCE_DIR) + "/validation/traces/" + file);
  }
  auto run = read_run(paths);
  EXPECT_TRUE(run) << run.error().text();
  return run ? std::move(run->ranks) : std::vector<RecordedTrace>{};
}

std::vector<std::string> megatron() {
  std::vector<std::string> out;
  for (int rank = 0; rank < 8; ++rank) {
    out.push_back("astra-sim/megatron-tp8/kineto_rank" + std::to_string(rank) + ".json.gz");
  }
  return out;
}

TEST(InferredSpec, FindsMegatronOnEightRanks) {
  // validation/traces/astra-sim/README.md: 40 layers, hidden 4096, 64 heads, sequence 2048,
  // micro-batch 4, fp16, vocabulary 51200, forward only, TP 8 on A100.
  const auto spec = inferred_spec(run_of(megatron()), Catalog::built_in());
  ASSERT_TRUE(spec) << spec.error().text();
  EXPECT_EQ(spec->architecture.num_layers, 40);
  EXPECT_EQ(spec->architecture.hidden, 4096);
  EXPECT_EQ(spec->architecture.num_heads, 64);
  EXPECT_EQ(spec->architecture.num_kv_heads, 64);
  EXPECT_EQ(spec->architecture.head_dim, 64);
  EXPECT_EQ(spec->architecture.ffn_hidden, 16384);
  EXPECT_EQ(spec->architecture.ffn, FeedForwardKind::gelu);
  EXPECT_EQ(spec->architecture.vocab, 51200);
  EXPECT_EQ(spec->training.sequence_length, 2048);
  EXPECT_EQ(spec->training.precision, NumberFormat::fp16);
  EXPECT_EQ(spec->plan.micro_batch, 4);
  EXPECT_EQ(spec->plan.tp, 8);
  EXPECT_EQ(spec->plan.dp, 1);
  EXPECT_EQ(spec->cluster, "a100-80gb-sxm:8");
  EXPECT_FALSE(spec->backward);
}

TEST(InferredSpec, FindsQwenOnBothAccelerators) {
  // Qwen1.5-0.5B as its authors publish it (catalog/models), batch 16.
  for (const auto& [file, cluster] :
       {std::pair{"h100", "h100-sxm:1"}, std::pair{"mi300", "mi300x:1"}}) {
    const auto spec = inferred_spec(
        run_of({std::string("TraceLens/") + file + "/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"}),
        Catalog::built_in());
    ASSERT_TRUE(spec) << spec.error().text();
    EXPECT_EQ(spec->architecture.num_layers, 24);
    EXPECT_EQ(spec->architecture.hidden, 1024);
    EXPECT_EQ(spec->architecture.num_heads, 16);
    EXPECT_EQ(spec->architecture.ffn_hidden, 2816);
    EXPECT_EQ(spec->architecture.ffn, FeedForwardKind::swiglu);
    EXPECT_EQ(spec->architecture.vocab, 151936);
    EXPECT_EQ(spec->plan.micro_batch, 16);
    EXPECT_EQ(spec->plan.tp, 1);
    EXPECT_EQ(spec->training.precision, NumberFormat::bf16);
    EXPECT_EQ(spec->cluster, cluster);
  }
}

TEST(InferredSpec, IsPredictedBesideWhatWasRecorded) {
  const auto compared = inferred_comparison(run_of(megatron()), Catalog::built_in());
  ASSERT_TRUE(compared) << compared.error().text();
  // Kernels without waiting: 130 ms of computing and 50 ms of transfers (README of the recording).
  EXPECT_NEAR(compared->recorded.value(), 0.180, 0.005);
  EXPECT_NEAR(compared->predicted / compared->recorded, 1, 0.3);
}

TEST(InferredSpec, SaysWhatCannotBeTold) {
  auto spec =
      inferred_spec(run_of({"megatron-lm-fork/tp2/kineto_rank0.json.gz"}), Catalog::built_in());
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().text(), HasSubstr("cannot be told: shapes of operators (record with"));
  spec = inferred_spec(run_of({"ao/ref_ep_moe_fwd.json.gz"}), Catalog::built_in());
  ASSERT_FALSE(spec);
  EXPECT_THAT(spec.error().text(), HasSubstr("cannot be told: how experts are divided"));
  spec = inferred_spec({}, Catalog::built_in());
  ASSERT_FALSE(spec);
}

}  // namespace
}  // namespace orrery
