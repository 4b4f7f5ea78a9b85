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
  EXPECT_EQ(launch_links(made.trace).inner_operator.back(), kMany - 2);
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
