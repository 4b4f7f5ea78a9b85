// Replays of hand-made recordings with known answers, and of every recorded run with whole steps.
#include "replay/replay.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "replay/sample_recording.h"
#include "replay/time_slices.h"
#include "trace/recorded_run.h"

namespace orrery {
namespace {

using testing::SizeIs;

GraphFromRun graph_of(const std::vector<RecordedTrace>& traces,
                      const GraphFromRunOptions& options = {}) {
  auto graph = graph_from_run(traces, options);
  EXPECT_TRUE(graph.has_value()) << graph.error().text();
  return std::move(*graph);
}

// Adds to the duration of what an event became.
void lengthen(RunGraph& graph, const RecordedTrace& trace, std::string_view name,
              std::int64_t by_ns) {
  const auto node = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const RunNode& n) {
    return n.event != kNoEvent && n.kind != RunNodeKind::dispatch &&
           n.kind != RunNodeKind::latency && n.kind != RunNodeKind::arrival &&
           trace.name_of(n.event) == name;
  });
  ASSERT_NE(node, graph.nodes.end()) << name;
  node->duration_ns += by_ns;
}

// One kernel of 500 us, launched early, and a call that waits for it or does not.
SampleRecording one_kernel(std::string_view call, double call_duration) {
  SampleRecording r;
  r.step(1, 0, 1000).op(1, "aten::mm", 10, 50);
  r.call(1, "cudaLaunchKernel", 20, 10, 1).kernel(7, "gemm", 35, 500, 1);
  r.call(1, call, 100, call_duration, 2);
  return r;
}

TEST(Replay, ACallThatWaitsForTheDeviceFollowsIt) {
  const auto traces = one(one_kernel("cudaDeviceSynchronize", 440));
  GraphFromRun g = graph_of(traces);
  EXPECT_EQ(g.synchronizations, 1U);
  EXPECT_NEAR(replay(traces, g.graph).steps.at(0).replayed.value(), 1000e-6, 1e-9);
  lengthen(g.graph, traces[0], "gemm", 200'000);
  EXPECT_NEAR(replay(traces, g.graph).steps.at(0).replayed.value(), 1200e-6, 1e-9);
}

TEST(Replay, TheHostDoesNotWaitForWorkThatNothingWaitsFor) {
  const auto traces = one(one_kernel("cudaEventQuery", 440));
  GraphFromRun g = graph_of(traces);
  EXPECT_EQ(g.synchronizations, 0U);
  lengthen(g.graph, traces[0], "gemm", 200'000);
  const Replay r = replay(traces, g.graph);
  EXPECT_NEAR(r.steps.at(0).replayed.value(), 1000e-6, 1e-9);
  EXPECT_NEAR(r.steps.at(0).replayed_parts.exposed_compute.value(), 700e-6, 1e-9);
}

// What a call does itself stays when what it waits for takes no time: 440 us, of which 435 wait.
TEST(Replay, OnlyTheWaitingOfACallVanishes) {
  const auto traces = one(one_kernel("cudaDeviceSynchronize", 440));
  GraphFromRun g = graph_of(traces);
  lengthen(g.graph, traces[0], "gemm", -500'000);
  EXPECT_NEAR(replay(traces, g.graph).steps.at(0).replayed.value(), (1000 - 435) * 1e-6, 1e-9);
}

// Two stages: activations go forward, gradients back, in kernels that carry batches of messages.
std::vector<RecordedTrace> two_stages() {
  constexpr std::string_view kSendReceive = "ncclDevKernel_SendRecv";
  SampleRecording first(0);
  first.step(1, 0, 1000).op(1, "aten::mm", 10, 20);
  first.call(1, "cudaLaunchKernel", 12, 5, 1).kernel(7, "forward", 20, 100, 1);
  first.call(1, "cudaStreamWaitEvent", 31, 1, 2);
  first.message(1, "send", 1, 33).message(1, "recv", 1, 37);
  first.call(1, "cudaLaunchKernelExC", 41, 4, 3).kernel(20, kSendReceive, 120, 380, 3);
  first.call(1, "cudaDeviceSynchronize", 50, 455, 4);
  SampleRecording second(1);
  second.step(1, 0, 1000).message(1, "recv", 0, 10);
  second.call(1, "cudaLaunchKernelExC", 15, 4, 1).kernel(20, kSendReceive, 20, 150, 1);
  second.call(1, "cudaStreamWaitEvent", 21, 1, 2).op(1, "aten::mm", 23, 20);
  second.call(1, "cudaLaunchKernel", 25, 5, 3).kernel(7, "backward", 170, 280, 3);
  second.call(1, "cudaStreamWaitEvent", 45, 1, 4).message(1, "send", 0, 47);
  second.call(1, "cudaLaunchKernelExC", 52, 4, 5).kernel(20, kSendReceive, 450, 50, 5);
  second.call(1, "cudaDeviceSynchronize", 60, 445, 6);
  std::vector<RecordedTrace> traces;
  traces.push_back(first.trace());
  traces.push_back(second.trace());
  return traces;
}

TEST(Replay, StagesOfAPipelineMeetInTheirMessages) {
  const auto traces = two_stages();
  const Replay recorded = replay(traces, graph_of(traces).graph);
  for (const ReplayedStep& step : recorded.steps) EXPECT_LT(step.error(), 0.005);
  for (const std::size_t slow : {std::size_t{0}, std::size_t{1}}) {
    GraphFromRun g = graph_of(traces);
    EXPECT_EQ(g.rendezvous, 3U);
    for (RunNode& node : g.graph.nodes) {
      if (node.trace == slow && node.kind == RunNodeKind::work) node.duration_ns += 200'000;
    }
    const Replay r = replay(traces, g.graph);
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_NEAR(r.steps.at(i).replayed.value() - recorded.steps.at(i).replayed.value(), 200e-6,
                  1e-9);
    }
  }
}

// One launch, two streams: the second runs beside the first and is waited for at the end.
TEST(Replay, StreamsOfAGraphWaitForEachOther) {
  SampleRecording r;
  r.step(1, 0, 1000).op(1, "graph", 10, 30);
  r.call(1, "cudaStreamWaitEvent", 5, 1, 9).call(1, "cudaGraphLaunch", 20, 10, 1);
  r.kernel(7, "before", 40, 100, 1).kernel(8, "aside", 143, 300, 1);
  r.kernel(7, "beside", 141, 100, 1).kernel(7, "after", 446, 50, 1);
  r.call(1, "cudaDeviceSynchronize", 50, 452, 2);
  const auto traces = one(r);
  EXPECT_EQ(graph_of(traces).stream_waits, 2U);
  EXPECT_NEAR(replay(traces, graph_of(traces).graph).steps.at(0).replayed.value(), 1000e-6, 5e-6);
  for (const auto& [kernel, longer] : {std::pair("aside", 200e-6), std::pair("beside", 0.0)}) {
    GraphFromRun g = graph_of(traces);
    lengthen(g.graph, traces[0], kernel, 200'000);
    EXPECT_NEAR(replay(traces, g.graph).steps.at(0).replayed.value(), 1000e-6 + longer, 5e-6)
        << kernel;
  }
}

TEST(Replay, WorkStartsBehindItsLaunchAndItsStream) {
  SampleRecording r;
  r.step(1, 0, 1000);
  for (int k = 0; k < 8; ++k) {  // an idle stream: 5 us after the call
    r.call(1, "cudaLaunchKernel", 20 + k * 100, 10, k).kernel(7, "a", 35 + k * 100, 20, k);
  }
  for (int k = 8; k < 16; ++k) {  // a queue: 2 us after the work before
    r.call(1, "cudaLaunchKernel", 820 + (k - 8) * 5, 4, k);
    r.kernel(7, "b", 829 + (k - 8) * 102, 100, k);
  }
  const auto traces = one(r);
  const GraphFromRun g = graph_of(traces);
  EXPECT_EQ(g.parameters[0].launch_ns[1], 5'000);
  EXPECT_EQ(g.parameters[0].dispatch_ns[1], 2'000);
  const ReplayedRun run = replayed_run(g.graph);
  for (const RunWork& work : g.graph.works) {
    EXPECT_NEAR(static_cast<double>(run.start_ns[work.first]),
                static_cast<double>(traces[0].start_ns[work.event] - traces[0].start_ns[0]), 1.0);
  }
}

// A hands over to B and waits: autograd's backward on a thread of its own.
TEST(Replay, AThreadThatIdlesWhileAnotherWorksWaitsForIt) {
  SampleRecording r;
  r.step(1, 0, 2000).op(1, "forward", 0, 500).op(1, "optimizer", 1500, 500);
  r.op(2, "warm-up", 0, 10).op(2, "backward", 550, 900);
  const auto traces = one(r);
  GraphFromRun g = graph_of(traces);
  EXPECT_GE(g.thread_waits, 2U);
  EXPECT_NEAR(replay(traces, g.graph).steps.at(0).replayed.value(), 2000e-6, 1e-9);
  GraphFromRun slow_backward = graph_of(traces);
  lengthen(slow_backward.graph, traces[0], "backward", 300'000);
  EXPECT_NEAR(replay(traces, slow_backward.graph).steps.at(0).replayed.value(), 2300e-6, 1e-9);
  lengthen(g.graph, traces[0], "forward", 100'000);
  EXPECT_NEAR(replay(traces, g.graph).steps.at(0).replayed.value(), 2100e-6, 1e-9);
}

TEST(Replay, AStreamWaitsForAnotherOnlyWhereAnEventSaysSo) {
  const auto recording = [](bool waits) {
    SampleRecording r;
    r.step(1, 0, 1000);
    r.call(1, "cudaLaunchKernel", 20, 10, 1).kernel(7, "first", 35, 300, 1);
    // Somewhere in the recording an event is waited for: its absence elsewhere means something.
    r.call(1, "cudaStreamWaitEvent", waits ? 40 : 10, 2, 2);
    r.call(1, "cudaLaunchKernel", 50, 10, 3).kernel(20, "second", 340, 100, 3);
    return one(r);
  };
  const auto waiting = recording(true);
  const GraphFromRun with = graph_of(waiting);
  EXPECT_EQ(with.stream_waits, 1U);
  const Replay kept = replay(waiting, with.graph);
  EXPECT_NEAR(kept.steps.at(0).replayed_parts.overlapped.value(), 0, 1e-9);
  EXPECT_EQ(graph_of(recording(false)).stream_waits, 0U);
  const GraphFromRun without = graph_of(waiting, {.stream_waits = StreamWaits::dropped});
  EXPECT_EQ(without.stream_waits, 0U);
}

TEST(Replay, NobodyLeavesACommunicationBeforeTheLastRankHasCome) {
  std::vector<RecordedTrace> traces;
  for (const int rank : {0, 1}) {
    SampleRecording r(rank);
    const double launch = rank == 0 ? 20 : 520;
    r.step(1, 0, 1000).op(1, rank == 0 ? "early" : "late", 0, launch);
    r.call(1, "cudaLaunchKernel", launch, 10, 1);
    r.kernel(20, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", launch + 15, 635 - launch - 15, 1);
    r.call(1, "cudaDeviceSynchronize", launch + 20, 620 - launch, 2);
    traces.push_back(r.trace());
  }
  GraphFromRun g = graph_of(traces);
  EXPECT_EQ(g.rendezvous, 1U);
  for (const ReplayedStep& s : replay(traces, g.graph).steps) {
    EXPECT_NEAR(s.replayed.value(), 1000e-6, 1e-9);
  }
  // The late rank comes 400 us sooner: both leave 400 us sooner.
  lengthen(g.graph, traces[0], "early", 0);
  const auto late = std::find_if(g.graph.nodes.begin(), g.graph.nodes.end(), [&](const RunNode& n) {
    return n.trace == 1 && n.event != kNoEvent && traces[1].name_of(n.event) == "late";
  });
  ASSERT_NE(late, g.graph.nodes.end());
  late->duration_ns -= 400'000;
  for (const ReplayedStep& s : replay(traces, g.graph).steps) {
    EXPECT_NEAR(s.replayed.value(), 600e-6, 1e-9);
  }
}

// A full kernel on one stream, and work on another that was launched long before it began.
SampleRecording a_full_device(double second_begins) {
  SampleRecording r;
  r.step(1, 0, 1000);
  r.call(1, "cudaStreamWaitEvent", 5, 2, 99);  // waits are recorded, and these two have none
  r.call(1, "cudaLaunchKernel", 20, 10, 1).kernel(7, "full", 35, 500, 1);
  r.call(1, "cudaLaunchKernel", 40, 10, 2).kernel(20, "second", second_begins, 100, 2);
  for (int k = 3; k < 9; ++k) {  // what launches take on this machine: 5 us
    r.call(1, "cudaLaunchKernel", 700 + k * 20, 10, k).kernel(7, "small", 715 + k * 20, 3, k);
  }
  return r;
}

TEST(Replay, WorkThatFoundTheDeviceFullBeginsWhenTheOtherEnds) {
  const auto traces = one(a_full_device(510));
  GraphFromRun g = graph_of(traces);
  ASSERT_EQ(g.room_waits, 1U);
  const auto start_of = [&](std::string_view kernel) {
    const ReplayedRun run = replayed_run(g.graph);
    for (const RunWork& work : g.graph.works) {
      if (traces[0].name_of(work.event) == kernel) return run.start_ns[work.first];
    }
    return std::int64_t{-1};
  };
  // The recorded start, 475 us after the first's, is no input.
  EXPECT_EQ(start_of("second") - start_of("full"), 500'000);
  lengthen(g.graph, traces[0], "full", 200'000);
  EXPECT_EQ(start_of("second") - start_of("full"), 700'000);
}

TEST(Replay, WorkThatSqueezedInWaitsForNoRoom) {
  EXPECT_EQ(graph_of(one(a_full_device(200))).room_waits, 0U);
  EXPECT_EQ(graph_of(one(a_full_device(60))).room_waits, 0U);
}

TEST(Replay, WorkQueuedBeforeTheRecordingFollowsItsQueue) {
  SampleRecording r;
  r.step(1, 0, 1000).op(1, "aten::mm", 10, 50);
  r.kernel(7, "running", 5, 100, 901).kernel(7, "queued", 108, 100, 902);
  r.kernel(20, "elsewhere", 7, 10, 903).kernel(20, "waits", 212, 100, 904);
  const auto traces = one(r);
  GraphFromRun g = graph_of(traces);
  EXPECT_EQ(g.unlaunched, 4U);
  EXPECT_EQ(g.anchored, 0U);
  EXPECT_EQ(g.stream_waits, 1U);
  const auto ends = [&] {
    const ReplayedRun run = replayed_run(g.graph);
    std::vector<std::int64_t> by_start;
    for (const RunWork& work : g.graph.works) by_start.push_back(run.end_ns[work.last]);
    return by_start;  // by stream, then by start
  };
  const std::vector<std::int64_t> before = ends();
  lengthen(g.graph, traces[0], "running", 300'000);
  const std::vector<std::int64_t> after = ends();
  EXPECT_EQ(after[0] - before[0], 300'000);
  EXPECT_EQ(after[1] - before[1], 300'000);
  EXPECT_EQ(after[2] - before[2], 0);
  EXPECT_EQ(after[3] - before[3], 300'000);
}

// No call says that streams wait: what began late, just after another stream ended, tells.
TEST(Replay, WithoutRecordedWaitsALateStartTellsOfOne) {
  const auto waits = [](double begins) {
    SampleRecording r;
    r.step(1, 0, 1000);
    r.call(1, "cudaLaunchKernel", 20, 10, 1).kernel(20, "ncclDevKernel_AllReduce", 35, 300, 1);
    r.call(1, "cudaLaunchKernel", 50, 10, 2).kernel(7, "at once", 65, 100, 2);
    r.call(1, "cudaLaunchKernel", 70, 10, 3).kernel(7, "later", begins, 100, 3);
    return graph_of(one(r)).stream_waits;
  };
  EXPECT_EQ(waits(340), 1U);
  EXPECT_EQ(waits(167), 0U);
  EXPECT_EQ(waits(400), 0U);
}

// Of 1000 us: 20 until the launch call and 10 in it, 5 until the kernel, 500 of it, then the host.
TEST(Replay, SaysWhatAStepHungOn) {
  const auto traces = one(one_kernel("cudaDeviceSynchronize", 440));
  const Replay r = replay(traces, graph_of(traces).graph);
  const BoundBy& bound = r.steps.at(0).bound_by;
  EXPECT_NEAR(bound.device.value(), 500e-6, 1e-9);
  EXPECT_NEAR(bound.launches.value(), 5e-6, 1e-9);
  EXPECT_NEAR(bound.host.value(), 495e-6, 1e-9);
  EXPECT_EQ(bound.communication.value(), 0);
  EXPECT_NEAR(r.steps.at(0).displacement.value(), 0, 1e-9);
  EXPECT_NEAR(r.steps.at(0).misplaced(), 0, 1e-9);
}

TEST(Replay, ACycleIsBrokenAndCounted) {
  RunGraph g;
  g.lanes.push_back({0, 0, false, {}});
  const auto a = g.add({RunNodeKind::host, 0, kNoEvent, 0, 10});
  const auto b = g.add({RunNodeKind::host, 0, kNoEvent, 0, 10});
  const auto c = g.add({RunNodeKind::latency, 0, kNoEvent, kNoLane, 5});
  g.edges.push_back({b, c});
  g.edges.push_back({c, a});
  const ReplayedRun run = replayed_run(g);
  EXPECT_EQ(run.dropped_edges, 1U);
  EXPECT_EQ(run.end_ns[b], 20);
  EXPECT_EQ(run.end_ns[c], 25);
}

TEST(Replay, ARunOfNothingIsRefused) {
  const auto traces = one(SampleRecording());
  const auto graph = graph_from_run(traces);
  ASSERT_FALSE(graph.has_value());
  EXPECT_EQ(graph.error().message, "nothing to replay: no operators, calls or device work");
}

// Recorded runs with whole steps.
std::vector<std::string> files_of(const std::vector<std::string>& names) {
  std::vector<std::string> files;
  for (const std::string& name : names) {
    files.push_back(std::string(ORRERY_SOURCE_DIR) + "/validation/traces/" + name);
  }
  return files;
}

std::vector<std::string> ranks(const std::string& folder, int count) {
  std::vector<std::string> names;
  for (int r = 0; r < count; ++r)
    names.push_back(fmt::format("{}/kineto_rank{}.json.gz", folder, r));
  return names;
}

RecordedRun run_of(const std::vector<std::string>& names) {
  auto run = read_run(files_of(names));
  EXPECT_TRUE(run.has_value()) << run.error().text();
  return std::move(*run);
}

struct WholeSteps {
  std::string name;
  std::vector<std::string> files;
  std::size_t steps;
};

class RecordedRuns : public testing::TestWithParam<WholeSteps> {};

// Lumos reports 3.3 % mean, dPRO 14 %.
TEST_P(RecordedRuns, AreReplayedWithinTwoPercentOnAverageAndFiveAtWorst) {
  const RecordedRun run = run_of(GetParam().files);
  const GraphFromRun g = graph_of(run.ranks);
  const Replay r = replay(run.ranks, g.graph);
  EXPECT_THAT(r.steps, SizeIs(GetParam().steps));
  EXPECT_LE(r.mean_error, 0.02);
  EXPECT_LE(r.worst_error, 0.05);
  EXPECT_EQ(r.dropped_edges, 0U);
  for (const ReplayedStep& s : r.steps) {
    EXPECT_NEAR(s.recorded_parts.total().value(), s.recorded.value(), 1e-9);
    EXPECT_NEAR(s.replayed_parts.total().value(), s.replayed.value(), 1e-9);
    EXPECT_NEAR(s.bound_by.total().value(), s.replayed.value(), 1e-9);
  }
  // The device, which a step bound by its host leaves open: the four parts.
  EXPECT_LE(r.mean_misplaced, 0.03);
  EXPECT_LE(r.worst_misplaced, 0.06);
}

// When kernels started is no input: with every start moved by up to 20 us at random (later only, in
// the order of the stream), the replay moves as one, by what the constants of the recording moved.
TEST(RecordedRun, RecordedStartsAreNoInputs) {
  RecordedRun run = run_of({"HolisticTraceAnalysis/nccl_parser_config/nccl_data.json.gz"});
  RecordedTrace& trace = run.ranks[0];
  const auto starts = [&] {
    const GraphFromRun g = graph_of(run.ranks);
    const ReplayedRun replayed = replayed_run(g.graph);
    std::vector<std::int64_t> by_work;
    for (const RunWork& work : g.graph.works) by_work.push_back(replayed.start_ns[work.first]);
    return by_work;
  };
  const std::vector<std::int64_t> before = starts();
  std::mt19937 random(7);
  std::vector<std::int64_t> free(trace.lanes.size(), 0);
  std::vector<std::int64_t> moved_by;
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (!is_device_work(trace.kind[e])) continue;
    std::int64_t& start = trace.start_ns[e];
    const std::int64_t moved =
        std::max(start + static_cast<std::int64_t>(random() % 20'000), free[trace.lane[e]]);
    moved_by.push_back(moved - start);
    start = moved;
    free[trace.lane[e]] = trace.end_ns(e);
  }
  const std::vector<std::int64_t> after = starts();
  ASSERT_EQ(before.size(), after.size());
  const auto spread = [](std::vector<std::int64_t> values) {
    const auto middle = [](std::vector<std::int64_t>& v) {
      const auto at = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
      std::nth_element(v.begin(), at, v.end());
      return *at;
    };
    const std::int64_t centre = middle(values);
    for (std::int64_t& value : values) value = std::abs(value - centre);
    return middle(values);
  };
  std::vector<std::int64_t> change;
  for (std::size_t i = 0; i < after.size(); ++i) change.push_back(after[i] - before[i]);
  EXPECT_GT(spread(moved_by), 4'000);
  EXPECT_LT(spread(change), 1'000);
}

INSTANTIATE_TEST_SUITE_P(
    Validation, RecordedRuns,
    testing::Values(
        WholeSteps{"megatron_tp8", ranks("astra-sim/megatron-tp8", 8), 8},
        WholeSteps{"megatron_tp2", ranks("megatron-lm-fork/tp2", 2), 2},
        WholeSteps{"torchrec", ranks("torchrec/sst_long_a2a_optimizer", 4), 12},
        WholeSteps{"torchrec_2", ranks("torchrec/sst_long_a2a_optimizer_2", 4), 12},
        WholeSteps{"torchrec_4", ranks("torchrec/sst_long_a2a_optimizer_4", 4), 12},
        WholeSteps{"nccl_data", {"HolisticTraceAnalysis/nccl_parser_config/nccl_data.json.gz"}, 3},
        WholeSteps{"df_index_resolver",
                   {"HolisticTraceAnalysis/df_index_resolver/df_index_resolver.json.gz"},
                   5},
        WholeSteps{"resnet_act_checkpoint", {"TraceLens/mi300/resnet_act_checkpoint.json.gz"}, 3},
        WholeSteps{"ao", {"ao/ref_ep_moe_fwd.json.gz"}, 1},
        WholeSteps{"resnet50_2021",
                   {"kineto/resnet50_num_workers_4/worker0.1623212756351.pt.trace.json.gz"},
                   6},
        WholeSteps{"owlv2_mi300",
                   {"TraceLens/mi300/google_owlv2-large-patch14-ensemble__1016001.json.gz"},
                   1},
        WholeSteps{"qwen_h100", {"TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"}, 1}),
    [](const auto& test) { return test.param.name; });

// Lumos section 3.1: simulators without dependencies between streams predict too much overlap and
// too short steps.
TEST(RecordedRun, WithoutWaitsBetweenStreamsOverlapGrowsAndStepsShrink) {
  const RecordedRun run = run_of(ranks("torchrec/sst_long_a2a_optimizer_4", 4));
  const Replay kept = replay(run.ranks, graph_of(run.ranks).graph);
  const Replay dropped =
      replay(run.ranks, graph_of(run.ranks, {.stream_waits = StreamWaits::dropped}).graph);
  const auto overlapped = [](const Replay& r) {
    return std::accumulate(r.steps.begin(), r.steps.end(), 0.0, [](double sum, const auto& s) {
      return sum + s.replayed_parts.overlapped.value();
    });
  };
  EXPECT_GT(overlapped(dropped), 1.5 * overlapped(kept));
  EXPECT_GT(dropped.mean_error, 0.05);
  EXPECT_LT(kept.mean_error, 0.005);
  for (std::size_t i = 0; i < kept.steps.size(); ++i) {
    EXPECT_LT(dropped.steps[i].replayed, kept.steps[i].replayed);
  }
}

// Rank 0 of this run shares its device with another process by turns of 2.4 ms; rank 1 does not.
TEST(RecordedRun, ADeviceSharedByTurnsIsFound) {
  const RecordedRun run = run_of(ranks("megatron-lm-fork/tp2", 2));
  const GraphFromRun g = graph_of(run.ranks);
  EXPECT_NEAR(static_cast<double>(g.parameters[0].slice_ns), 2.4e6, 0.05e6);
  EXPECT_EQ(g.parameters[1].slice_ns, 0);
  // Most of what stands idle on it was launched by then; nothing runs meanwhile.
  const Intervals turns = other_process_turns(run.ranks[0]);
  EXPECT_NEAR(static_cast<double>(length(turns)), 52.7e6, 2.5e6);
  Intervals work;
  for (std::uint32_t e = 0; e < run.ranks[0].size(); ++e) {
    if (!is_device_work(run.ranks[0].kind[e])) continue;
    add_by_start(work, {run.ranks[0].start_ns[e], run.ranks[0].end_ns(e)});
  }
  EXPECT_TRUE(intersection(turns, work).empty());
  EXPECT_TRUE(other_process_turns(run.ranks[1]).empty());
}

TEST(RecordedRun, ReplaysTheSameTwice) {
  const RecordedRun run = run_of(ranks("torchrec/sst_long_a2a_optimizer", 4));
  EXPECT_EQ(replayed_run(graph_of(run.ranks).graph).end_ns,
            replayed_run(graph_of(run.ranks).graph).end_ns);
}

}  // namespace
}  // namespace orrery
