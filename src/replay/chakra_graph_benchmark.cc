// From the bytes of Chakra traces to a replayed run, stage by stage: nodes per second. The run is
// made: 32 ranks, each with 20,000 nodes on three streams that compute, reduce in groups of eight
// ranks and send to the next rank, with the attributes and dependencies that `orrery estimate
// --chakra` writes. Wall time, since ranks are read on several threads.
#include <benchmark/benchmark.h>

#include <filesystem>
#include <string>
#include <vector>

#include "outcome/invariant.h"
#include "replay/graph_replay.h"
#include "trace/chakra/chakra_check.h"
#include "trace/chakra/chakra_file.h"

namespace orrery {
namespace {

constexpr std::int64_t kRanks = 32;
constexpr std::int64_t kNodes = 20'000;

ChakraTrace made_trace(std::int64_t rank) {
  ChakraTrace out;
  out.version = "0.0.4";
  const std::int64_t first = rank / 8 * 8;
  ChakraNode& groups = out.nodes.emplace_back();
  groups.id = 1;
  groups.name = "## process_group:init ##";
  groups.type = ChakraNodeType::metadata;
  groups.inputs = ChakraValues{R"(['[{"pg_name": "1", "ranks": [)", "[[]]", "['String']"};
  for (std::int64_t r = first; r < first + 8; ++r) {
    groups.inputs->values += (r > first ? ", " : "") + std::to_string(r);
  }
  groups.inputs->values += "]}]']";
  while (static_cast<std::int64_t>(out.nodes.size()) < kNodes) {
    const std::uint64_t id = out.nodes.size() + 1;
    ChakraNode& node = out.nodes.emplace_back();
    node.id = id;
    node.name = "mlp.gate_and_up";
    node.type = ChakraNodeType::compute;
    node.data_dependencies = {id - 1};
    if (id > 6) node.data_dependencies.push_back(id - 5);
    node.start_micros = id * 10;
    node.duration_micros = 10;
    node.attributes = {chakra_boolean("is_cpu_op", false), chakra_int64("stream", 0)};
    if (id % 4 == 0) {
      node.name = "mlp.all_gather";
      node.type = ChakraNodeType::collective;
      node.attributes = {chakra_boolean("is_cpu_op", false), chakra_int64("stream", 1),
                         chakra_int64("comm_type", 2), chakra_int64("comm_size", 8'388'608),
                         chakra_text("pg_name", "1")};
    } else if (id % 401 == 0) {
      const bool sends = rank % 2 == 0;
      node.name = "activations";
      node.type = sends ? ChakraNodeType::send : ChakraNodeType::receive;
      const auto low = static_cast<std::int32_t>(rank / 2 * 2);
      node.attributes = {chakra_boolean("is_cpu_op", false), chakra_int64("comm_size", 16'777'216),
                         chakra_int32("comm_src", low), chakra_int32("comm_dst", low + 1),
                         chakra_int32("comm_tag", static_cast<std::int32_t>(id))};
    }
  }
  return out;
}

const std::vector<std::string>& files() {
  static const std::vector<std::string> kFiles = [] {
    const auto folder = std::filesystem::temp_directory_path() / "orrery_chakra_benchmark";
    std::filesystem::create_directories(folder);
    std::vector<std::string> out;
    for (std::int64_t r = 0; r < kRanks; ++r) {
      out.push_back((folder / ("made." + std::to_string(r) + ".et")).string());
      ORRERY_INVARIANT(write_chakra(out.back(), made_trace(r)).has_value());
    }
    return out;
  }();
  return kFiles;
}

const ChakraRun& run() {
  static const ChakraRun kRun = *read_chakra_run(files());
  return kRun;
}

void count_nodes(benchmark::State& state) {
  state.SetItemsProcessed(state.iterations() * kRanks * kNodes);
}

void read_chakra_ranks(benchmark::State& state) {
  const std::vector<std::string>& given = files();
  for (auto _ : state) benchmark::DoNotOptimize(read_chakra_run(given)->size());
  count_nodes(state);
}
BENCHMARK(read_chakra_ranks)->Unit(benchmark::kMillisecond)->UseRealTime();

void check_chakra_ranks(benchmark::State& state) {
  for (auto _ : state) {
    for (const ChakraRank& rank : run()) benchmark::DoNotOptimize(check_chakra(rank.trace).total);
  }
  count_nodes(state);
}
BENCHMARK(check_chakra_ranks)->Unit(benchmark::kMillisecond)->UseRealTime();

void graph_of_chakra_ranks(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(chakra_graph(run())->rendezvous);
  count_nodes(state);
}
BENCHMARK(graph_of_chakra_ranks)->Unit(benchmark::kMillisecond)->UseRealTime();

// Simulated, and the time of every rank divided into parts.
void replay_chakra_ranks(benchmark::State& state) {
  const auto graph = chakra_graph(run());
  for (auto _ : state) benchmark::DoNotOptimize(replay(run(), *graph).step);
  count_nodes(state);
}
BENCHMARK(replay_chakra_ranks)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace orrery
