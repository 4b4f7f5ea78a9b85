#include "trace/trace_summary.h"

#include <gmock/gmock.h>

#include "trace/kineto/kineto.h"
#include "trace/published_traces.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

TraceSummary summary_of(const std::string& file) { return summary(*read_kineto(kTraces + file)); }

// Figures of validation/traces/megatron-lm-fork/README.md and metrics.json.
TEST(TraceSummary, CountsWhatWasRecorded) {
  const TraceSummary s = summary_of("megatron-lm-fork/tp2/kineto_rank0.json.gz");
  EXPECT_EQ(s.events[static_cast<std::size_t>(EventKind::kernel)], 217);
  EXPECT_EQ(s.communication_kernels, 13);
  EXPECT_EQ(s.described_kernels, 13);
  EXPECT_EQ(s.streams, 2);
  EXPECT_EQ(s.devices, 1);
  EXPECT_EQ(s.device, "Tesla V100-PCIE-32GB");
  ASSERT_EQ(s.steps.size(), 1U);
  EXPECT_EQ(s.steps[0].name, "ProfilerStep#6");
  EXPECT_NEAR(s.steps[0].duration.value(), 62.618e-3, 1e-6);
  EXPECT_NEAR(s.span.value(), 63.376e-3, 1e-6);
}

// metrics.json: corr_cov of sst_long_a2a_optimizer_4 rank 0.
TEST(TraceSummary, CountsLaunchesThatAreMissing) {
  const TraceSummary s = summary_of("torchrec/sst_long_a2a_optimizer_4/kineto_rank0.json.gz");
  EXPECT_EQ(s.device_work, 715);
  EXPECT_NEAR(static_cast<double>(s.device_work_launched) / 715, 0.8727, 5e-4);
}

TEST(TraceSummary, OfNothingIsNothing) {
  const TraceSummary s = summary(RecordedTrace());
  EXPECT_EQ(s.span.value(), 0);
  EXPECT_EQ(s.device_work, 0);
  EXPECT_TRUE(s.steps.empty());
}

}  // namespace
}  // namespace orrery
