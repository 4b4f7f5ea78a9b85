// Recordings made into Chakra traces with pauses last as long when they are replayed as they did
// when they were recorded: pauses of the host in, waiting not counted twice.
#include <gmock/gmock.h>

#include <algorithm>
#include <cctype>

#include "replay/chakra_graph.h"
#include "replay/graph_replay.h"
#include "trace/chakra/chakra_conversion.h"
#include "trace/recorded_run.h"

namespace orrery {
namespace {

struct PausedRun {
  const char* name;
  double tolerance;  // of the longest rank
};

class ChakraWithPauses : public ::testing::TestWithParam<PausedRun> {};

TEST_P(ChakraWithPauses, LastsAsLongAsItsRecording) {
  const auto run =
      read_run({ORRERY_SOURCE_DIR "/validation/traces/" + std::string(GetParam().name)});
  ASSERT_TRUE(run) << run.error().text();
  ChakraRun chakra;
  for (const RecordedTrace& rank : run->ranks) {
    auto converted = chakra_from(rank, {.pauses = Pauses::write});
    ASSERT_TRUE(converted) << converted.error().text();
    chakra.push_back({rank.rank, rank.file, std::move(converted->trace)});
  }
  const auto graph = chakra_graph(chakra);
  ASSERT_TRUE(graph) << graph.error().text();
  const GraphReplay replayed = replay(chakra, *graph);
  Seconds recorded;
  for (const ReplayedRank& rank : replayed.ranks) {
    ASSERT_TRUE(rank.recorded);
    recorded = std::max(recorded, *rank.recorded);
  }
  EXPECT_NEAR(replayed.longest_rank / recorded, 1, GetParam().tolerance);
}

INSTANTIATE_TEST_SUITE_P(
    , ChakraWithPauses,
    ::testing::Values(PausedRun{"astra-sim/megatron-tp8", 0.001},
                      PausedRun{"torchrec/sst_long_a2a_optimizer", 0.001},
                      PausedRun{"torchrec/sst_long_a2a_optimizer_2", 0.001},
                      PausedRun{"torchrec/sst_long_a2a_optimizer_4", 0.005},
                      PausedRun{"HolisticTraceAnalysis/nccl_parser_config", 0.002},
                      PausedRun{"HolisticTraceAnalysis/df_index_resolver", 0.001},
                      PausedRun{"HolisticTraceAnalysis/critical_path/alexnet", 0.001},
                      PausedRun{"HolisticTraceAnalysis/trace_filter", 0.005},
                      PausedRun{"TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 0.01},
                      PausedRun{"TraceLens/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", 0.02},
                      PausedRun{"TraceLens/mi300/resnet_act_checkpoint.json.gz", 0.002},
                      PausedRun{"ao/ref_ep_moe_fwd.json.gz", 0.015},
                      PausedRun{"megatron-lm-fork/tp2", 0.002},
                      PausedRun{"kineto/resnet50_num_workers_4", 0.002}),
    [](const auto& of) {
      std::string name = of.param.name;
      std::replace_if(name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

}  // namespace
}  // namespace orrery
