// Nodes per second: simulating a built graph, and building and simulating it. The baseline is the
// memory a node occupies, read once: no simulation can be faster.
#include <benchmark/benchmark.h>

#include "simulate/simulate.h"

namespace orrery {
namespace {

constexpr std::uint32_t kStreams = 64;
constexpr std::int64_t kNodes = 1 << 20;

// Like an expanded step: mostly chains on a stream, every eighth node waits for another stream.
Graph step_like_graph() {
  GraphBuilder b;
  constexpr auto kCount = static_cast<std::size_t>(kNodes);
  b.reserve(kCount, kCount / 4);
  for (std::uint32_t s = 0; s < kStreams; ++s) b.add_stream({s, StreamRole::compute});
  NodeSpec spec;
  spec.operation = b.intern(Operation{});
  spec.duration = Picoseconds(1000);
  for (std::size_t i = 0; i < kCount; ++i) {
    spec.stream = StreamIndex(i / 32 % kStreams);
    if (i % 8 == 0 && i > 2048) {
      b.add(spec, {NodeIndex(i - 2048)});
    } else {
      b.add(spec);
    }
  }
  return b.build();
}

void simulate_nodes(benchmark::State& state) {
  const Graph graph = step_like_graph();
  for (auto _ : state) benchmark::DoNotOptimize(simulate(graph).makespan);
  state.SetItemsProcessed(state.iterations() * kNodes);
}
BENCHMARK(simulate_nodes)->Unit(benchmark::kMillisecond);

// Eight sets of durations: items are nodes of a lane.
void simulate_lanes_of_nodes(benchmark::State& state) {
  const Graph graph = step_like_graph();
  std::vector<double> durations(kLanes * graph.size(), 1000.0);
  std::vector<double> ends(durations.size());
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulate_lanes<kLanes>(graph, durations, ends));
  }
  state.SetItemsProcessed(state.iterations() * kNodes * static_cast<std::int64_t>(kLanes));
}
BENCHMARK(simulate_lanes_of_nodes)->Unit(benchmark::kMillisecond);

void build_and_simulate_nodes(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(simulate(step_like_graph()).makespan);
  state.SetItemsProcessed(state.iterations() * kNodes);
}
BENCHMARK(build_and_simulate_nodes)->Unit(benchmark::kMillisecond);

void simulate_nodes_baseline(benchmark::State& state) {
  const Graph graph = step_like_graph();
  constexpr auto kCount = static_cast<std::size_t>(kNodes);
  std::vector<double> end(kCount);
  for (auto _ : state) {
    double sum = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      sum += graph.durations()[i] + graph.stream(NodeIndex(i)).value();
      end[i] = sum;
    }
    benchmark::DoNotOptimize(end.data());
  }
  state.SetItemsProcessed(state.iterations() * kNodes);
}
BENCHMARK(simulate_nodes_baseline)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
