// What-ifs of real recordings, some of them with the answer recorded as well.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "replay/graph_from_run.h"
#include "trace/recorded_run.h"
#include "whatif/edit_language.h"
#include "whatif/stragglers.h"

namespace orrery {
namespace {

struct TracedRun {
  std::vector<RecordedTrace> traces;
  RunGraph graph;
};

TracedRun run_of(const std::vector<std::string>& files) {
  std::vector<std::string> paths;
  for (const std::string& file : files) {
    paths.push_back(std::string(ORRERY_SOURCE_DIR) + "/validation/traces/" + file);
  }
  auto run = read_run(paths);
  EXPECT_TRUE(run) << run.error().text();
  auto graph = graph_from_run(run->ranks);
  EXPECT_TRUE(graph) << graph.error().text();
  return {std::move(run->ranks), std::move(graph->graph)};
}

WhatIf changed(const TracedRun& run, std::string_view text) {
  const auto edits = parse_edits(text, "edits");
  EXPECT_TRUE(edits) << edits.error().text();
  auto result = what_if(run.traces, run.graph, *edits, Catalog::built_in());
  EXPECT_TRUE(result) << result.error().text();
  return result ? std::move(*result) : WhatIf{};
}

std::vector<std::string> ranks(const std::string& folder, int count) {
  std::vector<std::string> out;
  for (int rank = 0; rank < count; ++rank) {
    out.push_back(fmt::format("{}/kineto_rank{}.json.gz", folder, rank));
  }
  return out;
}

TEST(RecordedWhatIfs, ThatChangeNothingGiveTheReplayedTimeline) {
  for (const auto& files :
       {ranks("megatron-lm-fork/tp2", 2), ranks("torchrec/sst_long_a2a_optimizer_4", 4),
        std::vector<std::string>{"TraceLens/mi300/resnet_act_checkpoint.json.gz"},
        std::vector<std::string>{"HolisticTraceAnalysis/nccl_parser_config/nccl_data.json.gz"}}) {
    const TracedRun run = run_of(files);
    const ReplayedRun replayed = replayed_run(run.graph);
    for (const char* text :
         {"", "scale class communication by 1; scale host by 1", "bandwidth by 1; latency by 1"}) {
      const WhatIf result = changed(run, text);
      EXPECT_EQ(result.timeline.end_ns, replayed.end_ns) << files[0] << ": " << text;
      EXPECT_EQ(result.timeline.start_ns, replayed.start_ns) << files[0] << ": " << text;
    }
  }
}

TEST(RecordedWhatIfs, MoveAModelToTheAcceleratorItWasAlsoRecordedOn) {
  // The same two models on an H100 and an MI300X, with other libraries' kernels.
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
                             "mi300/Qwen_Qwen1.5-0.5B-Chat__1016005", 0.02},
                        Case{"mi300/Qwen_Qwen1.5-0.5B-Chat__1016005", "h100-sxm",
                             "h100/Qwen_Qwen1.5-0.5B-Chat__1016005", 0.16}}) {
    const WhatIf predicted = changed(run_of({fmt::format("TraceLens/{}.json.gz", c.from)}),
                                     fmt::format("accelerator {}", c.accelerator));
    const WhatIf recorded = changed(run_of({fmt::format("TraceLens/{}.json.gz", c.to)}), "");
    EXPECT_NEAR(predicted.after / recorded.before, 1, c.band) << c.from;
  }
}

TEST(RecordedWhatIfs, OfMegatronOnEightRanks) {
  const TracedRun run = run_of(ranks("astra-sim/megatron-tp8", 8));
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

TEST(RecordedWhatIfs, AttributeWaitingToTheRankThatCausesIt) {
  // Rank 0 is the rank with most host time (190 of 222 ms idle: validation/traces/astra-sim).
  const TracedRun run = run_of(ranks("astra-sim/megatron-tp8", 8));
  const auto found = stragglers(run.traces, run.graph, Catalog::built_in());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_GE(found->slowdown(), 1);
  ASSERT_EQ(found->ranks.size(), 8u);
  for (std::size_t r = 1; r < 8; ++r) EXPECT_GT(found->ranks[0].gain, found->ranks[r].gain);
  ASSERT_FALSE(found->kinds.empty());
  EXPECT_EQ(found->kinds[0].what, "host");
  for (std::size_t k = 1; k < found->kinds.size(); ++k) {
    EXPECT_GT(found->kinds[0].gain, found->kinds[k].gain);
  }
}

}  // namespace
}  // namespace orrery
