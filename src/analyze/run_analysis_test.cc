#include "analyze/run_analysis.h"

#include <gmock/gmock.h>

#include "trace/hand_made_trace.h"
#include "trace/published_traces.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

RecordedRun two_ranks() {
  auto run = read_run({kTraces + "megatron-lm-fork/tp2/kineto_rank0.json.gz",
                       kTraces + "megatron-lm-fork/tp2/kineto_rank1.json.gz"});
  EXPECT_TRUE(run) << run.error().text();
  return std::move(*run);
}

TEST(RunAnalysis, DoesNotDependOnTheNumberOfThreads) {
  const RecordedRun run = two_ranks();
  AnalysisOptions options;
  options.preset = BreakdownPreset::hta;  // with its critical path
  const auto one = analyze(run, Catalog::built_in(), options);
  options.threads = 4;
  const auto four = analyze(run, Catalog::built_in(), options);
  ASSERT_TRUE(one);
  ASSERT_TRUE(four);
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(one->ranks[r].whole.compute_ns, four->ranks[r].whole.compute_ns);
    EXPECT_EQ(one->ranks[r].critical.operations, four->ranks[r].critical.operations);
    EXPECT_EQ(one->ranks[r].operators.rows.size(), four->ranks[r].operators.rows.size());
  }
}

TEST(RunAnalysis, CountsEveryPieceOfDeviceWorkOnceInItsOperators) {
  const auto analysis = analyze(two_ranks(), Catalog::built_in());
  ASSERT_TRUE(analysis);
  for (const RankAnalysis& rank : analysis->ranks) {
    std::int64_t own = 0;
    std::int64_t direct = 0;
    for (const OperatorRow& row : rank.operators.rows) {
      own += row.own_ns;
      direct += row.direct_ns;
    }
    EXPECT_EQ(own, direct);
    EXPECT_EQ(own, rank.operators.all.device_ns + rank.operators.all.other_ns);
  }
}

TEST(RunAnalysis, TakesTheRooflineOfTheRecordedDeviceUnlessToldOtherwise) {
  const RecordedRun run = two_ranks();
  AnalysisOptions options;
  EXPECT_EQ(analyze(run, Catalog::built_in(), options)->ranks[0].accelerator->name, "v100-pcie");
  options.accelerator = "h100-sxm";
  EXPECT_EQ(analyze(run, Catalog::built_in(), options)->ranks[0].accelerator->name, "h100-sxm");
  options.accelerator = "h100-sxn";
  EXPECT_THAT(analyze(run, Catalog::built_in(), options).error().text(),
              testing::HasSubstr("h100-sxm"));
}

TEST(RunAnalysis, TablesFollowThePreset) {
  const auto by = [](BreakdownPreset preset) {
    HandMadeTrace made;
    made.step(1, 0, 500);
    made.call(10, 20, 1);
    made.kernel("gemm", 7, 100, 200, 1);
    made.call(30, 40, 2);
    made.kernel("dma_request", 8, 150, 250, 2);
    made.step(2, 500, 900);
    made.call(510, 520, 3);
    made.kernel("softmax", 9, 600, 700, 3);
    std::vector<RecordedTrace> traces;
    traces.push_back(std::move(made.trace));
    const auto run = make_run(std::move(traces));
    AnalysisOptions options;
    options.preset = preset;
    return *analyze(*run, Catalog::built_in(), options);
  };
  const RankAnalysis own = by(BreakdownPreset::orrery).ranks[0];
  EXPECT_EQ(own.kernels.size(), 3U);
  EXPECT_EQ(own.streams.size(), 3U);
  EXPECT_EQ(own.overlap, (KernelOverlap{0, 250, 0, 0, 0, 0, 0, 0}));
  // The last step is left out, and what is called dma moves memory.
  const RankAnalysis hta = by(BreakdownPreset::hta).ranks[0];
  EXPECT_EQ(hta.kernels.size(), 2U);
  EXPECT_EQ(hta.streams.size(), 2U);
  EXPECT_EQ(hta.overlap, (KernelOverlap{0, 50, 0, 0, 50, 50, 0, 0}));
  EXPECT_EQ(hta.whole.compute_ns, 100);
  EXPECT_EQ(hta.whole.exposed_copy_ns, 50);
}

TEST(RunAnalysis, RefusesAnAnnotationThatWasNotRecorded) {
  AnalysisOptions options;
  options.preset = BreakdownPreset::hta;
  options.critical_annotation = "ProfilerStep";
  options.critical_instance = 3;
  EXPECT_THAT(
      analyze(two_ranks(), Catalog::built_in(), options).error().text(),
      testing::HasSubstr("'ProfilerStep' occurs 1 times, there is no instance 3 (instances are 0 "
                         "to 0)"));
}

TEST(RunAnalysis, OfAnEmptyRecordingIsEmpty) {
  HandMadeTrace made;
  auto run = make_run([&] {
    std::vector<RecordedTrace> traces;
    traces.push_back(std::move(made.trace));
    return traces;
  }());
  ASSERT_TRUE(run) << run.error().text();
  const auto analysis = analyze(*run, Catalog::built_in());
  ASSERT_TRUE(analysis);
  EXPECT_FALSE(analysis->ranks[0].has_device_work());
  EXPECT_EQ(analysis->ranks[0].critical.length_ns, 0);
}

TEST(MemoryTimeline, KeepsThePeakOfEveryDevice) {
  HandMadeTrace made;
  const auto change = [&](std::int64_t time, std::int64_t bytes, std::int64_t allocated) {
    made.trace.memory.push_back({.time_ns = time,
                                 .address = 0,
                                 .bytes = bytes,
                                 .allocated_bytes = allocated,
                                 .reserved_bytes = 4096,
                                 .device = 0,
                                 .place = 0});
  };
  for (int i = 0; i < 5000; ++i) change(i, i == 2500 ? 900 : 1, i == 2500 ? 1000 : 100);
  change(5000, -50, 50);
  const std::vector<MemoryTimeline> timelines = memory_timelines(made.trace);
  ASSERT_EQ(timelines.size(), 1U);
  EXPECT_EQ(timelines[0].peak.allocated_bytes, 1000);
  EXPECT_EQ(timelines[0].peak.time_ns, 2500);
  EXPECT_EQ(timelines[0].changes, 5001);
  EXPECT_EQ(timelines[0].allocations, 5000);
  EXPECT_EQ(timelines[0].last_bytes, 50);
  EXPECT_LE(timelines[0].points.size(), kMostMemoryPoints);
  EXPECT_TRUE(std::any_of(timelines[0].points.begin(), timelines[0].points.end(),
                          [](const MemoryPoint& p) { return p.allocated_bytes == 1000; }));
}

// The recording of Qwen on an H100 was made with profile_memory.
TEST(MemoryTimeline, IsReadFromARecordingThatHasOne) {
  KinetoOptions options;
  options.python_functions = PythonFunctions::leave_out;
  const auto trace =
      read_kineto(kTraces + "TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", options);
  ASSERT_TRUE(trace);
  const std::vector<MemoryTimeline> timelines = memory_timelines(*trace);
  ASSERT_FALSE(timelines.empty());
  const MemoryTimeline& device = timelines.back();
  EXPECT_EQ(device.device, 0);
  // Half a billion parameters in bf16 are 0.93 GB; the key-value cache grows above them.
  EXPECT_GT(device.first_bytes, 900'000'000);
  EXPECT_GT(device.peak.allocated_bytes, device.first_bytes);
  EXPECT_LE(device.peak.allocated_bytes, device.peak_reserved_bytes);
}

}  // namespace
}  // namespace orrery
