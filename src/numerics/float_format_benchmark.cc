// Conversions of fp32 tensors: bytes are those of the fp32 values.
#include <benchmark/benchmark.h>

#include <vector>

#include "numerics/tensor_format.h"

namespace orrery {
namespace {

std::vector<float> normal_values() {
  const RandomDraws draws(1, 0);
  std::vector<float> out(1 << 18);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<float>(draws.normal(0, i));
  return out;
}

void BM_Store(benchmark::State& state, const char* name) {
  const TensorFormat format = *parse_tensor_format(name);
  std::vector<float> values = normal_values();
  for (auto _ : state) {
    store(values, format);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(values.size() * 4));
}
BENCHMARK_CAPTURE(BM_Store, bf16, "bf16");
BENCHMARK_CAPTURE(BM_Store, fp16, "fp16");
BENCHMARK_CAPTURE(BM_Store, fp8_e4m3, "fp8-e4m3");
BENCHMARK_CAPTURE(BM_Store, fp4_e2m1, "fp4-e2m1");
BENCHMARK_CAPTURE(BM_Store, int8, "int8");
BENCHMARK_CAPTURE(BM_Store, fp8_blocks_of_128, "fp8-e4m3/128");
BENCHMARK_CAPTURE(BM_Store, mxfp8_e4m3, "mxfp8-e4m3");
BENCHMARK_CAPTURE(BM_Store, mxfp4, "mxfp4");
BENCHMARK_CAPTURE(BM_Store, nvfp4, "nvfp4");

void BM_Encode(benchmark::State& state, const FloatFormat& format) {
  const std::vector<float> values = normal_values();
  std::vector<std::uint16_t> codes(values.size());
  for (auto _ : state) {
    encode(values, format, codes);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(values.size() * 4));
}
BENCHMARK_CAPTURE(BM_Encode, bf16, kBf16);
BENCHMARK_CAPTURE(BM_Encode, fp16, kFp16);
BENCHMARK_CAPTURE(BM_Encode, fp8_e4m3, kFp8E4m3);
BENCHMARK_CAPTURE(BM_Encode, fp4_e2m1, kFp4E2m1);

void BM_StochasticallyRound(benchmark::State& state) {
  std::vector<float> values = normal_values();
  const RandomDraws draws(2, 0);
  for (auto _ : state) {
    round_stochastically(values, kBf16, draws, 0);
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(values.size() * 4));
}
BENCHMARK(BM_StochasticallyRound);

}  // namespace
}  // namespace orrery
