#include <benchmark/benchmark.h>

#include "catalog/catalog.h"
#include "cost/collective/collective.h"
#include "cost/collective/collective_parameters.h"

namespace orrery {
namespace {

std::vector<FabricLevel> three_levels() {
  std::vector<FabricLevel> levels(3);
  levels[0] = {"nvlink-4", 8, BytesPerSecond(450e9), Seconds(1e-6), 1, 0.78, true};
  levels[1] = {"infiniband-ndr", 256, BytesPerSecond(50e9), Seconds(1.3e-6), 1, 0.96, false};
  levels[2] = {"spine", 16384, BytesPerSecond(50e9), Seconds(2e-6), 2, 0.96, false};
  return levels;
}

void choose(benchmark::State& state, CollectiveKind kind, const GroupShape& group) {
  const auto parameters = load_collective_parameters(Catalog::built_in(), "hopper");
  const std::vector<FabricLevel> levels = three_levels();
  Bytes payload(1 << 20);
  for (auto _ : state) {
    benchmark::DoNotOptimize(collective(kind, payload, group, levels, *parameters));
    payload += Bytes(1);
  }
}

BENCHMARK_CAPTURE(choose, all_reduce_in_a_node, CollectiveKind::all_reduce, {8, {8, 8, 8}});
BENCHMARK_CAPTURE(choose, all_reduce_over_three_levels, CollectiveKind::all_reduce,
                  {1024, {8, 256, 1024}});
BENCHMARK_CAPTURE(choose, all_gather_over_three_levels, CollectiveKind::all_gather,
                  {1024, {8, 256, 1024}});
BENCHMARK_CAPTURE(choose, all_to_all_over_three_levels, CollectiveKind::all_to_all,
                  {512, {8, 256, 512}});

void message(benchmark::State& state) {
  const auto parameters = load_collective_parameters(Catalog::built_in(), "hopper");
  const std::vector<FabricLevel> levels = three_levels();
  Bytes payload(1 << 20);
  for (auto _ : state) {
    benchmark::DoNotOptimize(point_to_point(payload, levels[1], *parameters));
    payload += Bytes(1);
  }
}
BENCHMARK(message);

}  // namespace
}  // namespace orrery
