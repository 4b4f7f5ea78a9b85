// Evaluations of a function of 0.5 ms or so: one interpreter, two in one process, two processes.
#include <benchmark/benchmark.h>

#include <thread>
#include <vector>

#include "python/user_functions.h"

namespace orrery {
namespace {

constexpr const char* kSource =
    "def objective(step):\n"
    "    total = 0.0\n"
    "    for i in range(10000):\n"
    "        total += step.step_time_s * i % 7\n"
    "    return total\n";

std::optional<std::string> key(std::string_view name) {
  return name == "step_time_s" ? std::optional<std::string>("1.5") : std::nullopt;
}

// 200 evaluations by as many threads as interpreters.
void evaluate(benchmark::State& state, Interpreters where) {
  const auto count = static_cast<int>(state.range(0));
  const auto functions = UserFunctions::load(kSource, "objective.py", count, where, {});
  if (!functions) {
    state.SkipWithError(functions.error().text().c_str());
    return;
  }
  constexpr int kEvaluations = 200;
  for (auto _ : state) {
    std::vector<std::thread> threads;
    for (int t = 0; t < count; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < kEvaluations / count; ++i) {
          benchmark::DoNotOptimize((*functions)->call("objective", key));
        }
      });
    }
    for (std::thread& t : threads) t.join();
  }
  state.SetItemsProcessed(state.iterations() * kEvaluations);
}

void evaluations_in_threads(benchmark::State& state) { evaluate(state, Interpreters::in_threads); }
BENCHMARK(evaluations_in_threads)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

void evaluations_in_processes(benchmark::State& state) {
  evaluate(state, Interpreters::in_processes);
}
BENCHMARK(evaluations_in_processes)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
