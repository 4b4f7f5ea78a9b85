// Time of C[m,n] = A[m,k] B[k,n], `groups` times in one launch.
//
//   t = t0 + (compute^4 + memory^4)^(1/4) + partial(s)
//   compute = waves · (per·k/s + kr·u)                bm × bn tile, one per processor
//   u       = 2·bm·bn / (R/S · g(w)/g(w*))            seconds of the matrix units per element of k
//   per     = max(u, (bm + bn)·e / β)                 the same, limited by the path to memory
//   g(w)    = 1 / (1 + (w0/w)²),  w = 2·bm·bn/(bm+bn) narrow tiles reload operands more often
//   waves   = max(1, x + r·(⌈x⌉ - x)),  x = groups·⌈m/bm⌉·⌈n/bn⌉·s / S
//   memory  = groups·(m·k + k·n)·e + m·n·e' over achieved bandwidth
//   partial = s > 1:  fp32 partial sums through memory, and a synchronisation
//
// R ceiling (peak × fitted fraction × sustained fraction), S processors, w* the width of the
// largest tile, kr fill and epilogue of a tile in elements of k, β bandwidth of one processor, r
// wave rounding (persistent and stream-K kernels and odd tile shapes fill part of the last wave), s
// the split of k over processors, t0 launch floor. The best of a few tile shapes and splits is
// taken, as the heuristic of a library would. k and n are padded to the 16 bytes a tensor core
// loads.
//
// The sum of fourth powers rounds off the corner of the roofline, because loads and products
// overlap only partly. Accumulating into an fp32 gradient reads and writes four bytes per element,
// in memory and at the end of each tile. Operands that lie in the last-level cache come
// `cache_speed` times faster, which happens in micro-benchmarks that repeat a product but not in a
// training step.
//
// A convolution is the product that it implies (m output positions, k input channels x taps), with
// A read from memory once: m·k / input_reuse elements (implicit GEMM; Chetlur et al., cuDNN,
// arXiv 1410.0759 s.3). Winograd and FFT algorithms are not modelled.
//
// Source: Williams, Waterman, Patterson 2009 (roofline); NVIDIA, Matrix Multiplication Background
// (tile and wave quantisation). Each term rises with each size, so the minimum over tiles does.
// Not modelled: a heuristic's poor choices, slower kernels for unaligned rows (frameworks pad; what
// is not padded is named: lower/unaligned_products.h; heads: attention.cc), operand re-reads beyond
// the cache, power drawn by the data's bits.
#include <algorithm>
#include <array>
#include <cmath>

#include "cost/kernel/kernel_model.h"

namespace orrery {
namespace {

struct Tile {
  double rows, columns;
  [[nodiscard]] constexpr double width() const { return 2 * rows * columns / (rows + columns); }
};
constexpr std::array<Tile, KernelModel::kTiles> kTileShapes = {{{128, 256},
                                                                {256, 128},
                                                                {128, 128},
                                                                {64, 256},
                                                                {128, 64},
                                                                {64, 128},
                                                                {64, 64},
                                                                {32, 64},
                                                                {16, 64}}};
constexpr std::size_t kSplits = 5;      // 2, 4, 8, 16, 32
constexpr double kLeastDepth = 128;     // of k per split; shorter parts save nothing
constexpr double kPartialBytes = 8;     // an fp32 sum written and read
constexpr double kAccumulateBytes = 8;  // an fp32 gradient read and written
constexpr double kGranuleBytes = 16;

// Bytes of a result element: matrix units accumulate in fp32 and store 16 bits for narrow operands.
double result_bytes(NumberFormat format) {
  return std::max(2.0, format == NumberFormat::mxfp8 ? 2.0 : element_size(format).value());
}

double rounded_roofline(double a, double b) {
  const double high = std::max(a, b);
  if (!(high > 0)) return 0;
  const double q = std::min(a, b) / high;
  return high * std::sqrt(std::sqrt(1 + q * q * q * q));
}

}  // namespace

double KernelModel::granule(NumberFormat format) {
  if (format == NumberFormat::mxfp8 || format == NumberFormat::nvfp4) return 32;
  return kGranuleBytes / element_size(format).value();
}

KernelModel::KernelModel(KernelParameters parameters) : parameters_(std::move(parameters)) {
  for (std::size_t f = 0; f < kNumberFormats; ++f) {
    const FormatParameters& p = parameters_.formats[f];
    const auto efficiency = [&](const Tile& tile) {
      const double ratio = p.tile_half_size / tile.width();
      return 1 / (1 + ratio * ratio);
    };
    const double unit_rate =
        p.ceiling.value() / parameters_.compute_units / efficiency(kTileShapes[0]);
    for (std::size_t i = 0; i < kTiles; ++i) {
      const Tile& tile = kTileShapes[i];
      tile_seconds_[f][i] = 2 * tile.rows * tile.columns / (unit_rate * efficiency(tile));
    }
  }
}

Seconds KernelModel::gemm(const GemmShape& shape, NumberFormat format) const {
  const FormatParameters& p = parameters_.format(format);
  if (!(shape.m > 0 && shape.n > 0 && shape.k > 0 && shape.groups > 0)) return Seconds(0);
  const double g = granule(format);
  const double m = shape.m;
  const double n = std::ceil(shape.n / g) * g;
  const double k = std::ceil(shape.k / g) * g;
  const double units = parameters_.compute_units;
  const double operand = element_size(format).value();
  const double bandwidth = p.bandwidth.value();
  const double result = shape.accumulates ? kAccumulateBytes : result_bytes(format);
  const double memory =
      shape.groups *
      (m * k / shape.input_reuse * operand / (shape.inputs_cached ? p.cache_speed : 1) +
       k * n * operand / (shape.weights_cached ? p.cache_speed : 1) + m * n * result) /
      bandwidth;
  const double per_byte = 1 / p.unit_bandwidth.value();
  const double extra = shape.accumulates ? kAccumulateBytes - 2 : 0;
  const double least = std::min(k, kLeastDepth);
  const auto& seconds = tile_seconds_[static_cast<std::size_t>(format)];

  double whole = HUGE_VAL;
  std::array<double, kSplits> split;
  split.fill(HUGE_VAL);
  for (std::size_t i = 0; i < kTiles; ++i) {
    const Tile& tile = kTileShapes[i];
    const double tiles = shape.groups * std::ceil(m / tile.rows) * std::ceil(n / tile.columns);
    const double per = std::max(
        seconds[i], (std::min(m, tile.rows) + std::min(n, tile.columns)) * operand * per_byte);
    const double ends = p.ramp_depth * seconds[i] + extra * tile.rows * tile.columns * per_byte;
    const double x = tiles / units;
    const double waves = std::max(1.0, x + p.wave_rounding * (std::ceil(x) - x));
    whole = std::min(whole, waves * (per * k + ends));
    double parts = 2;
    for (std::size_t s = 0; s < kSplits && tiles * parts <= units; ++s, parts *= 2) {
      split[s] = std::min(split[s], per * std::max(k / parts, least) + ends);
    }
  }
  double best = rounded_roofline(whole, memory);
  double parts = 2;
  for (std::size_t s = 0; s < kSplits && split[s] < HUGE_VAL; ++s, parts *= 2) {
    const double sums = shape.groups * m * n * kPartialBytes * parts / bandwidth;
    best = std::min(best, rounded_roofline(split[s], memory) + sums + p.split_latency.value());
  }
  return p.floor + Seconds(best);
}

// Does not try splits of k, because small groups come in large numbers.
Seconds KernelModel::grouped_gemm(std::span<const double> rows, double n, double k,
                                  NumberFormat format) const {
  const FormatParameters& p = parameters_.format(format);
  const double g = granule(format);
  n = std::ceil(n / g) * g;
  k = std::ceil(k / g) * g;
  double all = 0;
  double most = 0;
  double groups = 0;
  for (const double m : rows) {
    if (!(m > 0)) continue;
    all += m;
    most = std::max(most, m);
    ++groups;
  }
  if (!(groups > 0 && n > 0 && k > 0)) return Seconds(0);
  const double operand = element_size(format).value();
  const double memory =
      ((all * k + groups * n * k) * operand + all * n * result_bytes(format)) / p.bandwidth.value();
  const double per_byte = 1 / p.unit_bandwidth.value();
  double best = HUGE_VAL;
  for (std::size_t i = 0; i < kTiles; ++i) {
    const Tile& tile = kTileShapes[i];
    double tiles = 0;
    for (const double m : rows) tiles += m > 0 ? std::ceil(m / tile.rows) : 0;
    tiles *= std::ceil(n / tile.columns);
    const double seconds = tile_seconds_[static_cast<std::size_t>(format)][i];
    const double per = std::max(
        seconds, (std::min(most, tile.rows) + std::min(n, tile.columns)) * operand * per_byte);
    const double x = tiles / parameters_.compute_units;
    const double waves = std::max(1.0, x + p.wave_rounding * (std::ceil(x) - x));
    best = std::min(best, waves * (per * k + p.ramp_depth * seconds));
  }
  return p.floor + Seconds(rounded_roofline(best, memory));
}

}  // namespace orrery
