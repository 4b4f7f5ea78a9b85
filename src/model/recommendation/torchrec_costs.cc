#include "model/recommendation/torchrec_costs.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// torchrec/distributed/planner/constants.py, commit 64b37078.
constexpr double kGibibytesASecond = 1024.0 * 1024.0 * 1024.0 / 1000.0;
constexpr double kInNode = 600 * kGibibytesASecond;
constexpr double kAcrossNodes = 12.5 * kGibibytesASecond;
constexpr double kDeviceMemory = 897 * kGibibytesASecond;
constexpr double kHostMemory = 51 * kGibibytesASecond;
constexpr double kIndexBytes = 8;
constexpr double kNarrowest = 32;  // columns that a kernel reads at least
constexpr double kBackward = 2;
constexpr double kBatchedCopy = 2.455;
constexpr double kDenseKernels = 9.22;

double bandwidth(const TorchRecShard& s) {
  switch (s.kernel) {
    case TorchRecKernel::fused:
      return kDeviceMemory;
    case TorchRecKernel::dense:
      return 0.5 * kDeviceMemory;
    case TorchRecKernel::fused_uvm:
      return kHostMemory / 10;
    case TorchRecKernel::fused_uvm_caching:
      return (s.caching_ratio * kDeviceMemory + (1 - s.caching_ratio) * kHostMemory) / 10;
  }
  return kDeviceMemory;
}

double penalty(double columns) { return columns >= 128 ? 1 : columns >= 64 ? 1.15 : 1.75; }

TorchRecPerf replicated(const TorchRecShard& s) {
  const double look_ups = s.pooling * s.batch;
  const double vectors = s.pooled ? s.batch : look_ups;
  const double device = bandwidth(s);
  const double table = s.rows * s.columns * s.element_bytes;
  TorchRecPerf out;
  out.forward_compute =
      (std::ceil(look_ups * kIndexBytes) + (look_ups + vectors) * s.columns * s.element_bytes) /
      device;
  out.backward_compute = out.forward_compute * kBackward;
  const double nodes = std::min(s.ranks / s.ranks_of_node, 2.0);
  double reduced = table * (2 * nodes - 1) / nodes / (kAcrossNodes * s.ranks_of_node);
  if (s.ranks > 2 * s.ranks_of_node) reduced *= 2;
  out.backward_exchange = reduced + table * kDenseKernels / device;
  return out;
}

}  // namespace

TorchRecPerf torchrec_perf(const TorchRecShard& s) {
  if (s.sharding == TorchRecSharding::data_parallel) return replicated(s);
  const bool rows = s.sharding == TorchRecSharding::row_wise;
  const bool rows_of_node = s.sharding == TorchRecSharding::table_row_wise;
  const bool whole_rows = !rows && !rows_of_node;
  const double look_ups = s.pooling * s.batch /
                          (rows           ? s.ranks
                           : rows_of_node ? s.ranks_of_node
                                          : 1);
  const double vectors = s.pooled ? s.batch : look_ups;
  const double read = std::ceil(look_ups * s.ranks * kIndexBytes);
  const double looked_up = look_ups * s.ranks *
                           (whole_rows ? std::max(s.columns, kNarrowest) : s.columns) *
                           s.element_bytes;
  const double written = vectors * s.ranks * s.columns * s.exchanged_bytes;
  const double device = bandwidth(s);
  TorchRecPerf out;
  out.forward_compute =
      (read + looked_up + written) * (whole_rows ? penalty(s.columns) : 1) / device;
  const bool several_nodes = s.ranks > s.ranks_of_node;
  if (rows_of_node) {
    out.forward_exchange = written / kInNode;
    if (several_nodes) out.forward_exchange += written * (s.ranks_of_node / s.ranks) / kAcrossNodes;
  } else {
    out.forward_exchange = written / (several_nodes ? kAcrossNodes : kInNode);
  }
  out.backward_compute = out.forward_compute * kBackward;
  out.backward_exchange = out.forward_exchange + (whole_rows ? 0 : written * kBatchedCopy / device);
  return out;
}

}  // namespace orrery
