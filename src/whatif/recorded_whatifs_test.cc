// What-ifs of real recordings, some of them with the answer recorded as well.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "analyze/findings.h"
#include "outcome/sanitizers.h"
#include "replay/graph_from_run.h"
#include "trace/launch_links.h"
#include "trace/published_traces.h"
#include "trace/recorded_run.h"
#include "whatif/edit_language.h"
#include "whatif/edited_recording.h"
#include "whatif/edited_run.h"
#include "whatif/stragglers.h"
#include "whatif/traced_run.h"
#include "whatif/whatif.h"

namespace orrery {
namespace {

std::vector<std::string> paths_of(const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  for (const std::string& file : files) {
    paths.push_back(kTraces + file);
  }
  return paths;
}

TracedRun run_of_files(const std::vector<std::string>& files) {
  auto run = read_run(paths_of(files));
  EXPECT_TRUE(run) << run.error().text();
  return traced(std::move(run->ranks));
}

std::vector<std::string> ranks(const std::string& folder, int count) {
  std::vector<std::string> out;
  for (int rank = 0; rank < count; ++rank) {
    out.push_back(fmt::format("{}/kineto_rank{}.json.gz", folder, rank));
  }
  return out;
}

// Every recording that can be replayed, and runs of several ranks.
std::vector<std::vector<std::string>> replayable() {
  std::vector<std::vector<std::string>> out;
  for (const char* file :
       {"HolisticTraceAnalysis/nccl_parser_config/nccl_data.json.gz",
        "HolisticTraceAnalysis/df_index_resolver/df_index_resolver.json.gz",
        "HolisticTraceAnalysis/critical_path/alexnet/"
        "benchmark_result_2869224_1695835535_trace.json.gz",
        "HolisticTraceAnalysis/critical_path/simple_add/"
        "benchmark_result_493459_1694039959_trace.json.gz",
        "HolisticTraceAnalysis/critical_path/cuda_event_sync_multi_stream/"
        "event_sync_trace.json.gz",
        "HolisticTraceAnalysis/amd_trace/"
        "mi250_minitoy_train_ROCm6_2_kineto.json.gz",
        "TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
        "TraceLens/mi300/resnet_act_checkpoint.json.gz", "ao/ref_ep_moe_fwd.json.gz"}) {
    out.push_back({file});
  }
  out.push_back(ranks("megatron-lm-fork/tp2", 2));
  out.push_back(ranks("torchrec/sst_long_a2a_optimizer", 4));
  if (kSanitized) return out;
  out.push_back(ranks("torchrec/sst_long_a2a_optimizer_2", 4));
  out.push_back(ranks("torchrec/sst_long_a2a_optimizer_4", 4));
  out.push_back(ranks("astra-sim/megatron-tp8", 8));
  return out;
}

TEST(RecordedWhatIfs, ThatChangeNothingGiveTheReplayedTimeline) {
  for (const auto& files : replayable()) {
    const TracedRun run = run_of_files(files);
    const ReplayedRun replayed = replayed_run(run.graph);
    std::string text = "scale kernel * by 1; scale host by 1; pp 1";
    const bool communicates =
        std::any_of(run.graph.nodes.begin(), run.graph.nodes.end(),
                    [](const RunNode& node) { return node.kind == RunNodeKind::transfer; });
    if (communicates) text += "; bandwidth by 1; latency by 1";
    for (const std::string& edits : {std::string(), text}) {
      const WhatIf result = changed(run, edits);
      EXPECT_EQ(result.timeline.end_ns, replayed.end_ns) << files[0] << ": " << edits;
      EXPECT_EQ(result.timeline.start_ns, replayed.start_ns) << files[0] << ": " << edits;
    }
  }
}

TEST(RecordedWhatIfs, NeverGainFromSlowerWork) {
  // The graph has no choice of order, so that longer pieces cannot make a shorter whole.
  for (const auto& files : replayable()) {
    const TracedRun run = run_of_files(files);
    const auto end_of = [&](const std::string& text) {
      const WhatIf result = changed(run, text);
      return result.timeline.end_ns.empty()
                 ? std::int64_t{0}
                 : *std::max_element(result.timeline.end_ns.begin(), result.timeline.end_ns.end());
    };
    const std::int64_t before = end_of("");
    EXPECT_LE(end_of("scale kernel * by 0.5"), before) << files[0];
    EXPECT_GE(end_of("scale kernel * by 2"), before) << files[0];
    EXPECT_LE(end_of("scale host by 0.5"), before) << files[0];
    // Edits are applied in order: what one halves the next doubles again.
    EXPECT_NEAR(static_cast<double>(end_of("scale kernel * by 2; scale kernel * by 0.5")),
                static_cast<double>(before), 1e-5 * static_cast<double>(before))
        << files[0];
    if (files.size() == 1) continue;
    std::int64_t slower = std::numeric_limits<std::int64_t>::max();
    for (const char* factor : {"0.5", "1", "2", "8"}) {
      const std::int64_t now = end_of(fmt::format("bandwidth by {}", factor));
      EXPECT_LE(now, slower) << files[0] << ", bandwidth by " << factor;
      slower = now;
    }
  }
}

TEST(RecordedWhatIfs, RebuildARecordingAsAPipelineOfOneStage) {
  // Dealt to one stage in the recorded order, the passes take what they took: all launches, streams
  // and waits of a Megatron step with its backward pass are found again.
  for (const auto& files : {ranks("megatron-lm-fork/tp2", 2), ranks("astra-sim/megatron-tp8", 8)}) {
    const TracedRun run = run_of_files(files);
    const WhatIf rebuilt = changed(run, "pp 1 microbatches 1");
    EXPECT_EQ(rebuilt.timeline.dropped_edges, 0u);
    for (const WhatIfStep& step : rebuilt.steps) {
      EXPECT_NEAR(step.after / step.before, 1, 1e-9) << files[0];
    }
  }
}

TEST(RecordedWhatIfs, ToWhatIsRecordedAreTheReplayedTimeline) {
  const TracedRun run = run_of_files(ranks("megatron-lm-fork/tp2", 2));
  const ReplayedRun replayed = replayed_run(run.graph);
  for (const char* text :
       {"tp 2", "dp 2", "layers 2 to 2", "microbatches 1 to 1", "resize 12 to 12", "pp 1",
        "accelerator v100-pcie", "bucket 1B", "scale class matrix_product by 1", "latency by 1"}) {
    const WhatIf same = changed(run, text);
    EXPECT_EQ(same.timeline.start_ns, replayed.start_ns) << text;
    EXPECT_EQ(same.timeline.end_ns, replayed.end_ns) << text;
    EXPECT_FALSE(same.edits[0].assumed.empty()) << text;
  }
}

TEST(RecordedWhatIfs, ComposeAllTheirKinds) {
  // Every edit behind the others, each with what it assumed; shapes are those of the execution
  // traces beside the profiler's.
  const TracedRun run = run_of_files({"megatron-lm-fork/tp2"});
  const WhatIf all = changed(
      run,
      "price class matrix_product; scale class softmax by 0.9; set class copy to 3us; remove class "
      "reduction; fuse class elementwise by 0.9; bandwidth by 2; latency by 0.5; bucket 1MiB; "
      "even; "
      "tp 4; resize 48 to 96; accelerator h100-sxm; overlap class communication; layers 2 to 3; "
      "dp 4 gradients 1MB link 10GB/s; pp 3 microbatches 6 send 1MB link 10GB/s; capture operator "
      "aten::copy_");
  EXPECT_EQ(all.timeline.dropped_edges, 0u);
  EXPECT_TRUE(all.staged);
  ASSERT_EQ(all.edits.size(), 17u);
  for (const AppliedEdit& edit : all.edits) {
    EXPECT_FALSE(edit.assumed.empty()) << edit.text;
    EXPECT_GT(edit.changed, 0u) << edit.text;
  }
  EXPECT_GT(all.after, Seconds(0));
}

TEST(RecordedWhatIfs, MicrobatchesAreAccumulated) {
  const TracedRun run = run_of_files(ranks("megatron-lm-fork/tp2", 2));
  const ReplayedRun replayed = replayed_run(run.graph);
  EXPECT_EQ(changed(run, "microbatches 1 to 1").timeline.end_ns, replayed.end_ns);
  EXPECT_EQ(changed(run, "microbatches 1 to 8").after, changed(run, "pp 1 microbatches 8").after);
  const auto edits = parse_edits("microbatches 2 to 8", "edits");
  ASSERT_TRUE(edits);
  const auto refused = what_if(run.traces, run.graph, *edits, Catalog::built_in());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            "microbatches 2 to 8: a step of the recording has 1 microbatch (microbatches 1 to 8)");
}

TEST(RecordedWhatIfs, KnowWhatIsSentFromOperatorsToo) {
  // Recorded before NCCL's arguments were: 81 all-reduces of 64 MiB, 3 of 32 KiB (trace analyze).
  const TracedRun run = run_of_files(ranks("astra-sim/megatron-tp8", 8));
  const EditedRun edited(run.traces, run.graph);
  std::size_t large = 0;
  for (const RunWork& work : run.graph.works) {
    if (!edited.communicates(work)) continue;
    const WorkSubject s = edited.subject(work);
    ASSERT_TRUE(s.volume.has_value());
    if (*s.volume == Bytes(64.0 * 1024 * 1024)) ++large;
  }
  EXPECT_EQ(large, 8u * 81);
  // Every result is used before the next all-reduce begins: none can wait for another.
  const WhatIf bucketed = changed(run, "bucket 1GiB");
  EXPECT_EQ(bucketed.edits[0].changed, 0u);
  EXPECT_EQ(bucketed.timeline.end_ns, replayed_run(run.graph).end_ns);
}

TEST(RecordedWhatIfs, PipelineAMegatronStep) {
  const TracedRun run = run_of_files(ranks("megatron-lm-fork/tp2", 2));
  const double step = changed(run, "").before.value();
  const WhatIf accumulated = changed(run, "pp 1 microbatches 8");
  const WhatIf pipelined = changed(run, "pp 2 microbatches 8 send 1MB link 10GB/s");
  EXPECT_EQ(pipelined.timeline.dropped_edges, 0u);
  // Two stages of which the larger has more than half: between half and all of the time.
  EXPECT_LT(pipelined.after, accumulated.after);
  EXPECT_GT(pipelined.after, accumulated.after / 2);
  EXPECT_GT(accumulated.after.value(), 6 * step * 0.8);
  // Forty layers on four stages, forward only: gpipe's (M + P - 1) / (M P) of the time.
  const TracedRun tp8 = run_of_files(ranks("astra-sim/megatron-tp8", 8));
  const double alone = changed(tp8, "pp 1 microbatches 16").after.value();
  const double four = changed(tp8, "pp 4 microbatches 16").after.value();
  EXPECT_NEAR(four / alone, 19.0 / 64, 0.06);
}

TEST(RecordedWhatIfs, CanBeReadAsRecordings) {
  const TracedRun run = run_of_files(ranks("megatron-lm-fork/tp2", 2));
  for (const char* edits : {"", "scale kernel * by 3", "pp 2 microbatches 4 send 1MB link 1GB/s"}) {
    const WhatIf edited = changed(run, edits);
    const std::vector<RecordedTrace> recordings =
        edited_recording(run.traces, edited.graph, edited.timeline);
    ASSERT_EQ(recordings.size(), edited.staged ? 4u : 2u);
    std::size_t works = 0;
    std::size_t launched = 0;
    for (const RecordedTrace& recording : recordings) {
      EXPECT_TRUE(recording.simulated);
      const LaunchLinks links = launch_links(recording);
      for (std::size_t e = 0; e < recording.size(); ++e) {
        if (!is_device_work(recording.kind[e])) continue;
        ++works;
        launched += links.call[e] != kNoEvent ? 1U : 0U;
      }
    }
    EXPECT_EQ(works, edited.graph.works.size()) << edits;
    EXPECT_GT(launched, 0.98 * static_cast<double>(works)) << edits;
    // The step of the recording is the step that was predicted.
    for (const RunStep& step : edited.graph.steps) {
      const std::int64_t ns = edited.timeline.end_ns[step.to] -
                              (step.from == kNoEvent ? 0 : edited.timeline.end_ns[step.from]);
      const RecordedTrace& recording =
          recordings[edited.staged ? 2 * step.trace + step.stage : step.trace];
      bool found = false;
      for (std::size_t e = 0; e < recording.size(); ++e) {
        found = found || (recording.name_of(e) == step.name && recording.duration_ns[e] == ns);
      }
      EXPECT_TRUE(found) << edits;
    }
  }
}

TEST(RecordedWhatIfs, WriteAnOperatorOnceHoweverManyPiecesItHas) {
  const TracedRun run = run_of_files(ranks("megatron-lm-fork/tp2", 2));
  const auto calls = [](std::span<const RecordedTrace> recordings, std::string_view name) {
    std::size_t out = 0;
    for (const RecordedTrace& recording : recordings) {
      for (std::size_t e = 0; e < recording.size(); ++e) {
        out +=
            recording.kind[e] == EventKind::cpu_operator && recording.name_of(e) == name ? 1U : 0U;
      }
    }
    return out;
  };
  struct Case {
    const char* edits;
    std::size_t times;  // as often as recorded: of layers and of microbatches
  };
  for (const auto& [edits, times] :
       {Case{"", 1}, Case{"layers 2 to 6", 3}, Case{"pp 1 microbatches 3", 3},
        Case{"pp 2 microbatches 4 send 1MB link 1GB/s", 4}}) {
    const WhatIf edited = changed(run, edits);
    const auto recordings = edited_recording(run.traces, edited.graph, edited.timeline);
    // Once a layer; the last three enclose others.
    for (const char* name : {"aten::baddbmm", "aten::softmax", "aten::gelu", "BaddbmmBackward0",
                             "autograd::engine::evaluate_function: BaddbmmBackward0"}) {
      EXPECT_EQ(calls(recordings, name), times * calls(run.traces, name)) << edits << ": " << name;
    }
  }
  // Read again, operators are in those that called them.
  const WhatIf unchanged = changed(run, "");
  const auto recordings = edited_recording(run.traces, unchanged.graph, unchanged.timeline);
  const auto launched_by = [](const RecordedTrace& trace) {
    const LaunchLinks links = launch_links(trace);
    std::map<std::pair<std::string, std::string>, std::size_t> out;
    for (std::uint32_t e = 0; e < trace.size(); ++e) {
      if (!is_device_work(trace.kind[e]) || links.inner_operator[e] == kNoEvent) continue;
      ++out[{std::string(trace.name_of(links.inner_operator[e])),
             std::string(trace.name_of(links.outer_operator(e)))}];
    }
    return out;
  };
  for (std::size_t r = 0; r < 2; ++r) {
    EXPECT_EQ(launched_by(recordings[r]), launched_by(run.traces[r])) << r;
  }
}

TEST(RecordedWhatIfs, MoveAModelToTheAcceleratorItWasAlsoRecordedOn) {
  // The same two models on an H100 and an MI300X, with other libraries' kernels. Qwen is bound by
  // its host, which stays as it was recorded.
  struct Case {
    const char* from;
    const char* accelerator;
    const char* to;
    double band;  // of the relative error
  };
  for (const Case& c : {Case{"h100/google_owlv2-large-patch14-ensemble__1016001", "mi300x",
                             "mi300/google_owlv2-large-patch14-ensemble__1016001", 0.06},
                        Case{"mi300/google_owlv2-large-patch14-ensemble__1016001", "h100-sxm",
                             "h100/google_owlv2-large-patch14-ensemble__1016001", 0.03},
                        Case{"h100/Qwen_Qwen1.5-0.5B-Chat__1016005", "mi300x",
                             "mi300/Qwen_Qwen1.5-0.5B-Chat__1016005", 0.11},
                        Case{"mi300/Qwen_Qwen1.5-0.5B-Chat__1016005", "h100-sxm",
                             "h100/Qwen_Qwen1.5-0.5B-Chat__1016005", 0.11}}) {
    const WhatIf predicted = changed(run_of_files({fmt::format("TraceLens/{}.json.gz", c.from)}),
                                     fmt::format("accelerator {}", c.accelerator));
    const WhatIf recorded = changed(run_of_files({fmt::format("TraceLens/{}.json.gz", c.to)}), "");
    EXPECT_NEAR(predicted.after / recorded.before, 1, c.band) << c.from;
  }
}

TEST(RecordedWhatIfs, FasterKernelsNeverMakeAStepLonger) {
  // Of the first two the device had 14 and 30 ms left to do when the recording began.
  for (const char* file :
       {"TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005", "TraceLens/mi300/resnet_act_checkpoint",
        "TraceLens/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005"}) {
    const TracedRun run = run_of_files({fmt::format("{}.json.gz", file)});
    Seconds faster;
    for (const double by : {0.0, 0.25, 0.5, 0.75, 1.0, 1.1}) {
      const Seconds step = changed(run, fmt::format("scale kernel * by {}", by)).after;
      EXPECT_GE(step, faster * 0.99) << file << " by " << by;
      faster = step;
    }
  }
}

TEST(RecordedWhatIfs, OfMegatronOnEightRanks) {
  const TracedRun run = run_of_files(ranks("astra-sim/megatron-tp8", 8));
  // Forty layers are nearly the whole step.
  const WhatIf twice = changed(run, "layers 40 to 80");
  EXPECT_NEAR(twice.after / twice.before, 1.94, 0.02);
  const WhatIf half = changed(run, "layers 40 to 20");
  EXPECT_NEAR(half.after / half.before, 0.54, 0.02);
  // The host is the limit: graphs gain two thirds, faster kernels nothing.
  const WhatIf captured = changed(run, "capture");
  EXPECT_LT(captured.after / captured.before, 0.4);
  const WhatIf faster = changed(run, "scale class matrix_product by 0.5");
  EXPECT_NEAR(faster.after / faster.before, 1, 0.01);
  // Captured, the device is the limit: what remains is at least computing and transfers.
  EXPECT_GT(captured.after, Seconds(0.130 + 0.050));
}

TEST(RecordedWhatIfs, EvenRanksAreNeverSlowerAndGainNoMoreThanTheyWait) {
  for (const auto& files : replayable()) {
    if (files.size() == 1) continue;
    const TracedRun run = run_of_files(files);
    const WhatIf even = changed(run, "even");
    EXPECT_LE(even.after, even.before) << files[0];
    EXPECT_LE(even.before - even.after, even.waiting_before) << files[0];
    for (std::size_t n = 0; n < run.graph.nodes.size(); ++n) {
      ASSERT_LE(even.graph.nodes[n].duration_ns, run.graph.nodes[n].duration_ns) << files[0];
    }
    // What trace analyze calls the most that mending could save: a share of the time of all ranks.
    const auto recorded = read_run(paths_of(files));
    ASSERT_TRUE(recorded) << recorded.error().text();
    const auto analysis = analyze(*recorded, Catalog::built_in());
    ASSERT_TRUE(analysis) << analysis.error().text();
    double share = 0;
    for (const Finding& finding : findings(*analysis)) {
      if (finding.kind == FindingKind::waiting) share = finding.share;
    }
    EXPECT_GT(share, 0.1) << files[0];
    EXPECT_LE((even.before - even.after) / even.before, share) << files[0];
  }
}

TEST(RecordedWhatIfs, AttributeWaitingToTheRankThatCausesIt) {
  // Hosts of all ranks are late in turns, rank 0 most often (52 % of the waiting, trace analyze).
  const TracedRun run = run_of_files(ranks("astra-sim/megatron-tp8", 8));
  const auto found = stragglers(run.traces, run.graph);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_GT(found->slowdown(), 1.5);
  ASSERT_EQ(found->ranks.size(), 8u);
  for (std::size_t r = 1; r < 8; ++r) {
    EXPECT_GT(found->ranks[0].gain, found->ranks[r].gain);
    EXPECT_GT(found->ranks[0].remains, found->ranks[r].remains);
  }
  // Who waits for whom is what trace analyze finds, to the error of the replay.
  const auto recorded = read_run(paths_of(ranks("astra-sim/megatron-tp8", 8)));
  ASSERT_TRUE(recorded) << recorded.error().text();
  const auto analysis = analyze(*recorded, Catalog::built_in());
  ASSERT_TRUE(analysis) << analysis.error().text();
  ASSERT_EQ(found->waiting.size(), 8u);
  const auto& published = analysis->communication.ranks;
  Seconds caused;
  Seconds waited;
  for (std::size_t r = 0; r < 8; ++r) {
    const RankWaiting& rank = found->waiting[r];
    const double waiting_s = static_cast<double>(published[r].waiting_ns) * 1e-9;
    const double caused_s = static_cast<double>(published[r].caused_waiting_ns) * 1e-9;
    EXPECT_NEAR(rank.waited.value(), waiting_s, 0.002) << r;
    EXPECT_NEAR(rank.caused.value(), caused_s, 0.01) << r;
    waited += rank.waited;
    caused += rank.caused;
  }
  EXPECT_NEAR(waited.value(), caused.value(), 1e-9);
  // Ranks 0 and 6: 52 % and 42 %.
  EXPECT_GT((found->waiting[0].caused + found->waiting[6].caused) / caused, 0.9);
  ASSERT_FALSE(found->kinds.empty());
  EXPECT_EQ(found->kinds[0].what, "host");
  for (std::size_t k = 1; k < found->kinds.size(); ++k) {
    EXPECT_GT(found->kinds[0].gain, found->kinds[k].gain);
  }
}

}  // namespace
}  // namespace orrery
