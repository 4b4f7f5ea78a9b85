// Recordings of one rank of a larger job in which launch calls are lost replay in the recorded time.
#include <gmock/gmock.h>

#include <algorithm>
#include <unordered_set>

#include "replay/replay.h"
#include "trace/kept_events.h"
#include "trace/kineto/kineto.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

// Without the launch call of every ninth kernel, communications included, from the `first` one on.
RecordedTrace without_ninth_launches(RecordedTrace trace, std::size_t first) {
  std::vector<std::uint32_t> kernels;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] == EventKind::kernel) kernels.push_back(e);
  }
  std::ranges::stable_sort(kernels, {}, [&](std::uint32_t e) { return trace.start_ns[e]; });
  std::unordered_set<std::int64_t> lost;
  for (std::size_t k = first; k < kernels.size(); k += 9) {
    lost.insert(trace.correlation[kernels[k]]);
  }
  std::vector<bool> kept(trace.size(), true);
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    kept[e] = trace.kind[e] != EventKind::runtime_call || !lost.contains(trace.correlation[e]);
  }
  keep_events(trace, kept);
  trace.forward_to_backward.clear();
  return trace;
}

class LostLaunches : public testing::TestWithParam<const char*> {};

TEST_P(LostLaunches, ReplayInTheRecordedTime) {
  for (const std::size_t first : {std::size_t{2}, std::size_t{8}}) {
    auto trace = read_kineto(std::string(ORRERY_SOURCE_DIR "/validation/traces/") + GetParam());
    ASSERT_TRUE(trace) << trace.error().text();
    std::vector<RecordedTrace> traces;
    traces.push_back(without_ninth_launches(std::move(*trace), first));
    const auto graph = graph_from_run(traces);
    ASSERT_TRUE(graph) << graph.error().text();
    EXPECT_GT(graph->unlaunched, 10U);
    EXPECT_LT(replay(traces, graph->graph).worst_error, 0.05) << "from kernel " << first;
  }
}

INSTANTIATE_TEST_SUITE_P(Recordings, LostLaunches,
                         testing::Values("torchrec/sst_long_a2a_optimizer_4/kineto_rank0.json.gz",
                                         "torchrec/sst_long_a2a_optimizer_4/kineto_rank3.json.gz",
                                         "torchrec/sst_long_a2a_optimizer_2/kineto_rank0.json.gz",
                                         "astra-sim/megatron-tp8/kineto_rank0.json.gz"));

}  // namespace
}  // namespace orrery
