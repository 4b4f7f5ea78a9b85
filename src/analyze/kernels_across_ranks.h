// Kernels by name over all ranks. A kernel that takes longer on one rank than on the others points
// to a slow device, to uneven shapes, or (communication) to ranks that wait.
//
// Source: facebookresearch/HolisticTraceAnalysis f4d0062 (kernel duration distribution).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyze/kernel_table.h"

namespace orrery {

struct RunKernelRow {
  std::string name;
  WorkKind kind = WorkKind::none;
  std::int64_t ranks = 0;     // that ran it
  std::int64_t count = 0;     // over all ranks
  std::int64_t total_ns = 0;  // over all ranks
  // Of the ranks that ran it, those with the least and the greatest mean duration; the first of
  // equals. Places in the run.
  std::size_t fastest = 0;
  std::size_t slowest = 0;
  double least_mean_ns = 0;
  double greatest_mean_ns = 0;

  [[nodiscard]] double mean_ns() const {
    return count == 0 ? 0 : static_cast<double>(total_ns) / static_cast<double>(count);
  }
  // 1: all ranks take the same time.
  [[nodiscard]] double spread() const {
    return least_mean_ns > 0 ? greatest_mean_ns / least_mean_ns : 1;
  }
};

struct KernelsOfRank {
  const RecordedTrace* trace = nullptr;
  const std::vector<KernelRow>* rows = nullptr;
};

// Longest total first, then by name.
std::vector<RunKernelRow> kernels_across_ranks(const std::vector<KernelsOfRank>& ranks);

}  // namespace orrery
