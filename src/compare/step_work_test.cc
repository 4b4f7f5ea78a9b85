#include "compare/step_work.h"

#include <gtest/gtest.h>

#include <set>

namespace orrery {
namespace {

ProfileLine line(const char* op, const char* kernel, LineKind kind = LineKind::computing) {
  ProfileLine out;
  out.name = op;
  out.kind = kind;
  out.kernels = {{kernel, 100}};
  return out;
}

constexpr AttentionScores kFused = AttentionScores::in_kernels_of_attention;

TEST(StepWork, OfAnOperatorIsThatOfItsLongestKernel) {
  EXPECT_EQ(work_of(line("aten::mm", "ampere_fp16_s16816gemm_fp16"), kFused), StepWork::products);
  EXPECT_EQ(work_of(line("aten::add", "vectorized_elementwise_kernel"), kFused), StepWork::others);
  // No product of a transformer, and predicted nowhere.
  EXPECT_EQ(work_of(line("aten::cudnn_convolution", "cudnn_convolve_sgemm"), kFused),
            StepWork::convolutions);
  // A copy that an operator of products makes is a copy.
  EXPECT_EQ(work_of(line("aten::addmm", "Memcpy DtoD", LineKind::copying), kFused),
            StepWork::copies);
  EXPECT_EQ(work_of(line("allreduce", "ncclKernel", LineKind::communication), kFused),
            StepWork::communication);
  EXPECT_EQ(work_of(line("aten::mm", "aten::mm", LineKind::host), kFused), StepWork::idle);
}

TEST(StepWork, OfBatchedProductsIsAttentionWhereNothingFusesIt) {
  StepProfile profile;
  profile.lines = {line("aten::bmm", "ampere_fp16_s16816gemm_fp16"),
                   line("aten::_softmax", "softmax_warp_forward")};
  EXPECT_EQ(attention_scores(profile), AttentionScores::in_batched_products);
  for (const ProfileLine& l : profile.lines) {
    EXPECT_EQ(work_of(l, attention_scores(profile)), StepWork::attention);
  }
  profile.lines.push_back(line("aten::_flash_attention_forward", "flash_fwd_kernel"));
  EXPECT_EQ(attention_scores(profile), kFused);
  EXPECT_EQ(work_of(profile.lines[0], kFused), StepWork::products);
  EXPECT_EQ(work_of(profile.lines[1], kFused), StepWork::others);
}

// Predicted recomputation is no work of a kind of its own in a recording, nor something unknown.
TEST(StepWork, OfEveryCategoryIsKnown) {
  EXPECT_EQ(work_of(Category::recompute), StepWork::recomputation);
  EXPECT_EQ(work_of(Category::contention), StepWork::contention);
  EXPECT_EQ(work_of(Category::router), StepWork::others);
  EXPECT_EQ(work_of(Category::exposed_pp), StepWork::communication);
  EXPECT_EQ(work_of(Category::host), StepWork::idle);
  std::set<std::string_view> names;
  for (std::size_t w = 0; w < kStepWorks; ++w) names.insert(to_text(static_cast<StepWork>(w)));
  EXPECT_EQ(names.size(), kStepWorks);
}

}  // namespace
}  // namespace orrery
