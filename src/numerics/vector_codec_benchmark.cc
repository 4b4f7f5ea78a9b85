// Compression of vectors beside zstd and LZ4 of the same bytes. `ratio`: bytes before over bytes
// behind; throughputs are of the bytes before. Rows are drawn from a few thousand, as look-ups of a
// skewed table are.
#include <benchmark/benchmark.h>
#include <lz4.h>
#include <zstd.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "numerics/vector_codec.h"
#include "parallel/random_draws.h"

namespace orrery {
namespace {

constexpr std::size_t kWidth = 64;
constexpr double kBound = 0.03;

const std::vector<float>& looked_up_rows() {
  static const std::vector<float> kRows = [] {
    constexpr std::size_t kTable = 4096;
    constexpr std::size_t kLookUps = 16384;
    const RandomDraws draws(1, 0);
    std::vector<float> out;
    for (std::size_t i = 0; i < kLookUps; ++i) {
      // Half of the look-ups go to a tenth of the rows.
      const auto row = static_cast<std::size_t>(kTable * std::pow(draws.uniform(0, i), 3.3));
      for (std::size_t c = 0; c < kWidth; ++c) {
        out.push_back(static_cast<float>(0.1 * draws.normal(1, row * kWidth + c)));
      }
    }
    return out;
  }();
  return kRows;
}

std::span<const char> bytes() {
  const std::vector<float>& rows = looked_up_rows();
  return {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(float)};
}

void report(benchmark::State& state, std::size_t compressed) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes().size()));
  state.counters["ratio"] = static_cast<double>(bytes().size()) / static_cast<double>(compressed);
}

void BM_Compress(benchmark::State& state, LosslessStage stage) {
  std::size_t size = 0;
  for (auto _ : state) size = compressed_vectors(looked_up_rows(), kWidth, kBound, stage).size();
  report(state, size);
}
BENCHMARK_CAPTURE(BM_Compress, repeats, LosslessStage::repeats);
BENCHMARK_CAPTURE(BM_Compress, huffman, LosslessStage::huffman);

void BM_Decompress(benchmark::State& state, LosslessStage stage) {
  const std::string coded = compressed_vectors(looked_up_rows(), kWidth, kBound, stage);
  for (auto _ : state) {
    benchmark::DoNotOptimize(decompressed_vectors(coded, looked_up_rows().size()));
  }
  report(state, coded.size());
}
BENCHMARK_CAPTURE(BM_Decompress, repeats, LosslessStage::repeats);
BENCHMARK_CAPTURE(BM_Decompress, huffman, LosslessStage::huffman);

void BM_CompressZstd(benchmark::State& state) {
  std::string out(ZSTD_compressBound(bytes().size()), '\0');
  std::size_t size = 0;
  for (auto _ : state) {
    size = ZSTD_compress(out.data(), out.size(), bytes().data(), bytes().size(), 1);
  }
  report(state, size);
}
BENCHMARK(BM_CompressZstd);

void BM_CompressLz4(benchmark::State& state) {
  const int length = static_cast<int>(bytes().size());
  std::string out(static_cast<std::size_t>(LZ4_compressBound(length)), '\0');
  int size = 0;
  for (auto _ : state) {
    size = LZ4_compress_default(bytes().data(), out.data(), length, static_cast<int>(out.size()));
  }
  report(state, static_cast<std::size_t>(size));
}
BENCHMARK(BM_CompressLz4);

}  // namespace
}  // namespace orrery
