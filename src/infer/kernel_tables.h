// Recorded kernels as the tables of measurements that `orrery calibrate` reads.
//
//   recorded-products.csv       accelerator, dtype, m, n, k, groups, latency_us, calls, ...
//   recorded-attention.csv      accelerator, dtype, direction, causal, batch, queries, keys, ...
//   recorded-memory-bound.csv   accelerator, op, bytes, kernels, latency_us, calls, ...
//   recorded-collectives.csv    accelerator, collective, dtype, num_gpus, bytes, latency_us, ...
//
// A row is a row of RecordedKernels; the time is the median over its calls. Only kernels that are
// measurements are in them: collectives whose waiting is not known are left out. A table without
// rows is not made. docs/trace-kernels.md has every column.
#pragma once

#include <string>
#include <vector>

#include "infer/recorded_kernels.h"

namespace orrery {

struct KernelTable {
  std::string file;  // "recorded-products.csv"
  std::size_t rows = 0;
  std::string text;
};

// `recorded_in` names the recording in every row: a file's name without its folder.
std::vector<KernelTable> kernel_tables(const RecordedKernels& recorded,
                                       const std::string& accelerator,
                                       const std::string& recorded_in);

}  // namespace orrery
