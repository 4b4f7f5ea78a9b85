// Whole commands timed from outside (process_run.h): wall time, processor time and peak memory.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>
#include <vector>

#include "process_run.h"

namespace orrery {
namespace {

void measure(benchmark::State& state, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {ORRERY_COMMAND};
  words.insert(words.end(), arguments.begin(), arguments.end());
  double processor = 0;
  double peak = 0;
  for (auto _ : state) {  // NOLINT(readability-identifier-naming): the loop of Google Benchmark
    const ProcessRun one = run_command(words);
    if (!one.ok) {
      state.SkipWithError("the command failed");
      break;
    }
    state.SetIterationTime(one.wall_seconds);
    processor += one.processor_seconds;
    peak = std::max(peak, one.peak_bytes);
  }
  state.counters["processor_s"] = benchmark::Counter(processor, benchmark::Counter::kAvgIterations);
  state.counters["peak_MB"] = peak / 1e6;
}

const std::vector<std::string> kQuestion = {
    "llama-3.1-405b", "--on", "h100-sxm:16384", "--seq", "8192", "--global-batch", "2048"};

std::vector<std::string> question(const std::string& command,
                                  const std::vector<std::string>& more) {
  std::vector<std::string> out = {command};
  out.insert(out.end(), kQuestion.begin(), kQuestion.end());
  out.insert(out.end(), more.begin(), more.end());
  return out;
}

void start_up(benchmark::State& state) { measure(state, {"--version"}); }
void estimate_405b(benchmark::State& state) {
  measure(state, question("estimate", {"--plan", "tp=8,pp=16,recompute=full"}));
}
void search_405b(benchmark::State& state) { measure(state, question("search", {})); }
void search_405b_one_thread(benchmark::State& state) {
  measure(state, question("search", {"--threads", "1"}));
}

// 1,000 cells: 4 clusters, 5 sequence lengths, 5 batches, 10 plans.
void compare_1000_cells(benchmark::State& state) {
  std::vector<std::string> words = {
      "compare",   "llama-3.1-8b",   "--on",       "h100-sxm:8..64*2", "--seq",
      "1k..5k+1k", "--global-batch", "64..320+64", "--plan",           "tp=1..8*2,zero=1"};
  for (const char* plan :
       {"tp=1,pp=2", "tp=1,pp=4", "tp=2,pp=2", "tp=2,pp=4", "tp=4,pp=2", "tp=2,recompute=full"}) {
    words.insert(words.end(), {"--plan", plan});
  }
  words.emplace_back("--json");
  measure(state, words);
}

BENCHMARK(start_up)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(estimate_405b)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(compare_1000_cells)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK(search_405b)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK(search_405b_one_thread)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace orrery
