#include "analyze/temporal_breakdown.h"

#include <gmock/gmock.h>

#include "analyze/steps.h"
#include "trace/hand_made_trace.h"
#include "trace/kineto/kineto.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

// Time in ns. Stream 7 computes, stream 24 communicates.
//
//   0    100   200   300   400   500   600   700
//   |     gemm |      gemm |                       stream 7   [100, 200) [250, 400)
//               | all-reduce    |                  stream 24  [180, 450)
//                                         copy     stream 7   [600, 650)
HandMadeTrace small_run() {
  HandMadeTrace made;
  made.step(3, 0, 700);
  made.op("aten::mm", 40, 90);
  made.call(50, 60, 1);
  made.kernel("gemm", 7, 100, 200, 1);
  made.call(110, 120, 2);
  made.call(130, 140, 3);
  made.kernel("ncclDevKernel_AllReduce_Sum", 24, 180, 450, 2);
  made.kernel("gemm", 7, 250, 400, 3);
  made.call(500, 510, 4, "cudaMemcpyAsync");
  made.add(EventKind::copy, "Memcpy DtoH", made.stream(7), 600, 650, 4);
  return made;
}

TEST(TemporalBreakdown, GivesEveryMomentOfTheWindowToOnePart) {
  const HandMadeTrace made = small_run();
  const TemporalBreakdown parts = temporal_breakdown(made.trace, launch_links(made.trace),
                                                     BreakdownPreset::orrery, Interval{0, 700});
  EXPECT_EQ(parts.compute_ns, 250);
  EXPECT_EQ(parts.communication_ns, 270);
  EXPECT_EQ(parts.overlapped_ns, 170);
  EXPECT_EQ(parts.exposed_communication_ns, 100);
  EXPECT_EQ(parts.exposed_copy_ns, 50);
  EXPECT_EQ(parts.total_ns(), 700);
  EXPECT_EQ(parts.compute_ns + parts.exposed_communication_ns + parts.exposed_copy_ns +
                parts.idle.total_ns(),
            parts.total_ns());
  EXPECT_DOUBLE_EQ(parts.overlap(), 170.0 / 270);
}

TEST(TemporalBreakdown, BlamesTheHostWhereItLaunchedLate) {
  const HandMadeTrace made = small_run();
  const TemporalBreakdown parts = temporal_breakdown(made.trace, launch_links(made.trace),
                                                     BreakdownPreset::orrery, Interval{0, 700});
  // Before the first kernel, before the copy (launched at 500, after 450), and after the last.
  EXPECT_EQ(parts.idle.host_wait_ns, 100 + 150 + 50);
  EXPECT_EQ(parts.idle.kernel_wait_ns, 0);
  EXPECT_EQ(parts.idle.other_ns, 0);
}

TEST(TemporalBreakdown, TakesTheSpanOfTheDeviceWhenNoWindowIsGiven) {
  const HandMadeTrace made = small_run();
  const TemporalBreakdown parts =
      temporal_breakdown(made.trace, launch_links(made.trace), BreakdownPreset::orrery);
  EXPECT_EQ(parts.window, (Interval{100, 650}));
  EXPECT_EQ(parts.idle.total_ns(), 150);
}

TEST(TemporalBreakdown, OfTraceLensOnlyKnowsWorkThatAnOperatorLaunched) {
  const HandMadeTrace made = small_run();
  const TemporalBreakdown parts =
      temporal_breakdown(made.trace, launch_links(made.trace), BreakdownPreset::tracelens);
  EXPECT_EQ(parts.window, (Interval{100, 200}));
  EXPECT_EQ(parts.compute_ns, 100);
  EXPECT_EQ(parts.communication_ns, 0);
}

TEST(TemporalBreakdown, OfHolisticTraceAnalysisLeavesTheLastStepOut) {
  HandMadeTrace made = small_run();
  made.step(4, 700, 900);
  made.call(720, 730, 5);
  made.kernel("gemm", 7, 750, 800, 5);
  const TemporalBreakdown parts =
      temporal_breakdown(made.trace, launch_links(made.trace), BreakdownPreset::hta);
  EXPECT_EQ(parts.window, (Interval{100, 650}));
  EXPECT_EQ(parts.compute_ns, 250);
}

TEST(TemporalBreakdown, OfHolisticTraceAnalysisKeepsAnOnlyStep) {
  const HandMadeTrace made = small_run();
  const TemporalBreakdown parts =
      temporal_breakdown(made.trace, launch_links(made.trace), BreakdownPreset::hta);
  EXPECT_EQ(parts.window, (Interval{100, 650}));
  EXPECT_EQ(parts.compute_ns, 250);
  EXPECT_EQ(parts.exposed_copy_ns, 50);
}

TEST(TemporalBreakdown, OfNoDeviceWorkIsNothing) {
  HandMadeTrace made;
  made.op("aten::mm", 0, 10);
  const TemporalBreakdown parts =
      temporal_breakdown(made.trace, launch_links(made.trace), BreakdownPreset::orrery);
  EXPECT_EQ(parts.total_ns(), 0);
  EXPECT_EQ(parts.idle.total_ns(), 0);
}

// Megatron, tensor parallel 8: host bound where a rank does not wait for others. Counted apart from
// this code: of 222 ms without work on rank 0, in 206 ms the next launch came after the previous
// work had ended; of 7 ms on rank 1 in 6, of 209 ms on rank 6 in 174.
TEST(TemporalBreakdown, TellsAHostBoundRankFromOneThatWaits) {
  struct Counted {
    int rank;
    double idle_ms;
    double host_ms;
  };
  for (const Counted& counted : {Counted{0, 222, 206}, Counted{1, 7, 6}, Counted{6, 209, 174}}) {
    const auto trace =
        read_kineto(ORRERY_SOURCE_DIR "/validation/traces/astra-sim/megatron-tp8/kineto_rank" +
                    std::to_string(counted.rank) + ".json.gz");
    ASSERT_TRUE(trace) << trace.error().text();
    const TemporalBreakdown parts =
        temporal_breakdown(*trace, launch_links(*trace), BreakdownPreset::orrery);
    EXPECT_NEAR(static_cast<double>(parts.idle.total_ns()) * 1e-6, counted.idle_ms, 0.6);
    EXPECT_NEAR(static_cast<double>(parts.idle.host_wait_ns) * 1e-6, counted.host_ms, 0.6);
  }
}

TEST(RecordedSteps, AreTheMarksOfTheProfiler) {
  const HandMadeTrace made = small_run();
  const std::vector<RecordedStep> steps = recorded_steps(made.trace);
  ASSERT_EQ(steps.size(), 1U);
  EXPECT_EQ(steps[0].number, 3);
  EXPECT_EQ(steps[0].window, (Interval{0, 700}));
}

}  // namespace
}  // namespace orrery
