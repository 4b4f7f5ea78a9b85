// One estimate of Llama 3.1 405B on 16,384 GPUs, everything loaded; and with its cost cache warm.
#include <benchmark/benchmark.h>

#include "estimate/evaluate.h"
#include "estimate/spec.h"
#include "plan/validity.h"
#include "simulate/simulate.h"

namespace orrery {
namespace {

Scenario published_plan() {
  const Catalog& catalog = Catalog::built_in();
  Scenario s;
  s.model = *load_model("llama-3.1-405b", catalog);
  s.cluster = *parse_cluster("h100-sxm:16384", catalog);
  s.training.sequence_length = 8192;
  s.training.global_batch = 2048;
  s.plan = *parse_plan("tp=8,pp=16,chunks=8");
  return s;
}

void estimate_405b(benchmark::State& state) {
  const Scenario s = published_plan();
  for (auto _ : state) benchmark::DoNotOptimize(estimate(s, Catalog::built_in())->step_time);
}
BENCHMARK(estimate_405b)->Unit(benchmark::kMicrosecond);

void evaluate_405b_warm(benchmark::State& state) {
  const Scenario s = published_plan();
  const CompletedPlan c = completed_plan(s.model, s.cluster, s.training, s.plan);
  CostCache cache(s.model, c.training, *cost_context(s.cluster, Catalog::built_in()));
  for (auto _ : state) benchmark::DoNotOptimize(evaluate(cache, c.plan)->step_time);
}
BENCHMARK(evaluate_405b_warm)->Unit(benchmark::kMicrosecond);

void expanded_405b_nodes(benchmark::State& state) {
  const Scenario s = published_plan();
  const CompletedPlan c = completed_plan(s.model, s.cluster, s.training, s.plan);
  CostCache cache(s.model, c.training, *cost_context(s.cluster, Catalog::built_in()));
  const StepCosts step = step_costs(cache, c.plan);
  std::int64_t nodes = 0;
  for (auto _ : state) {
    const auto lowered = step_graph(step, Folding::expanded);
    nodes += static_cast<std::int64_t>(lowered->graph.size());
    benchmark::DoNotOptimize(simulate(lowered->graph).makespan);
  }
  state.SetItemsProcessed(nodes);
}
BENCHMARK(expanded_405b_nodes)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
