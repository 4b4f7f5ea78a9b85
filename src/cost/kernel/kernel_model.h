// Time of one kernel on one accelerator.
//
//   gemm: tiles, waves and a roofline with achieved (not peak) ceilings
//   attention: FLOPs and pass structure by kernel generation
//   memory-bound: bytes over achieved bandwidth
//   all: a launch floor
//
// The parameters are few and physical, one set per accelerator and number format, stored in the
// catalog with source, fit data and error. A time is never below what peak FLOP/s and peak
// bandwidth allow, and is monotone in every size. Thread-safe, allocation-free.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "cost/kernel/kernel_parameters.h"
#include "units/number_format.h"
#include "units/quantity.h"

namespace orrery {

class KernelModel {
 public:
  static constexpr std::size_t kTiles = 9;  // shapes of tiles

  explicit KernelModel(KernelParameters parameters);

  // C[m,n] = A[m,k] B[k,n], at sustained clocks, as in a training step.
  [[nodiscard]] Seconds gemm(const GemmShape& shape, NumberFormat format) const;
  // C_g[m_g,n] = A_g[m_g,k] B_g[k,n] for groups of unequal rows in one launch; groups without rows
  // take no time. With equal rows the same as gemm().
  [[nodiscard]] Seconds grouped_gemm(std::span<const double> rows, double n, double k,
                                     NumberFormat format) const;
  [[nodiscard]] Seconds attention(const AttentionShape& shape, AttentionKernel kernel,
                                  Direction direction, NumberFormat format) const;
  // A kernel limited by the bytes it reads and writes.
  [[nodiscard]] Seconds memory_bound(Bytes moved) const;

  // Elements of a row that are loaded at once: 16 bytes; for block formats, whole scaled blocks.
  [[nodiscard]] static double granule(NumberFormat format);
  // FLOPs the attention kernel executes (masked blocks skipped by fused kernels).
  [[nodiscard]] static Flops attention_flops(const AttentionShape& shape, Direction direction,
                                             AttentionKernel kernel);
  [[nodiscard]] const KernelParameters& parameters() const { return parameters_; }

 private:
  KernelParameters parameters_;
  // Time of one processor's matrix units per element of k, by format and tile shape.
  std::array<std::array<double, kTiles>, kNumberFormats> tile_seconds_{};
};

}  // namespace orrery
