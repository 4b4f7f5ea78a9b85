#include "analyze/utilization.h"

#include <algorithm>

namespace orrery {
namespace {

double mean_of(const std::vector<double>& shares, Interval window, std::int64_t bin_ns) {
  double sum_ns = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const std::int64_t from = window.start + static_cast<std::int64_t>(i) * bin_ns;
    sum_ns += shares[i] * static_cast<double>(std::min(bin_ns, window.end - from));
  }
  return window.end > window.start ? sum_ns / static_cast<double>(window.end - window.start) : 0;
}

// A kernel starts (by > 0) or ends.
struct Change {
  std::int64_t at_ns = 0;
  double by = 0;
};

// Multiprocessors of the device of a lane; 0: not recorded.
std::int32_t multiprocessors_of(const RecordedTrace& trace, const Lane& lane) {
  if (lane.process < 0 || lane.process >= static_cast<std::int64_t>(trace.devices.size())) return 0;
  return trace.devices[static_cast<std::size_t>(lane.process)].multiprocessors;
}

// Empty where less than nine kernels of ten tell.
std::vector<Change> occupied(const RecordedTrace& trace) {
  std::vector<Change> changes;
  std::size_t kernels = 0;
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] != EventKind::kernel || trace.duration_ns[e] <= 0) continue;
    ++kernels;
    if (trace.details[e] == kNoDetails) continue;
    const KernelDetails& details = trace.kernels[trace.details[e]];
    if (details.achieved_occupancy < 0) continue;
    const auto& grid = details.grid;
    const double blocks = static_cast<double>(grid[0]) * grid[1] * grid[2];
    const std::int32_t all = multiprocessors_of(trace, trace.lanes[trace.lane[e]]);
    if (blocks <= 0 || all <= 0) continue;
    const double share = std::min(1.0, blocks / all);
    changes.push_back({trace.start_ns[e], share});
    changes.push_back({trace.end_ns(e), -share});
  }
  if (changes.size() / 2 * 10 < kernels * 9) return {};
  std::ranges::sort(changes, [](const Change& a, const Change& b) {
    return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.by < b.by;
  });
  return changes;
}

std::vector<double> shares_of(const std::vector<Change>& changes, const Utilization& bins) {
  std::vector<double> shares(bins.busy.size(), 0);
  double running = 0;
  std::int64_t since = bins.window.start;
  const auto book = [&](std::int64_t until) {
    const double share = std::clamp(running, 0.0, 1.0);
    while (since < until) {
      const auto bin = static_cast<std::size_t>((since - bins.window.start) / bins.bin_ns);
      const std::int64_t begin = bins.window.start + static_cast<std::int64_t>(bin) * bins.bin_ns;
      const std::int64_t end = std::min(begin + bins.bin_ns, bins.window.end);
      const std::int64_t to = std::min(until, end);
      shares[bin] += share * static_cast<double>(to - since) / static_cast<double>(end - begin);
      since = to;
    }
  };
  for (const Change& change : changes) {
    book(std::min(change.at_ns, bins.window.end));
    running += change.by;
    if (running < 1e-9) running = 0;
  }
  book(bins.window.end);
  for (double& share : shares) share = std::min(share, 1.0);
  return shares;
}

}  // namespace

double Utilization::mean() const { return mean_of(busy, window, bin_ns); }
double Utilization::mean_multiprocessors() const {
  return mean_of(multiprocessors, window, bin_ns);
}

Utilization utilization(const Intervals& kernels, Interval window, std::int64_t bin_ns) {
  const std::int64_t span = window.end - window.start;
  while (span / bin_ns >= kMostUtilizationBins) bin_ns *= 10;
  Utilization result = {.window = window, .bin_ns = bin_ns};
  std::size_t k = 0;
  for (std::int64_t from = window.start; from < window.end; from += bin_ns) {
    const std::int64_t to = std::min(window.end, from + bin_ns);
    std::int64_t busy = 0;
    while (k < kernels.size() && kernels[k].end <= from) ++k;
    for (std::size_t i = k; i < kernels.size() && kernels[i].start < to; ++i) {
      busy += std::min(to, kernels[i].end) - std::max(from, kernels[i].start);
    }
    result.busy.push_back(static_cast<double>(busy) / static_cast<double>(to - from));
  }
  return result;
}

Utilization utilization(const RecordedTrace& trace, const Intervals& kernels, Interval window,
                        std::int64_t bin_ns) {
  Utilization result = utilization(kernels, window, bin_ns);
  const std::vector<Change> changes = occupied(trace);
  if (!changes.empty()) result.multiprocessors = shares_of(changes, result);
  return result;
}

}  // namespace orrery
