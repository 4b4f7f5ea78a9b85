// Time of C[m,n] = A[m,k] B[k,n], `groups` times in one launch.
//
//   t = t0 + max(compute, memory)
//   compute = waves · 2·bm·bn·(k/s + kr) / (R/S · w/w*)        bm × bn tile, one per processor
//   waves   = max(1, x + r·(⌈x⌉ - x)),  x = groups·⌈m/bm⌉·⌈n/bn⌉·s / S
//   w       = h / (h + w0),  h = 2·bm·bn / (bm + bn)           narrow tiles reload operands more
//   memory  = groups·(m·k + k·n)·e + m·n·e' over achieved bandwidth
//
// R ceiling (peak × fitted fraction × sustained fraction), S processors, w* the rate of the largest
// tile, kr the fill and epilogue of a tile in elements of k, r wave rounding (persistent and
// stream-K kernels fill part of the last wave), s the split of k over processors (plus fp32 partial
// sums through memory), t0 launch floor. The best of a few tile shapes and splits is taken, as a
// library's heuristic does. k and n are padded to the 16 bytes a tensor core loads.
//
// Source: Williams, Waterman, Patterson 2009 (roofline); NVIDIA, Matrix Multiplication Background
// (tile and wave quantisation). Each term rises with each size, so the minimum over tiles does.
// Not modelled: slower kernels for unaligned k (frameworks pad), operand re-reads beyond the cache,
// power drawn by the data's bits.
#include <algorithm>
#include <array>
#include <cmath>

#include "cost/kernel/kernel_model.h"

namespace orrery {
namespace {

struct Tile {
  double rows, columns;
};
constexpr std::array<Tile, 6> kTiles = {
    {{128, 256}, {256, 128}, {128, 128}, {64, 256}, {128, 64}, {64, 64}}};
constexpr double kMaxSplit = 16;
constexpr double kLeastDepth = 256;  // a shorter share of k saves nothing
constexpr double kLargestWidth = 2 * 128.0 * 256.0 / (128.0 + 256.0);
constexpr double kGranuleBytes = 16;

// Bytes of a result element: matrix units accumulate in fp32 and store 16 bits for narrow operands.
double result_bytes(NumberFormat format) {
  return std::max(2.0, format == NumberFormat::mxfp8 ? 2.0 : element_size(format).value());
}

// Elements per granule; block formats are loaded in whole scaled blocks of 16 or 32.
double granule(NumberFormat format) {
  if (format == NumberFormat::mxfp8 || format == NumberFormat::nvfp4) return 32;
  return kGranuleBytes / element_size(format).value();
}

}  // namespace

Seconds KernelModel::gemm(const GemmShape& shape, NumberFormat format) const {
  const FormatParameters& p = parameters_.format(format);
  if (!(shape.m > 0 && shape.n > 0 && shape.k > 0 && shape.groups > 0)) return Seconds(0);
  const double g = granule(format);
  const double n = std::ceil(shape.n / g) * g;
  const double k = std::ceil(shape.k / g) * g;
  const double units = parameters_.compute_units;
  const double operand = element_size(format).value();
  const double bandwidth = p.bandwidth.value();
  const double memory = shape.groups *
                        ((shape.m * k + k * n) * operand + shape.m * n * result_bytes(format)) /
                        bandwidth;
  const double largest = kLargestWidth / (kLargestWidth + p.tile_half_size);
  const double unit_rate = p.ceiling.value() / units / largest;

  double best = HUGE_VAL;
  for (const Tile& tile : kTiles) {
    const double width = 2 * tile.rows * tile.columns / (tile.rows + tile.columns);
    const double rate = unit_rate * width / (width + p.tile_half_size);
    const double tiles =
        shape.groups * std::ceil(shape.m / tile.rows) * std::ceil(n / tile.columns);
    const double per_depth = 2 * tile.rows * tile.columns / rate;
    const double least = std::min(k, kLeastDepth);
    const auto time = [&](double split) {
      const double x = tiles * split / units;
      const double waves = std::max(1.0, x + p.wave_rounding * (std::ceil(x) - x));
      const double partial = split > 1 ? shape.groups * shape.m * n * 8 * split / bandwidth : 0;
      return std::max(waves * per_depth * (std::max(k / split, least) + p.ramp_depth), memory) +
             partial;
    };
    best = std::min(best, time(1));
    for (double split = 2; split <= kMaxSplit && tiles * split <= units; split *= 2) {
      best = std::min(best, time(split));
    }
  }
  return p.floor + Seconds(best);
}

}  // namespace orrery
