#include "trace/clock_alignment.h"

#include <gmock/gmock.h>

#include "trace/recorded_run.h"

namespace orrery {
namespace {

// Ranks of a job that does nothing but all-reduces of its default group: the kernel of rank r in
// instance i runs from arrival[r][i] to the common end of that instance. Clock r shows `ahead[r]`
// more than the true time.
std::vector<RecordedTrace> ranks(const std::vector<std::int64_t>& ahead, int instances) {
  std::vector<RecordedTrace> traces(ahead.size());
  for (std::size_t rank = 0; rank < ahead.size(); ++rank) {
    RecordedTrace& trace = traces[rank];
    trace.rank = static_cast<std::int64_t>(rank);
    trace.world_size = static_cast<std::int64_t>(ahead.size());
    trace.lanes.push_back(Lane{true, 0, 20, "", ""});
    CommunicationDetails details;
    details.collective = trace.texts.intern("allreduce");
    details.group = trace.texts.intern("0");
    details.group_size = trace.world_size;
    details.input_elements = 1 << 20;
    for (int i = 0; i < instances; ++i) {
      const std::int64_t arrival =
          1'000'000'000LL + 1'000'000LL * i +
          10'000 * static_cast<std::int64_t>((rank + static_cast<std::size_t>(i)) % ahead.size());
      const std::int64_t end = 1'000'000'000LL + 1'000'000LL * i + 300'000;
      details.sequence = i;
      const std::uint32_t event = trace.append(EventKind::kernel, "ncclDevKernel_AllReduce", 0,
                                               arrival + ahead[rank], end - arrival);
      trace.correlation[event] = i;
      trace.external_id[event] = i;
      trace.communication[event] = static_cast<std::uint32_t>(trace.communications.size());
      trace.communications.push_back(details);
    }
  }
  return traces;
}

TEST(ClockAlignment, KeepsClocksThatContradictNothing) {
  const auto traces = ranks({0, 2'000, -1'000}, 5);
  const auto clocks = clock_offsets(traces, collective_instances(traces));
  for (const ClockOffset& clock : clocks) EXPECT_EQ(clock.offset_ns, 0);
  EXPECT_EQ(clocks[1].median_ns, -2'000);
  EXPECT_EQ(clocks[1].instances, 5);
  EXPECT_EQ(clocks[1].violation_ns, 0);
}

TEST(ClockAlignment, FindsOffsetsOfSecondsExactly) {
  const auto traces = ranks({0, 5'000'000'000, -700'000, 400'000}, 6);
  const auto clocks = clock_offsets(traces, collective_instances(traces));
  EXPECT_EQ(clocks[0].offset_ns, 0);
  EXPECT_EQ(clocks[1].offset_ns, -5'000'000'000);
  EXPECT_EQ(clocks[2].offset_ns, 700'000);
  EXPECT_EQ(clocks[3].offset_ns, -400'000);
  EXPECT_GT(clocks[1].violation_ns, 4'000'000'000);
  EXPECT_EQ(clocks[1].spread_ns, 0);
}

TEST(ClockAlignment, ReachesRanksThroughOthers) {
  // Ranks 0 and 1 form one group, ranks 1 and 2 another.
  auto traces = ranks({0, 1'000'000, 3'000'000}, 8);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    for (std::size_t i = 0; i < 8; ++i) {
      CommunicationDetails& details = traces[rank].communications[i];
      details.group = traces[rank].texts.intern(i < 4 ? "1" : "2");
      details.group_size = 2;
    }
  }
  const auto drop = [](RecordedTrace& trace, std::size_t from) {
    for (std::size_t i = from; i < from + 4; ++i) {
      trace.name[i] = trace.texts.intern("gemm");
      trace.communication[i] = kNoDetails;
    }
  };
  drop(traces[0], 4);
  drop(traces[2], 0);
  const auto clocks = clock_offsets(traces, collective_instances(traces));
  EXPECT_EQ(clocks[1].offset_ns, -1'000'000);
  EXPECT_EQ(clocks[2].offset_ns, -3'000'000);
  EXPECT_EQ(clocks[2].instances, 4);
}

TEST(ClockAlignment, KeepsTheClockOfARankThatSharesNothing) {
  auto traces = ranks({0, 9'000'000'000}, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    traces[1].name[i] = traces[1].texts.intern("gemm");
    traces[1].communication[i] = kNoDetails;
  }
  const auto clocks = clock_offsets(traces, collective_instances(traces));
  EXPECT_EQ(clocks[1].offset_ns, 0);
  EXPECT_EQ(clocks[1].instances, 0);
}

TEST(ClockAlignment, AppliedOnceLeavesNothingToAlign) {
  auto run = make_run(ranks({0, 2'000'000, -900'000}, 6));
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->clocks[1].offset_ns, -2'000'000);
  const auto again = clock_offsets(run->ranks, collective_instances(run->ranks));
  for (const ClockOffset& clock : again) {
    EXPECT_EQ(clock.violation_ns, 0);
    EXPECT_EQ(clock.median_ns, 0);
  }
}

// The four ranks of a recorded run whose clocks differ by up to 86 us: kernels of some all-reduces
// end before others begin. After alignment none does.
TEST(ClockAlignment, MakesARecordedRunConsistent) {
  const std::string folder =
      ORRERY_SOURCE_DIR "/validation/traces/torchrec/sst_long_a2a_optimizer_4";
  RunOptions options;
  options.clocks = Clocks::as_recorded;
  const auto recorded = read_run({folder}, options);
  ASSERT_TRUE(recorded.has_value());
  ASSERT_EQ(recorded->ranks.size(), 4U);
  EXPECT_EQ(recorded->clocks[2].violation_ns, 31'000);
  EXPECT_EQ(recorded->clocks[2].offset_ns, 62'000);
  const auto aligned = read_run({folder});
  ASSERT_TRUE(aligned.has_value());
  const auto after = clock_offsets(aligned->ranks, collective_instances(aligned->ranks));
  for (const ClockOffset& clock : after) EXPECT_EQ(clock.violation_ns, 0);
}

}  // namespace
}  // namespace orrery
