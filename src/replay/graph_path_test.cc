// Paths of simulated graphs: a graph made of a recording has that recording's path, and nothing of
// a step is lost.
#include "replay/graph_path.h"

#include <gmock/gmock.h>

#include <numeric>

#include "replay/graph_from_run.h"
#include "replay/run_graph_file.h"
#include "replay/simulated_recording.h"
#include "replay/step_path.h"

namespace orrery {
namespace {

void expect_whole(const StepPath& path) {
  EXPECT_GT(path.length_ns, 0);
  EXPECT_EQ(std::accumulate(path.by_bound_ns.begin(), path.by_bound_ns.end(), std::int64_t{0}),
            path.length_ns);
  std::int64_t until = 0;
  for (const PathStretch& stretch : path.stretches) {
    EXPECT_EQ(stretch.begin_ns, until);
    until = stretch.end_ns;
  }
  EXPECT_EQ(until, path.length_ns);
}

TEST(GraphPath, OfAGraphMadeOfARecordingIsThatOfTheRecording) {
  const std::string folder =
      ORRERY_SOURCE_DIR "/validation/traces/torchrec/sst_long_a2a_optimizer_2/";
  const auto run = read_run({folder});
  ASSERT_TRUE(run) << run.error().text();
  const auto made = graph_from_run(run->ranks);
  ASSERT_TRUE(made);
  const GraphFile file = graph_file(run->ranks, made->graph);
  const auto seen = simulated_recording(file, "graph");
  ASSERT_TRUE(seen) << seen.error().text();
  EXPECT_EQ(seen->source, RunSource::simulated_graph);
  const std::vector<StepPath> recorded = *step_paths(run->ranks);
  const std::vector<StepPath> simulated = step_paths(file, *seen);
  ASSERT_EQ(simulated.size(), recorded.size());
  for (std::size_t r = 0; r < recorded.size(); ++r) {
    expect_whole(simulated[r]);
    EXPECT_EQ(simulated[r].of, recorded[r].of);
    EXPECT_EQ(simulated[r].length_ns, recorded[r].length_ns);
    EXPECT_EQ(simulated[r].recorded_ns, recorded[r].recorded_ns);
    EXPECT_EQ(simulated[r].operations, recorded[r].operations);
    ASSERT_EQ(simulated[r].ranks.size(), recorded[r].ranks.size());
    for (std::size_t i = 0; i < recorded[r].ranks.size(); ++i) {
      EXPECT_EQ(simulated[r].ranks[i].rank, recorded[r].ranks[i].rank);
      EXPECT_EQ(simulated[r].ranks[i].total_ns, recorded[r].ranks[i].total_ns);
    }
    for (const PathBound bound : {PathBound::compute, PathBound::communication}) {
      const auto b = static_cast<std::size_t>(bound);
      EXPECT_EQ(simulated[r].by_bound_ns[b], recorded[r].by_bound_ns[b]);
    }
  }
}

// Rank 1 computes for 300 us, rank 0 for 100 us; both meet in a collective of 50 us.
TEST(GraphPath, GoesOnInTheRankThatComesLast) {
  GraphBuilder builder;
  const StreamIndex first = builder.add_stream({0, StreamRole::compute});
  const StreamIndex second = builder.add_stream({1, StreamRole::compute});
  const auto spec = [&](NodeKind kind, std::string_view name, StreamIndex stream, double us) {
    return NodeSpec{builder.intern({.kind = kind, .name = builder.intern(name)}), stream,
                    Picoseconds(us * 1e6)};
  };
  builder.add(spec(NodeKind::kernel, "short", first, 100));
  builder.add(spec(NodeKind::kernel, "long", second, 300));
  builder.add_rendezvous(spec(NodeKind::collective, "all-reduce", first, 50), {second});
  const GraphFile file = {builder.build(), {}};
  const auto seen = simulated_recording(file, "graph");
  ASSERT_TRUE(seen) << seen.error().text();
  const std::vector<StepPath> paths = step_paths(file, *seen);
  ASSERT_EQ(paths.size(), 2U);
  for (const StepPath& path : paths) {
    expect_whole(path);
    EXPECT_EQ(path.length_ns, 350'000);
    EXPECT_FALSE(path.recorded_ns);
    ASSERT_EQ(path.stretches.back().operations, path.rank == 0 ? 1 : 2);
    EXPECT_EQ(path.stretches.back().rank, path.rank);
  }
  EXPECT_EQ(paths[0].stretches.back().cause, StretchCause::rank);
  EXPECT_EQ(paths[0].stretches.front().longest, "long");
  EXPECT_EQ(paths[1].stretches.size(), 1U);
}

}  // namespace
}  // namespace orrery
