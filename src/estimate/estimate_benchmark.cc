// One estimate of Llama 3.1 405B on 16,384 GPUs, everything loaded; and with its cost cache warm, as
// also of the 8B on 8 GPUs. python/benchmarks/estimates.py compares the warm ones with calls from Python.
#include <benchmark/benchmark.h>

#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "estimate/spec.h"

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

Scenario small_plan() {
  Scenario s = published_plan();
  s.model = *load_model("llama-3.1-8b", Catalog::built_in());
  s.cluster = *parse_cluster("h100-sxm:8", Catalog::built_in());
  s.training.global_batch = 8;
  s.plan = *parse_plan("tp=1");
  return s;
}

void estimate_405b(benchmark::State& state) {
  const Scenario s = published_plan();
  const Uncertainty errors = *load_uncertainty(Catalog::built_in());
  for (auto _ : state) {
    const auto step = predict(s, Catalog::built_in());
    benchmark::DoNotOptimize(estimate(*step, errors).step_time);
  }
}
BENCHMARK(estimate_405b)->Unit(benchmark::kMicrosecond);

void evaluate_warm(benchmark::State& state, const Scenario& s) {
  const Uncertainty errors = *load_uncertainty(Catalog::built_in());
  const auto warm = predict(s, Catalog::built_in());
  for (auto _ : state) {
    benchmark::DoNotOptimize(estimate(*predict(warm->priced, warm->plan()), errors).step_time);
  }
}
void evaluate_405b_warm(benchmark::State& state) { evaluate_warm(state, published_plan()); }
BENCHMARK(evaluate_405b_warm)->Unit(benchmark::kMicrosecond);
void evaluate_8b_warm(benchmark::State& state) { evaluate_warm(state, small_plan()); }
BENCHMARK(evaluate_8b_warm)->Unit(benchmark::kMicrosecond);

void expanded_405b_nodes(benchmark::State& state) {
  const Scenario s = published_plan();
  const auto step = predict(s, Catalog::built_in());
  std::int64_t nodes = 0;
  for (auto _ : state) {
    const auto expanded = simulated(step->costs, Folding::expanded);
    nodes += static_cast<std::int64_t>(expanded->step.graph.size());
    benchmark::DoNotOptimize(expanded->timeline.makespan);
  }
  state.SetItemsProcessed(nodes);
}
BENCHMARK(expanded_405b_nodes)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
