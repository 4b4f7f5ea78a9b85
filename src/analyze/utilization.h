// The share of each millisecond in which at least one stream executed a kernel.
//
//   u(k) = |kernels within [start + k b, start + (k + 1) b)| / b        b = 1 ms by default
//
// The last bin covers only the rest of the window. Source: Lumos (arXiv 2504.09307), which calls
// this SM utilization.
//
// Where the grid sizes of launches are recorded, also how much of the device was used. This is an
// estimate from those sizes, not a hardware counter:
//
//   m(k) = 1/b * integral of min(1, sum over running kernels of min(1, blocks / multiprocessors))
//
// which is the share of multiprocessors that had a block to run. Source: the "estimated SM
// efficiency" of PyTorch's profiler, here over all time instead of the time of kernels. Not
// modelled: the last wave, blocks that share a multiprocessor while others have none. O(bins +
// kernels log kernels).
#pragma once

#include <cstdint>
#include <vector>

#include "timeline/intervals.h"
#include "trace/recorded_trace.h"

namespace orrery {

inline constexpr std::int64_t kUtilizationBinNs = 1'000'000;
// A longer window gets wider bins, so that memory stays bounded.
inline constexpr std::int64_t kMostUtilizationBins = 100'000;

struct Utilization {
  Interval window;
  std::int64_t bin_ns = kUtilizationBinNs;
  std::vector<double> busy = {};             // 0 to 1, a bin
  std::vector<double> multiprocessors = {};  // 0 to 1, a bin; empty: not recorded

  [[nodiscard]] double mean() const;  // of `busy`, over time
  [[nodiscard]] double mean_multiprocessors() const;
};

Utilization utilization(const Intervals& kernels, Interval window,
                        std::int64_t bin_ns = kUtilizationBinNs);

// The same, with the multiprocessors of the device if nine kernels of ten say how many blocks they
// have and the recording how many multiprocessors there are. Kernels without an occupancy do not
// count: recordings of AMD devices, whose grids are of threads in some calls and of blocks in
// others.
Utilization utilization(const RecordedTrace& trace, const Intervals& kernels, Interval window,
                        std::int64_t bin_ns = kUtilizationBinNs);

}  // namespace orrery
