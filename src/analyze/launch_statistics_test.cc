#include "analyze/launch_statistics.h"

#include <gmock/gmock.h>

#include "analyze/kernel_table.h"
#include "analyze/queue_length.h"
#include "analyze/utilization.h"
#include "trace/hand_made_trace.h"
#include "trace/launch_links.h"

namespace orrery {
namespace {

using testing::ElementsAre;

// Three kernels are launched at 0, 10, 20 and begin at 5, 30, 50.
HandMadeTrace three_kernels() {
  HandMadeTrace made;
  made.op("aten::add", 0, 25);
  made.call(0, 4, 1);
  made.kernel("add", 7, 5, 30, 1);
  made.call(10, 14, 2);
  made.call(20, 24, 3);
  made.kernel("add", 7, 30, 32, 2);
  made.kernel("mul", 7, 50, 60, 3);
  return made;
}

TEST(QueueLength, CountsWhatIsLaunchedAndHasNotBegun) {
  const HandMadeTrace made = three_kernels();
  const auto queues = queue_lengths(made.trace, launch_links(made.trace));
  std::vector<std::int64_t> lengths;
  for (const QueueChange& change : queues[1]) lengths.push_back(change.length);
  EXPECT_THAT(lengths, ElementsAre(1, 0, 1, 2, 1, 0));
  const QueueSummary summary = summary_of(queues[1]);
  EXPECT_EQ(summary.longest, 2);
  EXPECT_EQ(summary.span_ns, 50);
  EXPECT_EQ(summary.empty_ns, 5);
  EXPECT_DOUBLE_EQ(summary.mean, (5 * 1 + 5 * 0 + 10 * 1 + 10 * 2 + 20 * 1) / 50.0);
}

TEST(QueueLength, AsASeriesKeepsTheLongestOfEveryPart) {
  std::vector<QueueChange> changes;
  for (std::int64_t t = 0; t < 2000; ++t) {
    changes.push_back({.time_ns = t, .event = 0, .length = t == 777 ? 9 : t % 2});
  }
  const QueueSeries series = series_of(changes, {0, 2000});
  EXPECT_EQ(series.bin_ns, 4);
  EXPECT_EQ(series.longest.size(), 500U);
  EXPECT_EQ(series.longest[777 / 4], 9);
  EXPECT_EQ(series.longest[0], 1);
  // The last length holds until the end.
  EXPECT_THAT(series_of({{.time_ns = 3, .event = 0, .length = 2}}, {0, 6}).longest,
              ElementsAre(0, 0, 0, 2, 2, 2));
  EXPECT_TRUE(series_of({}, {0, 6}).longest.empty());
  EXPECT_TRUE(series_of(changes, {7, 7}).longest.empty());
}

TEST(LaunchStatistics, NameTheLongestOutliers) {
  HandMadeTrace made;
  for (std::int64_t i = 0; i < 150; ++i) {
    made.call(i * 1'000'000, i * 1'000'000 + kSlowCallNs + i, i);
  }
  for (std::int64_t i = 0; i < 150; ++i) {
    const std::int64_t start = i * 1'000'000 + kSlowCallNs + i + (i == 7 ? kLongDelayNs + 1 : 5);
    made.kernel("gemm", 7, start, start + 10, i);
  }
  const LaunchStatistics statistics =
      launch_statistics(made.trace, launch_links(made.trace), work_kinds(made.trace));
  EXPECT_EQ(statistics.all.slow_calls, 149);  // the first takes exactly the limit
  ASSERT_EQ(statistics.slow_calls.size(), kMostOutliers);
  EXPECT_EQ(statistics.slow_calls.front().ns, kSlowCallNs + 149);
  EXPECT_GT(statistics.slow_calls[0].ns, statistics.slow_calls[1].ns);
  ASSERT_EQ(statistics.long_delays.size(), 1U);
  EXPECT_EQ(statistics.long_delays[0].ns, kLongDelayNs + 1);
  EXPECT_EQ(statistics.long_delays[0].caller, kNoEvent);
}

TEST(LaunchStatistics, MeasureCallsDelaysAndWorkThatIsShorterThanItsCall) {
  const HandMadeTrace made = three_kernels();
  const LaunchStatistics statistics =
      launch_statistics(made.trace, launch_links(made.trace), work_kinds(made.trace));
  ASSERT_EQ(statistics.rows.size(), 1U);
  EXPECT_EQ(statistics.all.call.count, 3);
  EXPECT_EQ(statistics.all.call.total_ns, 12);
  EXPECT_EQ(statistics.all.delay.least_ns, 1);
  EXPECT_EQ(statistics.all.delay.median_ns, 16);
  EXPECT_EQ(statistics.all.delay.greatest_ns, 26);
  EXPECT_EQ(statistics.all.shorter_than_call, 1);
  EXPECT_EQ(statistics.without_call, 0);
}

TEST(KernelTable, SortsByTotalTimeAndNamesTheCaller) {
  const HandMadeTrace made = three_kernels();
  const std::vector<KernelRow> rows =
      kernel_table(made.trace, launch_links(made.trace), work_kinds(made.trace));
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(made.trace.texts[rows[0].name], "add");
  EXPECT_EQ(rows[0].duration.count, 2);
  EXPECT_EQ(rows[0].duration.total_ns, 27);
  EXPECT_EQ(made.trace.texts[rows[0].caller], "aten::add");
  EXPECT_DOUBLE_EQ(rows[0].share + rows[1].share, 1);
}

TEST(StreamTable, DividesTheIdleTimeOfAStream) {
  const HandMadeTrace made = three_kernels();
  const std::vector<StreamRow> rows =
      stream_table(made.trace, launch_links(made.trace), work_kinds(made.trace));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].work, 3);
  EXPECT_EQ(rows[0].busy_ns, 37);
  // The third was launched at 20, before the second ended at 32, and the gap is short.
  EXPECT_EQ(rows[0].idle.kernel_wait_ns, 18);
  std::int64_t gaps = 0;
  for (const Spread& spread : rows[0].gaps) gaps += spread.total_ns;
  EXPECT_EQ(gaps, rows[0].idle.total_ns());
  EXPECT_EQ(rows[0].busy_ns + rows[0].idle.total_ns(), rows[0].span.end - rows[0].span.start);
}

TEST(Utilization, IsTheBusyShareOfEveryBin) {
  const Utilization series = utilization({{5, 15}, {20, 30}}, {0, 35}, 10);
  EXPECT_THAT(series.busy, ElementsAre(0.5, 0.5, 1, 0));
  EXPECT_DOUBLE_EQ(series.mean(), 20.0 / 35);
}

TEST(Utilization, OfALongWindowHasWiderBins) {
  const Utilization series = utilization({}, {0, 3'600'000'000'000}, kUtilizationBinNs);
  EXPECT_LE(series.busy.size(), static_cast<std::size_t>(kMostUtilizationBins));
  EXPECT_EQ(series.bin_ns, 100'000'000);
}

TEST(Spread, OfAnEvenNumberHasItsMedianInTheMiddle) {
  const Spread spread = spread_of({4, 1, 3, 2});
  EXPECT_EQ(spread.median_ns, 2);
  EXPECT_EQ(spread.p90_ns, 4);
  EXPECT_DOUBLE_EQ(spread.mean_ns(), 2.5);
  EXPECT_EQ(spread_of({}).count, 0);
}

}  // namespace
}  // namespace orrery
