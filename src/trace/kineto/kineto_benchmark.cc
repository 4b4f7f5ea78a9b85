// From JSON to the columns of a trace, against two DOM parsers that only build their tree.
//
// The text is in memory before the clock starts, so that a rate is of parsing alone; reading the
// packed file is timed apart. The DOM cases do less: they stop at the tree and read nothing of it.
#include <benchmark/benchmark.h>
#include <rapidjson/document.h>
#include <simdjson.h>

#include <string>

#include "trace/byte_stream.h"
#include "trace/kineto/kineto.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

// Diffusion on an MI300X with stacks (62 MB, 239,093 entries), and data-parallel training on a V100
// without (54 MB, 216,092).
constexpr const char* kFiles[] = {ORRERY_SOURCE_DIR
                                  "/validation/traces/TraceLens/inference/xdit_sd_3.5/"
                                  "profile_trace_rank_0.json.gz",
                                  ORRERY_SOURCE_DIR
                                  "/validation/traces/HolisticTraceAnalysis/df_index_resolver/"
                                  "df_index_resolver.json.gz"};

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

std::string unpacked(const char* file) {
  auto stream = ByteStream::open(file);
  std::string text;
  std::size_t size = 0;
  do {
    text.resize(size + (std::size_t{1} << 20U));
    size += *stream->read(text.data() + size, text.size() - size);
  } while (size == text.size());
  text.resize(size);
  return text;
}

void read_kineto_text(benchmark::State& state) {
  const std::string text = unpacked(kFiles[state.range(0)]);
  std::size_t events = 0;
  for (auto _ : state) events = read_kineto_bytes(text, "trace")->size();
  count_bytes(state, text.size());
  state.counters["events"] = static_cast<double>(events);
}
BENCHMARK(read_kineto_text)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void read_kineto_gzip(benchmark::State& state) {
  const char* file = kFiles[state.range(0)];
  const std::size_t size = unpacked(file).size();
  for (auto _ : state) benchmark::DoNotOptimize(read_kineto(file)->size());
  count_bytes(state, size);
}
BENCHMARK(read_kineto_gzip)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void rapidjson_tree(benchmark::State& state) {
  const std::string text = unpacked(kFiles[state.range(0)]);
  for (auto _ : state) {
    rapidjson::Document document;
    document.Parse(text.data(), text.size());
    benchmark::DoNotOptimize(document["traceEvents"].Size());
  }
  count_bytes(state, text.size());
}
BENCHMARK(rapidjson_tree)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void simdjson_tree(benchmark::State& state) {
  const std::string text = unpacked(kFiles[state.range(0)]);
  for (auto _ : state) {
    simdjson::dom::parser parser;
    benchmark::DoNotOptimize(parser.parse(text)["traceEvents"].get_array().size());
  }
  count_bytes(state, text.size());
}
BENCHMARK(simdjson_tree)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
