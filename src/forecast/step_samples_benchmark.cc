// Samples of a step of 64,000 GPUs, 16 stages and 128 microbatches: items are samples. The baseline
// is one sample the plain way: every replica of the pipeline simulated alone, on one thread.
#include <benchmark/benchmark.h>

#include <random>

#include "estimate/built_in_scenario.h"
#include "forecast/step_samples.h"

namespace orrery {
namespace {

PredictedStep step_of_64000() {
  return *predict(scenario("llama-3.1-405b", "h100-sxm:64000", "tp=8,pp=16", 8192, 500 * 128),
                  catalog());
}
StepDraws published_spreads() { return {.variability = *load_variability(catalog(), "prism")}; }

void step_samples_of_64000(benchmark::State& state) {
  const PredictedStep step = step_of_64000();
  const VaryingStep work(step);
  const StepDraws draws = published_spreads();
  const std::int64_t samples = state.range(0);
  for (auto _ : state) {
    benchmark::DoNotOptimize(sample_steps(work, draws, samples, static_cast<int>(state.range(1))));
  }
  state.SetItemsProcessed(state.iterations() * samples);
}
BENCHMARK(step_samples_of_64000)
    ->Args({1000, 1})
    ->Args({10000, 2})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void step_samples_of_64000_baseline(benchmark::State& state) {
  const PredictedStep step = step_of_64000();
  const VaryingStep work(step);
  const StepDraws draws = published_spreads();
  const Graph& graph = step.folded.step.graph;
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  const auto slowest_of_group = [&] {
    double z = -10;
    for (std::int64_t i = 0; i < work.lock_step(); ++i) z = std::max(z, normal(random));
    return z;
  };
  std::vector<double> durations(graph.size());
  for (auto _ : state) {
    double longest = 0;
    for (std::int64_t replica = 0; replica < work.replicas(); ++replica) {
      std::vector<double> factors;
      for (std::size_t s = 0; s < work.devices(); ++s) {
        factors.push_back(1 + draws.variability.products.spatial * slowest_of_group());
      }
      for (std::size_t n = 0; n < graph.size(); ++n) {
        const VaryingStep::Shape& shape = work.shapes()[work.shape_of(n)];
        const double noise = 1 + draws.variability.products.temporal * normal(random);
        durations[n] = shape.time * factors[shape.device] * noise;
      }
      longest = std::max(longest, simulate(graph, durations).makespan.count());
    }
    benchmark::DoNotOptimize(longest);
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(step_samples_of_64000_baseline)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace orrery
