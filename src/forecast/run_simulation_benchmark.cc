// Runs of 54 days on 2,048 nodes with the failures of Llama 3 and the restarts of ByteRobust: items
// are runs. The baseline walks the same run step by step on one thread.
#include <benchmark/benchmark.h>

#include <random>

#include "forecast/run_simulation.h"

namespace orrery {
namespace {

constexpr std::int64_t kEvery = 200;  // steps between checkpoints

RunModel llama_run() {
  const Catalog& catalog = Catalog::built_in();
  RunModel m;
  m.step = Seconds(6);
  m.steps = 54 * 86400 / 6;
  m.nodes = 2048;
  m.failure_rate = rate_of_node(*load_failure_rates(catalog, "meta-llama-3"), 8);
  m.restart = stages_at(*load_restart_times(catalog, "bytedance-standby"), 16384);
  m.checkpoints = {
      {.every = kEvery, .blocked = Seconds(2), .durable = Seconds(2), .restore = Seconds(30)}};
  return m;
}

void runs_of_54_days(benchmark::State& state) {
  const RunModel m = llama_run();
  const std::int64_t runs = state.range(0);
  std::int64_t interruptions = 0;
  for (auto _ : state) {
    const auto out = simulate_runs(m, runs, 1, static_cast<int>(state.range(1)));
    interruptions += out->front().interruptions;
  }
  benchmark::DoNotOptimize(interruptions);
  state.SetItemsProcessed(state.iterations() * runs);
}
BENCHMARK(runs_of_54_days)
    ->Args({1000, 1})
    ->Args({10000, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void runs_of_54_days_baseline(benchmark::State& state) {
  const RunModel m = llama_run();
  const double mean_gap = 1 / (m.failure_rate.value() * static_cast<double>(m.nodes));
  const double step = m.step.value();
  std::mt19937_64 random(1);
  std::exponential_distribution<double> gap(1 / mean_gap);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (auto _ : state) {
    double now = 0;
    double failure = gap(random);
    std::int64_t saved = 0;
    for (std::int64_t done = 0; done < m.steps;) {
      double next = now + step;
      if ((done + 1) % kEvery == 0) next += m.checkpoints.front().blocked.value();
      if (next <= failure) {
        now = next;
        if (++done % kEvery == 0) saved = done;
        continue;
      }
      done = saved;
      do {
        now = failure;
        failure += gap(random);
        for (const RestartStage& stage : m.restart) {
          if (uniform(random) < stage.share) now += time_at(stage.time, uniform(random)).value();
        }
        now += m.checkpoints.front().restore.value();
      } while (failure < now);
    }
    benchmark::DoNotOptimize(now);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(runs_of_54_days_baseline)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace orrery
