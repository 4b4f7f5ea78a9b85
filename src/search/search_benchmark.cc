// The whole default space of Llama 3.1 405B on 16,384 GPUs; items are candidate plans.
#include <benchmark/benchmark.h>

#include "estimate/spec.h"
#include "search/search.h"

namespace orrery {
namespace {

void search_405b(benchmark::State& state) {
  const Catalog& catalog = Catalog::built_in();
  Scenario s;
  s.model = *load_model("llama-3.1-405b", catalog);
  s.cluster = *parse_cluster("h100-sxm:16384", catalog);
  s.software = *load_software(catalog, s.software.name);
  s.training.sequence_length = 8192;
  s.training.global_batch = 2048;
  SearchOptions options;
  options.threads = static_cast<int>(state.range(0));
  std::int64_t considered = 0;
  for (auto _ : state) considered += search(s, {}, options, catalog)->considered;
  state.SetItemsProcessed(considered);
}
BENCHMARK(search_405b)->Arg(1)->Arg(2)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace orrery
