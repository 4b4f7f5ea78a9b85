#include <gtest/gtest.h>

#include "compare/difference.h"
#include "compare/step_work.h"
#include "trace/recorded_run.h"

namespace orrery {
namespace {

std::int64_t owned(const StepProfile& profile, std::string_view name) {
  for (const ProfileLine& line : profile.lines) {
    if (line.name == name) return line.times.owned_ns;
  }
  return 0;
}

TEST(WorkProfile, OfARecordingAddsUpToTheStep) {
  for (const char* file : {"megatron-lm-fork/tp2", "torchrec/sst_long_a2a_optimizer_4",
                           "TraceLens/mi300/resnet_act_checkpoint.json.gz"}) {
    const auto run = read_run({std::string(ORRERY_SOURCE_DIR) + "/validation/traces/" + file});
    ASSERT_TRUE(run) << run.error().text();
    const auto profile = step_profile(run->ranks);
    ASSERT_TRUE(profile) << profile.error().text();
    const StepProfile by_work = profile_by_work(*profile);
    EXPECT_EQ(by_work.step_ns, profile->step_ns);
    std::int64_t sum = 0;
    for (const ProfileLine& line : by_work.lines) sum += line.times.contribution_ns();
    EXPECT_EQ(sum, profile->step_ns) << file;
    EXPECT_GT(owned(by_work, "matrix products"), 0) << file;
    EXPECT_GT(owned(by_work, "idle"), 0) << file;
  }
}

TEST(WorkProfile, OfAPredictionAddsUpToTheStep) {
  Breakdown predicted;
  predicted[Category::feed_forward] = Picoseconds(30e9);
  predicted[Category::logits] = Picoseconds(5e9);
  predicted[Category::attention_core] = Picoseconds(10e9);
  predicted[Category::exposed_tp] = Picoseconds(4e9);
  predicted[Category::exposed_dp] = Picoseconds(6e9);
  predicted[Category::bubble] = Picoseconds(8e9);
  const StepProfile profile = predicted_profile(predicted);
  EXPECT_EQ(profile.step_ns, 63'000'000);
  EXPECT_EQ(owned(profile, "matrix products"), 35'000'000);
  EXPECT_EQ(owned(profile, "attention"), 10'000'000);
  EXPECT_EQ(owned(profile, "communication, exposed"), 10'000'000);
  EXPECT_EQ(owned(profile, "idle"), 8'000'000);
}

TEST(WorkProfile, ProductsOfUnfusedAttentionAreAttention) {
  const auto line = [](const char* op, const char* kernel, std::int64_t ns) {
    ProfileLine out;
    out.name = op;
    out.times.owned_ns = ns;
    out.kernels = {{kernel, ns}};
    return out;
  };
  StepProfile recorded;
  recorded.steps = 1;
  recorded.lines = {line("aten::mm", "ampere_fp16_s16816gemm_fp16", 100),
                    line("aten::baddbmm", "ampere_fp16_s16816gemm_fp16", 10),
                    line("aten::_softmax", "softmax_warp_forward", 7),
                    line("aten::bmm", "ampere_fp16_s16816gemm_fp16", 12)};
  StepProfile by_work = profile_by_work(recorded);
  EXPECT_EQ(owned(by_work, "matrix products"), 100);
  EXPECT_EQ(owned(by_work, "attention"), 29);
  // Beside a fused kernel a batched product is something else: experts, or an interaction.
  recorded.lines.push_back(line("aten::_flash_attention_forward", "flash_fwd_kernel", 30));
  by_work = profile_by_work(recorded);
  EXPECT_EQ(owned(by_work, "matrix products"), 122);
  EXPECT_EQ(owned(by_work, "attention"), 30);
  EXPECT_EQ(owned(by_work, "elementwise and others"), 7);  // the softmax of a loss, or a router
}

TEST(WorkProfile, WhatOneSideCannotTellIsCountedWithTheOthers) {
  Breakdown a;
  a[Category::feed_forward] = Picoseconds(30e9);
  a[Category::elementwise] = Picoseconds(20e9);
  Breakdown b = a;
  b[Category::elementwise] = Picoseconds(12e9);
  b[Category::normalization] = Picoseconds(7e9);
  StepProfile chains = predicted_profile(a);
  StepProfile norms = predicted_profile(b);
  fold_untold_work(chains, norms);
  EXPECT_EQ(owned(norms, "normalization"), 0);
  EXPECT_EQ(owned(norms, "elementwise and others"), 19'000'000);
  EXPECT_EQ(owned(chains, "elementwise and others"), 20'000'000);
  // Told apart by both: a row of its own.
  StepProfile same = predicted_profile(b);
  StepProfile other = predicted_profile(b);
  fold_untold_work(same, other);
  EXPECT_EQ(owned(same, "normalization"), 7'000'000);
}

TEST(WorkProfile, DifferencesAddUp) {
  Breakdown a;
  a[Category::feed_forward] = Picoseconds(30e9);
  a[Category::recompute] = Picoseconds(7e9);
  Breakdown b;
  b[Category::feed_forward] = Picoseconds(20e9);
  b[Category::exposed_dp] = Picoseconds(9e9);
  const Difference d = difference(predicted_profile(a), predicted_profile(b));
  Seconds sum;
  for (const DifferenceRow& row : d.rows) sum += row.difference();
  EXPECT_NEAR((d.step_second() - d.step_first()).value(), sum.value(), 1e-12);
  EXPECT_NEAR(sum.value(), -8e-3, 1e-12);
  // Largest first, and nothing is aligned with another kind.
  ASSERT_EQ(d.rows.size(), 3u);
  EXPECT_NEAR(d.rows[0].difference().value(), -10e-3, 1e-12);
  EXPECT_EQ(d.rows[1].alignment, Alignment::only_second);
  EXPECT_EQ(d.rows[2].alignment, Alignment::only_first);
}

}  // namespace
}  // namespace orrery
