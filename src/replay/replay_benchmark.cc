// From a recording in memory to its graph, and the graph replayed: events per second. Two
// baselines: a copy of the recording's columns, without which no graph can be made, and reading the
// recording from its file, which comes before.
#include <benchmark/benchmark.h>

#include <string>

#include "outcome/invariant.h"
#include "replay/replay.h"
#include "trace/recorded_run.h"

namespace orrery {
namespace {

RecordedRun read_large_run() {
  auto run = read_run({std::string(ORRERY_SOURCE_DIR) +
                       "/validation/traces/HolisticTraceAnalysis/df_index_resolver/"
                       "df_index_resolver.json.gz"});
  ORRERY_INVARIANT(run.has_value());
  return std::move(*run);
}

const RecordedRun& large_run() {
  static const RecordedRun kRun = read_large_run();
  return kRun;
}

void graph_from_recording(benchmark::State& state) {
  const RecordedRun& run = large_run();
  for (auto _ : state) benchmark::DoNotOptimize(graph_from_run(run.ranks)->graph.nodes.size());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(run.ranks[0].size()));
}
BENCHMARK(graph_from_recording)->Unit(benchmark::kMillisecond);

void graph_from_recording_baseline(benchmark::State& state) {
  const RecordedTrace& trace = large_run().ranks[0];
  for (auto _ : state) {
    auto start = trace.start_ns;
    auto duration = trace.duration_ns;
    auto correlation = trace.correlation;
    auto lane = trace.lane;
    auto kind = trace.kind;
    benchmark::DoNotOptimize(start.data());
    benchmark::DoNotOptimize(duration.data());
    benchmark::DoNotOptimize(correlation.data());
    benchmark::DoNotOptimize(lane.data());
    benchmark::DoNotOptimize(kind.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(trace.size()));
}
BENCHMARK(graph_from_recording_baseline)->Unit(benchmark::kMillisecond);

void read_recording_baseline(benchmark::State& state) {
  std::size_t events = 0;
  for (auto _ : state) events = read_large_run().ranks[0].size();
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(events));
}
BENCHMARK(read_recording_baseline)->Unit(benchmark::kMillisecond);

void replay_graph(benchmark::State& state) {
  const RecordedRun& run = large_run();
  const auto graph = graph_from_run(run.ranks);
  for (auto _ : state) benchmark::DoNotOptimize(replayed_run(graph->graph).end_ns.data());
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(graph->graph.nodes.size()));
}
BENCHMARK(replay_graph)->Unit(benchmark::kMillisecond);

// Simulated, and every step taken apart.
void replay_report(benchmark::State& state) {
  const RecordedRun& run = large_run();
  const auto graph = graph_from_run(run.ranks);
  for (auto _ : state) benchmark::DoNotOptimize(replay(run.ranks, graph->graph).mean_error);
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(graph->graph.nodes.size()));
}
BENCHMARK(replay_report)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
