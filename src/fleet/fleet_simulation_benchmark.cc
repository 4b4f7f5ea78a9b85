// 30 days of 2,048 nodes with some 7,400 jobs a day; items are jobs. The argument is the scheduler.
#include <benchmark/benchmark.h>

#include "fleet/fleet_simulation.h"

namespace orrery {
namespace {

void thirty_days(benchmark::State& state) {
  const Catalog& catalog = Catalog::built_in();
  const JobMix mix = *load_job_mix(catalog, "meta-rsc-1");
  const RandomDraws draws(1, 0);
  const auto jobs = jobs_of(mix, 2048, 30, draws);
  FleetModel model;
  model.nodes = 2048;
  model.days = 30;
  model.failure_rate = rate_of_node(*load_failure_rates(catalog, mix.failures), 8);
  model.repair = mix.repair;
  model.restart = *load_restart_times(catalog, mix.restart);
  model.checkpoint = mix.checkpoint;
  model.preempt_after = mix.preempt_after;
  model.scheduler = static_cast<Scheduler>(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(simulate_fleet(model, jobs, draws)->idle);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(jobs.size()));
  state.SetLabel(std::string(to_text(model.scheduler)));
}
BENCHMARK(thirty_days)->DenseRange(0, kSchedulers - 1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
