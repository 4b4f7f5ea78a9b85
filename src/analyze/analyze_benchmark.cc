// How fast recorded runs are analyzed: events a second, one thread. The baseline of a recorded run
// is reading it from its file, which comes before.
#include <benchmark/benchmark.h>

#include <string>

#include "analyze/run_analysis.h"
#include "outcome/invariant.h"
#include "trace/recorded_run.h"

namespace orrery {
namespace {

// Layers of operators that launch kernels, and an all-reduce each tenth: as a training step looks.
RecordedTrace synthetic_trace(std::int64_t operators) {
  RecordedTrace trace;
  trace.rank = 0;
  trace.lanes.push_back({.process = 1, .thread = 1, .process_name = {}, .thread_name = {}});
  for (const std::int64_t stream : {7, 24}) {
    trace.lanes.push_back(
        {.device = true, .thread = stream, .process_name = {}, .thread_name = {}});
  }
  const auto add = [&](EventKind kind, const char* name, std::uint32_t lane, std::int64_t start,
                       std::int64_t duration, std::int64_t correlation) {
    trace.correlation[trace.append(kind, name, lane, start, duration)] = correlation;
  };
  add(EventKind::annotation, "ProfilerStep#1", 0, 0, operators * 10'000, kNotRecorded);
  for (std::int64_t i = 0; i < operators; ++i) {
    const std::int64_t at = i * 10'000;
    add(EventKind::cpu_operator, "aten::linear", 0, at, 9'000, kNotRecorded);
    add(EventKind::cpu_operator, "aten::addmm", 0, at + 500, 8'000, kNotRecorded);
    add(EventKind::runtime_call, "cudaLaunchKernel", 0, at + 1'000, 4'000, i);
    const bool communicates = i % 10 == 9;
    add(EventKind::kernel, communicates ? "ncclDevKernel_AllReduce_Sum_f16" : "gemm",
        communicates ? 2 : 1, at + 6'000, 3'900, i);
  }
  return trace;
}

void BM_AnalyzeOneRank(benchmark::State& state) {
  std::vector<RecordedTrace> traces;
  traces.push_back(synthetic_trace(state.range(0)));
  const auto events = static_cast<std::int64_t>(traces[0].size());
  const auto run = make_run(std::move(traces));
  for (auto _ : state) benchmark::DoNotOptimize(analyze(*run, Catalog::built_in()));
  state.SetItemsProcessed(state.iterations() * events);
}
BENCHMARK(BM_AnalyzeOneRank)->Arg(2'500)->Arg(62'500)->Unit(benchmark::kMillisecond);

void BM_Breakdown(benchmark::State& state) {
  const RecordedTrace trace = synthetic_trace(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        temporal_breakdown(trace, launch_links(trace), BreakdownPreset::orrery));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(trace.size()));
}
BENCHMARK(BM_Breakdown)->Arg(62'500)->Unit(benchmark::kMillisecond);

RecordedRun recorded_run() {
  auto run = read_run({std::string(ORRERY_SOURCE_DIR) +
                       "/validation/traces/HolisticTraceAnalysis/df_index_resolver/"
                       "df_index_resolver.json.gz"});
  ORRERY_INVARIANT(run.has_value());
  return std::move(*run);
}

void BM_AnalyzeRecording(benchmark::State& state) {
  const RecordedRun run = recorded_run();
  for (auto _ : state) benchmark::DoNotOptimize(analyze(run, Catalog::built_in()));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(run.ranks[0].size()));
}
BENCHMARK(BM_AnalyzeRecording)->Unit(benchmark::kMillisecond);

void BM_ReadRecordingBaseline(benchmark::State& state) {
  std::size_t events = 0;
  for (auto _ : state) events = recorded_run().ranks[0].size();
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(events));
}
BENCHMARK(BM_ReadRecordingBaseline)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
