// Which call and operator launched what, and what was launched before a recording began.
#include "trace/launch_links.h"

#include <gtest/gtest.h>

#include "trace/hand_made_step.h"
#include "trace/hand_made_trace.h"

namespace orrery {
namespace {

RecordedTrace two_kernels() {
  HandMadeStep step;
  step.host_operator("aten::linear", "", 0, 40);
  step.launch("aten::addmm", "", "gemm", 10, 20, 30);
  step.launch("aten::relu", "", "elementwise", 60, 70, 5);
  return step.trace();
}

std::uint32_t event_of(const RecordedTrace& trace, std::string_view name) {
  std::uint32_t event = 0;
  while (trace.name_of(event) != name) ++event;
  return event;
}

TEST(LaunchLinks, FindTheCallTheInnermostAndTheOutermostOperator) {
  const RecordedTrace trace = two_kernels();
  const LaunchLinks links = launch_links(trace);
  const std::uint32_t gemm = event_of(trace, "gemm");
  EXPECT_EQ(trace.name_of(links.call[gemm]), "cudaLaunchKernel");
  EXPECT_EQ(trace.name_of(links.inner_operator[gemm]), "aten::addmm");
  EXPECT_EQ(trace.name_of(links.outer_operator(gemm)), "aten::linear");
  EXPECT_EQ(trace.name_of(links.outer_operator(event_of(trace, "elementwise"))), "aten::relu");
  EXPECT_TRUE(links.is_launched(gemm));
}

TEST(LaunchLinks, LeadFromAKernelToTheInnermostOperator) {
  HandMadeTrace made;
  const std::uint32_t linear = made.op("aten::linear", 0, 100);
  const std::uint32_t mm = made.op("aten::mm", 10, 90);
  const std::uint32_t call = made.call(20, 30, 17);
  const std::uint32_t kernel = made.kernel("gemm", 7, 50, 80, 17);
  const std::uint32_t after = made.op("aten::add", 90, 100);
  const std::uint32_t orphan = made.kernel("gemm", 7, 95, 99, 18);
  const LaunchLinks links = launch_links(made.trace);
  EXPECT_EQ(links.call[kernel], call);
  EXPECT_EQ(links.operator_of(kernel), mm);
  EXPECT_EQ(links.inner_operator[mm], linear);
  EXPECT_EQ(links.inner_operator[after], linear);
  EXPECT_EQ(links.inner_operator[linear], kNoEvent);
  EXPECT_EQ(links.operator_of(orphan), kNoEvent);
}

TEST(LaunchLinks, StayLinearWhereOperatorsOverlapWithoutNesting) {
  HandMadeTrace made;
  constexpr int kMany = 200'000;
  for (int i = 0; i < kMany; ++i) made.op("aten::add", i, i + kMany);
  EXPECT_EQ(launch_links(made.trace).inner_operator.back(), kNoEvent);
}

// Microseconds of rank 0 of validation/traces/torchrec/sst_long_a2a_optimizer_2.
TEST(LaunchLinks, PassOverAnOperatorThatEndsWithinTheCall) {
  HandMadeStep step;
  step.host_operator("forward", "", 802, 65);
  step.host_operator("aten::empty", "", 813, 18);
  step.call(822, 28);
  const RecordedTrace trace = step.trace();
  const LaunchLinks links = launch_links(trace);
  const std::uint32_t call = event_of(trace, "cudaLaunchKernel");
  EXPECT_EQ(trace.name_of(links.inner_operator[call]), "forward");
}

// Of rank 0 of sst_long_a2a_optimizer_4: 18 us, of which its operators cover 17 and 16.
TEST(LaunchLinks, GiveACallThatNoOperatorCoversToTheInnermostAtItsStart) {
  HandMadeStep step;
  step.host_operator("aten::linear", "", 778, 118);
  step.host_operator("aten::addmm", "", 792, 103);
  step.call(879, 18);
  const RecordedTrace trace = step.trace();
  const LaunchLinks links = launch_links(trace);
  const std::uint32_t call = event_of(trace, "cudaLaunchKernel");
  EXPECT_EQ(trace.name_of(links.inner_operator[call]), "aten::addmm");
  EXPECT_EQ(trace.name_of(links.outer_operator(call)), "aten::linear");
}

TEST(LaunchLinks, NestNoOperatorsThatOnlyOverlap) {
  HandMadeStep step;
  step.host_operator("A", "", 0, 10);
  step.host_operator("B", "", 5, 10);
  step.call(12, 2);
  const RecordedTrace trace = step.trace();
  const LaunchLinks links = launch_links(trace);
  const std::uint32_t b = event_of(trace, "B");
  const std::uint32_t call = event_of(trace, "cudaLaunchKernel");
  EXPECT_EQ(links.inner_operator[b], kNoEvent);
  EXPECT_EQ(links.inner_operator[call], b);
  EXPECT_EQ(links.outermost[call], b);
}

TEST(LaunchLinks, AnOperatorWithoutDurationCoversACallAtTheSameTime) {
  HandMadeStep step;
  step.host_operator("aten::relu", "", 5, 0);
  step.call(5, 0);
  step.call(6, 0);
  const RecordedTrace trace = step.trace();
  const LaunchLinks links = launch_links(trace);
  const std::uint32_t call = event_of(trace, "cudaLaunchKernel");
  EXPECT_EQ(links.inner_operator[call], event_of(trace, "aten::relu"));
  EXPECT_EQ(links.inner_operator[call + 1], kNoEvent);
}

TEST(LaunchLinks, WorkBeforeTheFirstLaunchedIsEarlier) {
  RecordedTrace trace = two_kernels();
  const auto earlier = [&] { return unlaunched_is_earlier(trace, launch_links(trace)); };
  EXPECT_TRUE(earlier());  // there is none
  trace.correlation[event_of(trace, "gemm")] = kNotRecorded;
  EXPECT_TRUE(earlier());
  // Lost in the middle of the recording, not launched before it.
  trace = two_kernels();
  trace.correlation[event_of(trace, "elementwise")] = kNotRecorded;
  EXPECT_FALSE(earlier());
  // A recording of the device alone: nothing tells.
  trace.correlation[event_of(trace, "gemm")] = kNotRecorded;
  EXPECT_FALSE(earlier());
}

}  // namespace
}  // namespace orrery
