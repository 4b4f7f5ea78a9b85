// Whole commands timed from outside: wall time, processor time and peak memory of the process.
//
// peak_MB is the largest resident set that the kernel saw (getrusage(2), ru_maxrss, 10^6 bytes).
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

namespace {

struct Run {
  double wall_seconds = 0;
  double processor_seconds = 0;
  double peak_bytes = 0;
  bool ok = false;
};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

Run run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execv(arguments.front(), arguments.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child) return {};
  Run out;
  out.wall_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  out.processor_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  out.peak_bytes = 1024.0 * static_cast<double>(usage.ru_maxrss);
  out.ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return out;
}

void measure(benchmark::State& state, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {ORRERY_COMMAND};
  words.insert(words.end(), arguments.begin(), arguments.end());
  double processor = 0;
  double peak = 0;
  for (auto _ : state) {  // NOLINT(readability-identifier-naming): the loop of Google Benchmark
    const Run one = run(words);
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
  measure(state, question("estimate", {"--plan", "tp=8,pp=16"}));
}
void search_405b(benchmark::State& state) { measure(state, question("search", {})); }
void search_405b_one_thread(benchmark::State& state) {
  measure(state, question("search", {"--threads", "1"}));
}

BENCHMARK(start_up)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(estimate_405b)->UseManualTime()->Unit(benchmark::kMillisecond);
BENCHMARK(search_405b)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);
BENCHMARK(search_405b_one_thread)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
