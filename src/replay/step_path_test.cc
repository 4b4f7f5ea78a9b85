// Critical paths of hand-made recordings with known answers, and what must hold for every recorded
// run: nothing of the step is lost, and what is not on the path does not matter.
#include "replay/step_path.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "replay/bound_by.h"
#include "replay/graph_from_run.h"
#include "replay/sample_recording.h"
#include "trace/recorded_run.h"

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::int64_t of(const StepPath& path, PathBound bound) {
  return path.by_bound_ns[static_cast<std::size_t>(bound)];
}

std::vector<std::string> turns(const StepPath& path) {
  std::vector<std::string> out;
  for (const PathStretch& s : path.stretches) {
    out.push_back(fmt::format("{} {} {}", to_text(s.cause), s.on, s.longest));
  }
  return out;
}

// No synchronization is recorded, and the host waits for 435 of its call's 440 us.
TEST(StepPath, LeadsThroughTheDeviceWhereACallWaitedForIt) {
  SampleRecording r;
  r.step(1, 0, 1000).op(1, "aten::mm", 2, 58);
  r.call(1, "cudaLaunchKernel", 20, 10, 1).kernel(7, "gemm", 35, 500, 1);
  r.call(1, "cudaDeviceSynchronize", 100, 440, 2);
  const auto traces = one(r);
  const StepPath path = step_paths(traces)->at(0);
  EXPECT_EQ(path.of, "ProfilerStep#1");
  EXPECT_EQ(path.length_ns, 1'000'000);
  EXPECT_EQ(of(path, PathBound::compute), 500'000);
  EXPECT_EQ(of(path, PathBound::launch_delay), 5'000);
  // 30 us up to the launch, 5 us of the call after its waiting, 460 us after it.
  EXPECT_EQ(of(path, PathBound::host), 30'000 + 5'000 + 460'000);
  EXPECT_THAT(turns(path), ElementsAre("window thread 1 aten::mm", "launch stream 7 gemm",
                                       "device thread 1 ProfilerStep#1"));
}

TEST(StepPath, StaysOnTheHostWhereNothingWaitsForTheDevice) {
  SampleRecording r;
  r.step(1, 0, 1000).op(1, "aten::mm", 10, 50);
  r.call(1, "cudaLaunchKernel", 20, 10, 1).kernel(7, "gemm", 35, 5000, 1);
  const auto traces = one(r);
  const StepPath path = step_paths(traces)->at(0);
  EXPECT_EQ(of(path, PathBound::host), 1'000'000);
  EXPECT_EQ(path.length_ns, 1'000'000);
}

// The second stream waits for the first, the host for the second.
TEST(StepPath, CrossesStreamsWhereAnEventIsAwaited) {
  SampleRecording r;
  r.step(1, 0, 2000).op(1, "aten::mm", 5, 90);
  r.call(1, "cudaLaunchKernel", 10, 10, 1).kernel(7, "gemm", 30, 600, 1);
  r.call(1, "cudaStreamWaitEvent", 30, 2, 3);
  r.call(1, "cudaLaunchKernel", 50, 10, 2).kernel(8, "reduce", 635, 300, 2);
  r.call(1, "cudaDeviceSynchronize", 100, 840, 4);
  const auto traces = one(r);
  const StepPath path = step_paths(traces)->at(0);
  EXPECT_EQ(of(path, PathBound::compute), 900'000);
  ASSERT_EQ(path.stretches.size(), 4U);
  EXPECT_EQ(path.stretches[2].cause, StretchCause::other_stream);
  EXPECT_EQ(path.stretches[2].on, "stream 8");
  EXPECT_EQ(path.stretches[3].cause, StretchCause::device);
}

// Rank 1 computes 400 us before it comes to the all-reduce; rank 0 comes at once and waits.
std::vector<RecordedTrace> late_rank() {
  constexpr std::string_view kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";
  std::vector<RecordedTrace> traces;
  for (const int rank : {0, 1}) {
    SampleRecording r(rank);
    r.step(1, 0, 1000).op(1, "aten::mm", 5, 40);
    const double computing = rank == 0 ? 100 : 500;
    r.call(1, "cudaLaunchKernel", 10, 10, 1).kernel(7, "gemm", 30, computing, 1);
    r.call(1, "cudaLaunchKernel", 25, 10, 2);
    r.kernel(7, kAllReduce, 32 + computing, 700 - 32 - computing, 2);
    r.call(1, "cudaDeviceSynchronize", 50, 655, 3);
    traces.push_back(r.trace());
  }
  return traces;
}

TEST(StepPath, GoesOnInTheRankThatWasWaitedFor) {
  const auto traces = late_rank();
  const std::vector<StepPath> paths = *step_paths(traces);
  ASSERT_EQ(paths.size(), 2U);
  const StepPath& waiting = paths[0];
  EXPECT_EQ(waiting.length_ns, 1'000'000);
  EXPECT_EQ(waiting.on_others_ns[static_cast<std::size_t>(PathBound::compute)], 500'000);
  const auto meeting =
      std::find_if(waiting.stretches.begin(), waiting.stretches.end(),
                   [](const PathStretch& s) { return s.cause == StretchCause::rank; });
  ASSERT_NE(meeting, waiting.stretches.end());
  EXPECT_EQ(meeting->rank, 0);
  EXPECT_EQ(std::prev(meeting)->rank, 1);
  EXPECT_EQ(meeting->bound, PathBound::communication);
  // The last rank waits for nobody.
  ASSERT_EQ(paths[1].ranks.size(), 1U);
  EXPECT_EQ(paths[1].ranks[0].rank, 1);
}

TEST(StepPath, IsOfTheOperatorAskedFor) {
  SampleRecording r;
  r.step(1, 0, 1000).op(1, "aten::mm", 10, 50).op(1, "aten::add", 20, 10);
  const auto traces = one(r);
  for (std::uint32_t e = 0; e < traces[0].size(); ++e) {
    const StepPath path = step_paths(traces, std::vector{e})->at(0);
    EXPECT_EQ(path.of, traces[0].name_of(e));
    EXPECT_EQ(path.length_ns, traces[0].duration_ns[e]);
  }
}

TEST(StepPath, OfARecordingWithoutStepsEndsWithItsLastWork) {
  SampleRecording r;
  r.op(1, "aten::mm", 0, 50);
  r.call(1, "cudaLaunchKernel", 20, 10, 1).kernel(7, "gemm", 35, 500, 1);
  const StepPath path = step_paths(one(r))->at(0);
  EXPECT_EQ(path.of, "the whole recording");
  EXPECT_EQ(path.length_ns, 535'000);
  EXPECT_EQ(of(path, PathBound::compute), 500'000);
}

TEST(StepPath, OfNothingIsRefused) {
  const std::vector<RecordedTrace> traces(1);
  const auto paths = step_paths(traces);
  ASSERT_FALSE(paths);
  EXPECT_THAT(paths.error().text(), HasSubstr("nothing to replay"));
}

TEST(StepPath, OfARankWithoutAnythingIsEmpty) {
  SampleRecording r;
  r.op(1, "aten::mm", 0, 50);
  std::vector<RecordedTrace> traces = one(r);
  traces.emplace_back();
  traces.back().rank = 1;
  const auto paths = step_paths(traces);
  ASSERT_TRUE(paths) << paths.error().text();
  EXPECT_EQ(paths->at(0).length_ns, 50'000);
  EXPECT_EQ(paths->at(1).length_ns, 0);
}

class RecordedPaths : public testing::TestWithParam<std::vector<std::string>> {
 protected:
  static RecordedRun run() {
    std::vector<std::string> files;
    for (const std::string& file : GetParam()) {
      files.push_back(ORRERY_SOURCE_DIR "/validation/traces/" + file);
    }
    auto run = read_run(files);
    EXPECT_TRUE(run) << run.error().text();
    return std::move(*run);
  }
};

TEST_P(RecordedPaths, AddUpToTheStepInEveryWay) {
  const RecordedRun run = RecordedPaths::run();
  const auto made = graph_from_run(run.ranks);
  ASSERT_TRUE(made);
  const ReplayedRun replayed = replayed_run(made->graph);
  const std::vector<StepPath> paths = *step_paths(run.ranks);
  ASSERT_EQ(paths.size(), run.ranks.size());
  for (const StepPath& path : paths) {
    const auto step =
        std::find_if(made->graph.steps.begin(), made->graph.steps.end(), [&](const RunStep& s) {
          return run.ranks[s.trace].rank == path.rank && s.name == path.of;
        });
    if (step != made->graph.steps.end()) {
      const std::int64_t from = step->from == kNoEvent ? 0 : replayed.end_ns[step->from];
      EXPECT_EQ(path.length_ns, replayed.end_ns[step->to] - from);
    }
    EXPECT_GT(path.length_ns, 0);
    EXPECT_EQ(std::accumulate(path.by_bound_ns.begin(), path.by_bound_ns.end(), std::int64_t{0}),
              path.length_ns);
    std::int64_t in_names = 0;
    for (const PathShare& row : path.names) in_names += row.total_ns;
    EXPECT_EQ(in_names, path.length_ns);
    std::int64_t on_ranks = 0;
    for (const RankShare& rank : path.ranks) on_ranks += rank.total_ns;
    EXPECT_EQ(on_ranks, path.length_ns);
    std::int64_t until = 0;
    for (const PathStretch& stretch : path.stretches) {
      EXPECT_EQ(stretch.begin_ns, until);
      EXPECT_GT(stretch.end_ns, stretch.begin_ns);
      until = stretch.end_ns;
    }
    EXPECT_EQ(until, path.length_ns);
  }
}

INSTANTIATE_TEST_SUITE_P(
    , RecordedPaths,
    testing::Values(std::vector<std::string>{"megatron-lm-fork/tp2/kineto_rank0.json.gz",
                                             "megatron-lm-fork/tp2/kineto_rank1.json.gz"},
                    std::vector<std::string>{"astra-sim/megatron-tp8"},
                    std::vector<std::string>{
                        "torchrec/sst_long_a2a_optimizer_4/kineto_rank0.json.gz",
                        "torchrec/sst_long_a2a_optimizer_4/kineto_rank1.json.gz"},
                    std::vector<std::string>{"TraceLens/mi300/resnet_act_checkpoint.json.gz"},
                    std::vector<std::string>{"HolisticTraceAnalysis/critical_path/simple_add/"
                                             "benchmark_result_493459_1694039959_trace.json.gz"},
                    std::vector<std::string>{"HolisticTraceAnalysis/cpu_only/"
                                             "rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz"}));

}  // namespace
}  // namespace orrery
