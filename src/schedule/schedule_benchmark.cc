// Milliseconds to work out a schedule and to execute it, on 64 devices with 1024 microbatches and 8
// chunks where it can have them: up to 1.5 million operations. The baseline is simulating alone
// (simulate_benchmark.cc).
#include <benchmark/benchmark.h>

#include "schedule/execution.h"
#include "schedule/schedule.h"

namespace orrery {
namespace {

ScheduleRequest large(const Schedule& schedule) {
  ScheduleRequest out;
  out.shape = {64, 1024, schedule.chunks > 0 ? schedule.chunks : 8};
  out.times = equal_times(out.shape, Picoseconds(1000), Picoseconds(1000), Picoseconds(1000));
  return out;
}

void make_and_execute(benchmark::State& state, const Schedule& schedule) {
  const ScheduleRequest request = large(schedule);
  std::size_t operations = 0;
  for (auto _ : state) {
    const auto made = pipeline(schedule, request);
    if (!made) return state.SkipWithError(made.error().text().c_str());
    const auto run = execute(*made, request.times);
    if (!run) return state.SkipWithError(run.error().text().c_str());
    operations = made->operations();
    benchmark::DoNotOptimize(run->measures.makespan);
  }
  state.counters["operations"] = static_cast<double>(operations);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(operations));
}

const bool kRegistered = [] {
  for (const Schedule& schedule : schedules()) {
    benchmark::RegisterBenchmark(
        ("make_and_execute/" + std::string(schedule.name)).c_str(),
        [&schedule](benchmark::State& state) { make_and_execute(state, schedule); })
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

}  // namespace
}  // namespace orrery
