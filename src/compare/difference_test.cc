#include "compare/difference.h"

#include <gtest/gtest.h>

#include "trace/hand_made_step.h"

namespace orrery {
namespace {

double seconds(Seconds s) { return s.value(); }

Seconds sum_of_differences(const Difference& d) {
  Seconds sum = d.end_second() - d.end_first();
  for (const DifferenceRow& row : d.rows) sum += row.difference();
  return sum;
}

StepProfile profile_of(const RecordedTrace& trace) {
  auto profile = step_profile(std::span(&trace, 1));
  EXPECT_TRUE(profile) << profile.error().text();
  return std::move(*profile);
}

// Two products and a copy, launched one after the other.
HandMadeStep first_step() {
  HandMadeStep step;
  step.window(4, 0, 1000);
  step.launch("aten::mm", "[[8, 8], [8, 8]]", "gemm_a", 10, 100, 200);
  step.launch("aten::mm", "[[8, 8], [8, 8]]", "gemm_a", 50, 300, 200);
  step.launch("aten::add", "[[8, 8]]", "add", 700, 720, 30);
  return step;
}

TEST(StepProfile, BooksEveryNanosecondOnce) {
  HandMadeStep step = first_step();
  const RecordedTrace trace = step.trace();
  const StepProfile profile = profile_of(trace);
  EXPECT_EQ(profile.steps, 1);
  EXPECT_EQ(profile.step_ns, 1000);
  ASSERT_EQ(profile.lines.size(), 2u);
  // Idle until the first launch at 10, then the launch takes until 100.
  EXPECT_EQ(profile.lines[0].name, "aten::mm");
  EXPECT_EQ(profile.lines[0].times.calls, 2);
  EXPECT_EQ(profile.lines[0].times.owned_ns, 400);
  EXPECT_EQ(profile.lines[0].times.late_ns, 10);
  EXPECT_EQ(profile.lines[0].times.latency_ns, 90);
  // Idle from 500 to the launch at 700, 20 more to the start.
  EXPECT_EQ(profile.lines[1].times.late_ns, 200);
  EXPECT_EQ(profile.lines[1].times.latency_ns, 20);
  EXPECT_EQ(profile.lines[1].times.owned_ns, 30);
  EXPECT_EQ(profile.end_ns, 250);
}

TEST(StepProfile, GivesOverlapToWhatComputes) {
  HandMadeStep step;
  step.window(1, 0, 400);
  step.launch("aten::mm", "", "gemm", 0, 0, 200);
  step.launch("c10d::allreduce_", "", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 1, 100, 250, 9);
  const RecordedTrace trace = step.trace();
  const StepProfile profile = profile_of(trace);
  ASSERT_EQ(profile.lines.size(), 2u);
  EXPECT_EQ(profile.lines[1].name, "AllReduce");
  EXPECT_EQ(profile.lines[1].kind, LineKind::communication);
  EXPECT_EQ(profile.lines[1].times.busy_ns, 250);
  EXPECT_EQ(profile.lines[1].times.owned_ns, 150);
  EXPECT_EQ(profile.lines[1].times.hidden_ns(), 100);
  const StepParts p = parts(profile);
  EXPECT_DOUBLE_EQ(seconds(p.computing), 200e-9);
  EXPECT_DOUBLE_EQ(seconds(p.exposed_communication), 150e-9);
  EXPECT_DOUBLE_EQ(seconds(p.end), 50e-9);
}

TEST(StepProfile, ClipsWorkAtTheWindowAndCountsItWhereItStarts) {
  HandMadeStep step;
  step.window(1, 0, 100);
  step.window(2, 100, 100);
  step.launch("aten::mm", "", "gemm", 0, 50, 100);
  const RecordedTrace trace = step.trace();
  ProfileOptions options;
  options.step = 2;
  const auto second = step_profile(std::span(&trace, 1), options);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->lines[0].times.calls, 0);
  EXPECT_EQ(second->lines[0].times.owned_ns, 50);
  EXPECT_EQ(second->end_ns, 50);
  const StepProfile both = profile_of(trace);
  EXPECT_EQ(both.steps, 2);
  EXPECT_EQ(both.lines[0].times.owned_ns, 100);
}

TEST(StepProfile, BooksAHostWithoutDevicesOnTheInnermostOperator) {
  HandMadeStep step;
  step.window(1, 0, 100);
  step.host_operator("aten::linear", "", 10, 60);
  step.host_operator("aten::addmm", "", 20, 30);
  const RecordedTrace trace = step.trace();
  const StepProfile profile = profile_of(trace);
  ASSERT_EQ(profile.lines.size(), 2u);
  EXPECT_EQ(profile.lines[0].times.owned_ns, 30);
  EXPECT_EQ(profile.lines[1].times.owned_ns, 30);
  EXPECT_EQ(profile.lines[1].context, "aten::linear");
  EXPECT_EQ(profile.end_ns, 40);
}

TEST(StepProfile, SaysWhichStepsAndRanksThereAre) {
  HandMadeStep step = first_step();
  RecordedTrace trace = step.trace();
  trace.rank = 3;
  ProfileOptions options;
  options.step = 9;
  auto result = step_profile(std::span(&trace, 1), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().text(), "made.json: there is no step 9 (steps: 4)");
  options = {};
  options.rank = 0;
  result = step_profile(std::span(&trace, 1), options);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().text(), "made.json: there is no rank 0 (ranks: 3)");
  const RecordedTrace empty;
  EXPECT_FALSE(step_profile(std::span(&empty, 1)));
}

TEST(Difference, OfARunWithItselfIsNothing) {
  HandMadeStep step = first_step();
  const RecordedTrace trace = step.trace();
  const Difference d = difference(profile_of(trace), profile_of(trace));
  for (const DifferenceRow& row : d.rows) {
    EXPECT_EQ(row.alignment, Alignment::same);
    for (const Seconds cause : row.causes) EXPECT_EQ(seconds(cause), 0);
  }
}

TEST(Difference, SplitsARowIntoCallsAndWork) {
  HandMadeStep slower;
  slower.window(4, 0, 1400);
  for (int i = 0; i < 3; ++i) {
    slower.launch("aten::mm", "[[8, 8], [8, 8]]", "gemm_b", 10 + i, 100 + 300 * i, 300);
  }
  slower.launch("aten::add", "[[8, 8]]", "add", 1300, 1320, 30);
  const RecordedTrace before = first_step().trace();
  const RecordedTrace after = slower.trace();
  const Difference d = difference(profile_of(before), profile_of(after));
  EXPECT_NEAR(seconds(d.step_second() - d.step_first()), 400e-9, 1e-15);
  EXPECT_NEAR(seconds(sum_of_differences(d)), 400e-9, 1e-15);
  const DifferenceRow& products = d.rows[0];
  // 2 calls of 200 became 3 calls of 300: one more of 200, and 100 more for each of 3.
  EXPECT_NEAR(seconds(products[DifferenceCause::calls]), 200e-9, 1e-15);
  EXPECT_NEAR(seconds(products[DifferenceCause::work]), 300e-9, 1e-15);
  EXPECT_EQ(products.main_cause(), DifferenceCause::work);
  EXPECT_FALSE(same_kernels(d, products));
  const DifferenceRow& addition = d.rows[1];
  EXPECT_NEAR(seconds(addition[DifferenceCause::late]), 100e-9, 1e-15);
  EXPECT_EQ(addition.main_cause(), DifferenceCause::late);
  EXPECT_TRUE(same_kernels(d, addition));
}

TEST(Difference, FindsCommunicationThatIsNoLongerHidden) {
  const char* all_reduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";
  HandMadeStep hidden;
  hidden.window(1, 0, 400);
  hidden.launch("aten::mm", "", "gemm", 0, 0, 300);
  hidden.launch("c10d::allreduce_", "", all_reduce, 1, 100, 150, 9);
  HandMadeStep exposed;
  exposed.window(1, 0, 500);
  exposed.launch("aten::mm", "", "gemm", 0, 0, 300);
  exposed.launch("c10d::allreduce_", "", all_reduce, 1, 300, 150, 9);
  const Difference d = difference(profile_of(hidden.trace()), profile_of(exposed.trace()));
  EXPECT_EQ(d.rows[0].main_cause(), DifferenceCause::overlap);
  EXPECT_NEAR(seconds(d.rows[0].difference()), 150e-9, 1e-15);
}

TEST(Difference, TellsWaitingFromTransfer) {
  const char* all_reduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)";
  const auto run = [&](std::int64_t late) {
    std::vector<RecordedTrace> ranks;
    for (const std::int64_t start : {std::int64_t{0}, late}) {
      HandMadeStep step;
      step.window(1, 0, 500);
      step.launch("c10d::allreduce_", "", all_reduce, start, start, late + 100 - start, 9);
      ranks.push_back(step.trace());
      ranks.back().rank = start == 0 ? 0 : 1;
    }
    return ranks;
  };
  const std::vector<RecordedTrace> even = run(10);
  const std::vector<RecordedTrace> uneven = run(210);
  ProfileOptions rank_0;
  rank_0.rank = 0;
  const Difference d = difference(*step_profile(even, rank_0), *step_profile(uneven, rank_0));
  EXPECT_NEAR(seconds(d.rows[0][DifferenceCause::waiting]), 200e-9, 1e-15);
  EXPECT_NEAR(seconds(d.rows[0][DifferenceCause::work]), 0, 1e-15);
}

TEST(Difference, AlignsOtherShapesAndReplacedGroups) {
  HandMadeStep before;
  before.window(1, 0, 1000);
  before.launch("aten::mm", "[[8, 8]]", "gemm", 0, 0, 100);
  before.host_operator("aten::scaled_dot_product_attention", "", 100, 300);
  before.launch("aten::bmm", "", "bmm", 110, 120, 100);
  before.launch("aten::softmax", "", "softmax", 230, 240, 100);
  HandMadeStep after;
  after.window(1, 0, 1000);
  after.launch("aten::mm", "[[16, 8]]", "gemm", 0, 0, 150);
  after.host_operator("aten::scaled_dot_product_attention", "", 150, 60);
  after.launch("aten::_flash_attention_forward", "", "flash_fwd", 160, 170, 50);
  after.launch("aten::dropout", "", "dropout", 215, 220, 10);
  const Difference d = difference(profile_of(before.trace()), profile_of(after.trace()));
  ASSERT_EQ(d.rows.size(), 3u);
  EXPECT_EQ(d.rows[0].alignment, Alignment::replaced);
  EXPECT_EQ(d.rows[0].first.size(), 2u);
  EXPECT_EQ(d.rows[0].second.size(), 1u);
  bool other_shapes = false;
  bool only_second = false;
  for (const DifferenceRow& row : d.rows) {
    other_shapes |= row.alignment == Alignment::other_shapes;
    only_second |= row.alignment == Alignment::only_second;
  }
  EXPECT_TRUE(other_shapes);
  EXPECT_TRUE(only_second);
  EXPECT_NEAR(seconds(sum_of_differences(d)), 0, 1e-15);
}

}  // namespace
}  // namespace orrery
